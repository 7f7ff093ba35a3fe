"""`mkg forget` with small batches, so that a kill finds it in the middle: WORDS of the command."""

import sys

from mkg.cli import app
from mkg.features.forget import act

if __name__ == "__main__":
    act.BATCH = 20
    app(["forget", *sys.argv[1:]])
