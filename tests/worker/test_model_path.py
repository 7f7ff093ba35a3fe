"""The whole path with a model, in real processes: hooks, worker, litellm, a scripted server."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mkg.features.learnings.write import Owner
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from mkg_hooks.on import learnings as on_learnings
from tests.clients.kit.stub_model import StubModel, text_of
from tests.conftest import Live
from tests.faults.test_path import Linked, made_user, stated
from tests.hooks.launching import wait_until
from tests.support.embedding import minilm
from tests.support.learned import SHOP
from tests.support.proxy import Proxy
from tests.support.requirement import requirement
from tests.support.windows import PORT, proposal, rules, scripted, session

KEY = "AKIA" + "Q3ZK7PLM2XW9RT5B"


@pytest.fixture
def person(live: Live, tmp_path: Path) -> Iterator[Linked]:
    parts = urlsplit(live.server.uri)
    link = Proxy(str(parts.hostname), int(parts.port or 7687))
    link.open()
    made = made_user(live, tmp_path, link)
    yield made
    made.mkg("worker", "stop", check=False)
    link.close()


def use_model(person: Linked, stub: StubModel, *lines: str) -> None:
    path = person.home / ".config" / "meta-knowledge-graph" / ".env"
    own = ["LLM_MODEL=openai/x", f"MKG_LLM_BASE_URL={stub.url}/v1", "MKG_LLM_NUM_RETRIES=0", *lines]
    path.write_text(path.read_text("utf-8") + "\n".join(own) + "\n", "utf-8")
    # Any command tells the hooks where the program is.
    person.mkg("config")


@requirement("MEM-W53", "SEC-76")
def test_what_was_said_is_read_by_the_model_behind_the_hooks_and_metered(
    live: Live, person: Linked
) -> None:
    with StubModel(rules(proposal())) as stub:
        use_model(person, stub)
        person.hook("SessionStart", session_id="m1", source="startup")
        person.drained()
        # Nothing was said, so nothing is asked.
        assert stub.entries == []
        stated(person, f"{PORT} The key is {KEY}.", "m1")
        person.drained()
        assert [e["rule"] for e in stub.entries] == ["extract", "episodes", "screen"]
        assert not any(KEY in text_of(b) for b in stub.bodies())
        assert "answer on 7001" in text_of(stub.bodies()[0])
        status = person.status()
        assert (status["jobs"], status["jobs_done"]) == (0, 1)
        told = person.mkg("cost")
        assert "extract openai/x" in told and "3 call(s)" in told
        before = len(stub.entries)
        person.drained()
        assert len(stub.entries) == before
    assert live.rows("MATCH (l:Learning) RETURN l.text AS text") == [{"text": proposal()["text"]}]


def test_a_slow_model_delays_neither_the_storing_nor_an_answer(live: Live, person: Linked) -> None:
    slow = [{"when": {"system": "worth noting"}, "then": {"delay": 4, "json": {"learnings": []}}}]
    with StubModel([*slow, *rules(episodes=[])]) as stub:
        use_model(person, stub)
        stated(person, "Remember that releases are cut from the trunk branch.", "m1")
        wait_until(lambda: stub.entries, seconds=60)
        person.hook("UserPromptSubmit", session_id="m2", prompt="Hello there.", prompt_id="p")
        events = "MATCH (e:SessionEvent {session_id: 'm2'}) RETURN count(e)"
        wait_until(lambda: live.value(events) == 1, seconds=20)
        # The model has still not answered.
        assert person.status()["jobs"] > 0
        person.drained()
    assert live.value("MATCH (l:Learning) RETURN l.text") == (
        "Releases are cut from the trunk branch."
    )


@requirement("MEM-T119")
def test_at_the_cap_rules_go_on_alone(live: Live, person: Linked) -> None:
    with StubModel(rules(proposal())) as stub:
        use_model(person, stub, "MKG_LLM_DAILY_TOKENS=100")
        stated(person, "Remember that releases are cut from the trunk branch.", "m1")
        person.drained()
        assert stub.entries == []
    (run,) = live.rows(
        "MATCH (p:ProjectProcessing) RETURN p.llm_status AS s, p.llm_skip_reason AS r"
    )
    assert run["s"] == "skipped" and "MKG_LLM_DAILY_TOKENS" in str(run["r"])
    assert live.value("MATCH (l:Learning) RETURN l.status") == "approved"


def test_what_a_worker_left_is_read_at_the_next_start(live: Live, tmp_path: Path) -> None:
    session(live, PORT)
    live.run.execute(
        "CYPHER 25\nMATCH (s:Session) SET s.last_event_at = datetime(), s.project_id = $p, "
        "s.user_id = 'ann'",
        {"p": SHOP},
    )
    with scripted(tmp_path, rules(proposal())) as (stub, model):
        asked: list[str] = []

        def later(key: str, work: object) -> None:
            asked.append(key)
            work()  # type: ignore[operator]

        deps = Deps(live.run, minilm(), live.settings(tmp_path), model=model, later=later)
        marks: dict[str, str] = {}
        dispatch.mend(deps, marks)
        dispatch.mend(deps, marks)
        assert asked == ["window:s1"]
        assert live.value("MATCH (l:Learning) RETURN count(l)") == 1
        dispatch.mend(deps, {})
        assert asked == ["window:s1"]
        assert len([e for e in stub.entries if e["rule"] == "extract"]) == 1
    # Without a model there is nothing that a stop would have left.
    session(live, PORT, name="s2", start=50)
    live.run.execute(
        "CYPHER 25\nMATCH (s:Session {session_id: 's2'}) SET s.last_event_at = datetime()"
    )
    dispatch.mend(Deps(live.run, minilm(), live.settings(tmp_path), later=later), {})
    assert asked == ["window:s1"]


def test_without_a_graph_a_window_waits(tmp_path: Path, live: Live) -> None:
    with scripted(tmp_path, rules(proposal())) as (stub, model):
        deps = Deps(None, None, live.settings(tmp_path), model=model)
        on_learnings.read(deps, "s1", Owner(SHOP, "ann"), "claude")
        on_learnings.left_over(deps)
        assert stub.entries == []
