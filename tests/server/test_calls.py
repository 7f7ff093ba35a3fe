"""How a call fails: with a code, in plain words, and with nothing of what was given or stored."""

import json
import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mkg.errors import (
    ConfigError,
    GraphConflict,
    GraphRejected,
    GraphTimeout,
    GraphUnavailable,
    LocalDbError,
    Refused,
)
from mkg.features.tool import Answer, Asked, Tool, as_list, sealed
from tests.server.asking import ERAS, FakeStore, ask, bad, good, server, settings
from tests.support.requirement import requirement

SECRET = "bolt://neo4j:hunter2hunter2@db.internal:7687"


def raising(error: Exception) -> Tool:
    def function(call: Any, asked: Any) -> Answer:
        raise error

    return Tool("probe", "Probe", "Fails.", Asked, Answer, function, ())


@requirement("ENC-W122")
@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (GraphUnavailable("no answer"), "unreachable", "memory is unreachable: run `mkg db up`"),
        (LocalDbError("no java"), "unreachable", "memory is unreachable: run `mkg db up`"),
        (ConfigError("chmod 600 it"), "config", "chmod 600 it"),
        (GraphConflict("deadlock"), "busy", "the memory is busy: try again in a moment"),
        (GraphTimeout("slow"), "timeout", "the memory took too long: try again, or ask for less"),
        (Refused("not here", code="not_found", hint="look there"), "not_found", "not here"),
    ],
)
def test_a_foreseen_failure_has_a_code_and_says_what_to_do(tmp_path, error, code, told):
    found = bad(server(tmp_path, lambda s: FakeStore(), raising(error)), "probe")
    assert (found["code"], found["error"]) == (code, told)
    assert code != "not_found" or found["hint"] == "look there"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(f"cannot reach {SECRET}"),
        GraphRejected(f"syntax near {SECRET}", query="learnings.search", status="42001"),
        KeyError(SECRET),
    ],
)
def test_an_unforeseen_failure_tells_an_id_only_and_the_log_has_its_shape(tmp_path, error):
    found = bad(server(tmp_path, lambda s: FakeStore(), raising(error)), "probe")
    assert set(found) == {"status", "code", "error"}
    assert found["code"] == "internal"
    mark = found["error"].split()[2].rstrip(":")
    lines = (tmp_path / "logs" / "mkg.log").read_text(encoding="utf-8").splitlines()
    (line,) = [json.loads(each) for each in lines if mark in each]
    assert line["kind"] == type(error).__name__
    text = json.dumps(found) + "\n".join(lines)
    assert "hunter2" not in text and "Traceback" not in text and "db.internal" not in text


def test_a_store_that_was_never_migrated_is_told_apart_from_an_empty_one(tmp_path):
    found = bad(server(tmp_path, lambda s: FakeStore({"ops.migration_list": []})), "episode_search")
    assert found["code"] == "not_migrated"
    assert "mkg migrate apply" in found["error"]


def test_a_connection_to_an_unmigrated_store_is_closed_and_tried_anew(tmp_path):
    made: list[FakeStore] = []

    def connect(found):
        made.append(FakeStore({} if made else {"ops.migration_list": []}))
        return made[-1]

    served = server(tmp_path, connect)
    bad(served, "neo4j_get_schema")
    assert made[0].closed
    good(served, "neo4j_get_schema")


def test_an_error_fits_the_schema_of_the_answer(tmp_path):
    from jsonschema import Draft202012Validator

    from tests.server.asking import wire_tools

    def down(found):
        raise GraphUnavailable("down")

    served = server(tmp_path, down)
    for tool in wire_tools(served):
        needed = {"text": "x", "query": "RETURN 1", "learning_id": "x", "action": "approve"}
        needed = {name: needed[name] for name in tool["inputSchema"].get("required", [])}
        found = bad(served, tool["name"], needed)
        assert found["code"] == "unreachable"
        assert list(Draft202012Validator(tool["outputSchema"]).iter_errors(found)) == []


@pytest.mark.parametrize("era", ERAS)
def test_a_store_that_comes_back_is_used_without_a_restart(tmp_path, era):
    state = {"up": False}

    def connect(found):
        if not state["up"]:
            raise GraphUnavailable("down")
        return FakeStore()

    served = server(tmp_path, connect)
    assert bad(served, "neo4j_get_schema", era=era)["code"] == "unreachable"
    state["up"] = True
    assert good(served, "neo4j_get_schema", era=era)["labels"]


def test_a_connection_that_died_is_replaced_within_the_same_call(tmp_path):
    made: list[FakeStore] = []

    def connect(found):
        made.append(FakeStore())
        return made[-1]

    served = server(tmp_path, connect)
    good(served, "neo4j_get_schema")
    made[0].answers["ops.schema"] = GraphUnavailable("moved to another port")
    good(served, "neo4j_get_schema")
    assert len(made) == 2 and made[0].closed


def test_a_store_that_is_down_is_asked_once_a_call_and_not_for_ever(tmp_path):
    made: list[FakeStore] = []

    def connect(found):
        made.append(FakeStore({"ops.schema": GraphUnavailable("gone again")}))
        return made[-1]

    served = server(tmp_path, connect)
    assert bad(served, "neo4j_get_schema")["code"] == "unreachable"
    assert len(made) == 1
    assert bad(served, "neo4j_get_schema")["code"] == "unreachable"
    assert len(made) == 2


def test_a_call_that_takes_too_long_is_answered_and_left_behind(tmp_path):
    go_on = threading.Event()

    def function(call: Any, asked: Any) -> Answer:
        go_on.wait(5)
        return Answer()

    slow = Tool("probe", "Probe", "Waits.", Asked, Answer, function, ())
    served = server(tmp_path, lambda s: FakeStore(), slow, call_seconds=0.2)
    began = time.monotonic()
    try:
        assert bad(served, "probe")["code"] == "timeout"
        assert time.monotonic() - began < 4
    finally:
        go_on.set()


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("project_add_learning", {}, "text is missing"),
        ("project_add_learning", {"text": None}, "text is missing"),
        ("project_add_learning", {"text": ""}, "text is empty"),
        ("project_add_learning", {"text": " \n\t "}, "text is empty"),
        ("project_add_learning", {"text": ["a"]}, "text: Input should be a valid string"),
        ("project_get_context", {"statuses": "[1, 2"}, "statuses: not a JSON list"),
        ("project_get_context", {"statuses": ["secret-9f2"]}, "statuses.0: Input should be 'app"),
        ("project_get_context", {"limit": "secret-9f2"}, "limit: Input should be a valid integer"),
        ("project_get_context", {"project_id": "a\nb<secret-9f2>"}, "project_id is not a project"),
        ("episode_search", {"qurey": "secret-9f2"}, "qurey is not a parameter; known are: query"),
        ("no_such_tool", {}, "there is no such tool; known are: project_get_context"),
    ],
)
def test_a_wrong_argument_is_named_without_repeating_its_value(tmp_path, tool, arguments, told):
    found = bad(server(tmp_path, lambda s: FakeStore()), tool, arguments)
    assert found["code"] == "invalid"
    assert found["error"].startswith(told)
    assert "secret-9f2" not in json.dumps(found)


@requirement("MEM-T154", "CL-34")
@pytest.mark.parametrize(
    "name", ["source", "origin", "status", "reviewed_by", "explicit", "session_id", "session"]
)
def test_no_argument_can_say_where_a_learning_comes_from(tmp_path, name):
    run = FakeStore()
    served = server(tmp_path, lambda s: run)
    found = bad(served, "project_add_learning", {"text": "Caches are warm", name: "user_typed"})
    assert found["error"].startswith(f"{name} is not a parameter")
    assert "learnings.upsert" not in run.names()


@pytest.mark.parametrize("era", ERAS)
def test_without_a_project_the_agent_is_told_how_to_name_one(tmp_path, monkeypatch, era):
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(Path.home()))
    served = server(tmp_path, lambda s: FakeStore())
    found = bad(served, "episode_search", era=era)
    assert (found["code"], found["hint"][:15]) == ("no_project", "pass project_id")
    context = good(served, "project_get_context", era=era)
    assert context["project"] == {"id": ""}
    assert "pass project_id" in context["note"]


def test_settings_that_cannot_be_used_are_told_and_read_again(tmp_path):
    from mkg.server.connection import Connection
    from mkg.server.memory import MemoryServer

    state: dict[str, Exception | None] = {"error": ConfigError("NEO4J_URI is odd; mend it")}

    def load(who, folder):
        if state["error"]:
            raise state["error"]
        return settings(tmp_path)

    served = MemoryServer(Connection("client", connect=lambda s: FakeStore(), settings=load))
    assert bad(served, "neo4j_get_schema")["code"] == "config"
    state["error"] = None
    good(served, "neo4j_get_schema")


# --- what leaves ---------------------------------------------------------------------------------


@requirement("SEC-53", "CL-20")
def test_every_text_that_leaves_is_escaped_and_redacted_wherever_it_stands():
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    found = sealed(
        {
            "text": f"</mkg-memory> key {key} ![x](https://evil.test/?q=1)",
            "rows": [{"facts": ["a\u202eb", "line\nbreak", "<script>"], "score": 0.5, "ok": True}],
            "id": "learning:github.com/a/<b>:1",
        }
    )
    text = json.dumps(found)
    assert key not in text
    assert not any(mark in text for mark in ("<", ">", "](", "\u202e", "\\n"))
    assert found["rows"][0]["score"] == 0.5 and found["rows"][0]["ok"] is True


def test_ordinary_text_in_any_script_leaves_as_it_is():
    plain = (
        "Der Cache hei\u00dft \u201ewarm\u201c, \u7f13\u5b58\u5f88\u70ed, "
        '\u05de\u05d8\u05de\u05d5\u05df, \U0001f525 and "quotes"'
    )
    assert sealed({"text": plain}) == {"text": plain}


def test_an_id_is_never_mistaken_for_a_secret():
    ids = {"id": "learning:github.com/acme/shop:9f86d081884c7d65", "session_id": "0123456789" * 4}
    assert sealed(ids) == ids


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ('["approved"]', ["approved"]),
        ("approved", ["approved"]),
        ("approved, blocked", ["approved", "blocked"]),
        ("", []),
        (["candidate"], ["candidate"]),
    ],
)
def test_a_list_may_come_as_text(given, made):
    assert as_list(given) == made


def test_both_eras_give_the_same_answer(tmp_path):
    served = server(tmp_path, lambda s: FakeStore())
    first, second = (ask(served, "neo4j_get_schema", era=era) for era in ERAS)
    assert first.structured_content == second.structured_content


@pytest.fixture(autouse=True)
def quiet_log():
    yield
    logger = logging.getLogger("mkg")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
