"""`python -m mkg`: the same as the console script."""

from mkg.cli import main

main()
