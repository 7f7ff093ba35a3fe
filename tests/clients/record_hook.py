"""The recording hook: record_hook.py EVENT appends one line to $RECORD_LOG and prints nothing."""

import json
import os
import sys

line = json.dumps({"event": sys.argv[1], "payload": json.loads(sys.stdin.buffer.read())}) + "\n"
descriptor = os.open(os.environ["RECORD_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(descriptor, line.encode())
