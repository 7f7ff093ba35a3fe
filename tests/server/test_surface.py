"""What clients see before they call anything: names, schemas, descriptions, hints, instructions."""

import copy
import json
from pathlib import Path

import anyio
import pytest
from mcp import Client

from mkg import __version__
from mkg.bundle.model import load_model
from mkg.server.memory import INSTRUCTIONS, TOOLS
from tests.server.asking import ERAS, FakeStore, good, server, wire_tools
from tests.server.house_rule import breaches
from tests.support.requirement import requirement

SNAPSHOT = Path(__file__).with_name("tool_list.json")


@pytest.fixture
def served(tmp_path):
    return server(tmp_path, lambda found: FakeStore())


@requirement("CL-38", "B23")
@pytest.mark.parametrize("era", ERAS)
def test_every_schema_on_the_wire_is_one_that_all_clients_accept(served, era):
    assert list(breaches(wire_tools(served, era))) == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("inputSchema", "anyOf"), [{"type": "object"}], "anyOf at the root"),
        (("inputSchema", "type"), "array", "the root is not an object"),
        (("inputSchema", "additionalProperties"), True, "an open object"),
        (("outputSchema", "$defs"), {}, "$defs"),
        (("outputSchema", "properties", "error", "type"), ["string", "null"], "a list of types"),
        (("inputSchema", "properties", "query", "description"), "", "not described"),
        (("inputSchema", "properties", "statuses", "items"), None, "an array without items"),
        (("inputSchema", "properties", "a b"), {"description": "x"}, "not a name that every"),
        (("inputSchema", "properties", "query", "$ref"), "#/x", "$ref"),
        (("outputSchema",), None, "missing"),
        (("name",), "Project-Context", "not a name that every client can carry"),
        (("description",), "x" * 2049, "longer than clients show"),
    ],
)
def test_a_schema_that_some_client_refuses_is_caught(served, path, value, told):
    tools = copy.deepcopy(wire_tools(served))
    target = tools[0]
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    assert any(told in line for line in breaches(tools))


@requirement("SEC-52")
def test_the_tool_list_is_the_recorded_one(served):
    """A changed word is a reviewed change: python -m tests.server.record_tool_list."""
    recorded = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert {"instructions": INSTRUCTIONS, "tools": wire_tools(served)} == recorded


@requirement("SEC-52")
def test_the_tool_list_does_not_depend_on_the_store(served, tmp_path):
    def nothing(found):
        raise AssertionError("listing must not connect")

    assert wire_tools(server(tmp_path, nothing)) == wire_tools(served)


@requirement("CL-32", "ENC-W84")
@pytest.mark.parametrize("era", ERAS)
def test_the_instructions_name_every_tool_and_fit_what_clients_show(served, era):
    async def go():
        async with Client(served, mode=era) as client:
            return client.instructions, client.server_info

    told, info = anyio.run(go)
    assert told == INSTRUCTIONS
    assert len(told.encode()) < 2048
    assert [tool.name for tool in TOOLS if tool.name not in told] == []
    assert (info.name, info.version) == ("meta-knowledge-graph", __version__)


def test_a_tool_is_called_read_only_exactly_when_all_its_queries_are():
    hints = {tool.name: tool.read_only for tool in TOOLS}
    assert hints == {
        "project_get_context": False,  # it counts what it handed out
        "project_add_learning": False,
        "project_explain_learning": True,
        "project_review_queue": True,
        "project_resolve_learning": False,
        "project_gate_audit": True,
        "episode_search": True,
        "episode_fetch": True,
        "neo4j_get_schema": True,
        "neo4j_read_cypher": True,
    }


def test_the_hints_on_the_wire_follow_the_queries(served):
    for tool, ours in zip(wire_tools(served), TOOLS, strict=True):
        assert tool["annotations"] == {
            "title": ours.title,
            "readOnlyHint": ours.read_only,
            "destructiveHint": False,
            "idempotentHint": ours.read_only,
            "openWorldHint": False,
        }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_runs_no_query_it_has_not_declared(tmp_path, tool):
    run = FakeStore()
    served = server(tmp_path, lambda found: run)
    arguments = {"project_id": "github.com/acme/shop", "query": "cache", "text": "Caches are warm"}
    arguments |= {"learning_id": "x", "action": "approve"}
    known = {name: arguments[name] for name in tool.asked.model_fields if name in arguments}
    from tests.server.asking import ask

    ask(served, tool.name, known)
    assert set(run.names()) - {"ops.migration_list"} <= set(tool.queries)


@requirement("B25")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["neo4j_get_schema", "project_get_context"])
def test_absent_null_and_empty_arguments_are_the_same(served, tool, era):
    absent = good(served, tool, era=era)
    assert good(served, tool, {}, era=era) == absent
    if tool == "project_get_context":
        empty = {"project_id": None, "query": "", "statuses": "", "limit": None}
        assert good(served, tool, empty, era=era) == absent


@requirement("MEM-T156")
def test_there_is_no_surface_for_decisions():
    assert [tool.name for tool in TOOLS if "decision" in tool.name] == []
    assert [label for label in load_model().labels if label == "Decision"] == []
