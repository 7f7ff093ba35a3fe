"""Records the tool list for review: python -m tests.server.record_tool_list."""

import json
import tempfile
from pathlib import Path

from mkg.server.memory import INSTRUCTIONS
from tests.server.asking import FakeStore, server, wire_tools

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        tools = wire_tools(server(Path(home), lambda found: FakeStore()))
    text = json.dumps({"instructions": INSTRUCTIONS, "tools": tools}, indent=1)
    Path(__file__).with_name("tool_list.json").write_text(text + "\n", encoding="utf-8")
