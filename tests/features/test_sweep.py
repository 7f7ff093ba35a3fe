"""The sweep over what is stored: masked in place, on record, searchable by the new words."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mkg.bundle import Runner
from mkg.bundle.model import load_model
from mkg.features import ops
from mkg.features.learnings.value_key import value_key
from mkg.features.timeline import episode
from mkg_hooks.spool import Cursor, Spool
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.learned import say
from tests.support.recipes import expand
from tests.support.requirement import requirement

SUPPORT = Path(__file__).parents[1] / "support"
GRAPH = Path(__file__).parents[1] / "graph.cypher"
TOKEN = expand("ghp_{AN36}", 11)
PLACE = "PLACEHOLDERX"
MASKED = "[REDACTED:github-pat]"
Scan = Callable[..., Result]


def planted(live: Live, place: str = PLACE) -> None:
    """Put the token where the rules of an older release would have left it."""
    text = (SUPPORT / "plant_secret.cypher").read_text(encoding="utf-8")
    (found,) = live.run.execute(
        f"CYPHER 25\n{text}", {"place": place, "token": TOKEN}, mode="write"
    ).rows
    assert found["planted"]


def holding(live: Live) -> dict[str, int]:
    text = (SUPPORT / "find_canary.cypher").read_text(encoding="utf-8")
    return {str(r["place"]): int(str(r["hits"])) for r in live.rows(text, canary=TOKEN)}


@pytest.fixture
def before(live: Live) -> Live:
    """A store with a token in an event, an episode, a learning and the quote it rests on."""
    say(live, f"Remember that the deploy key of staging is called {PLACE} by the platform team.")
    episode.record(live.run, minilm(), session_id="s1")
    planted(live)
    assert set(holding(live)) == {"SessionEvent", "Episode", "Learning", "EVIDENCED_BY"}
    return live


@pytest.fixture
def scan(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scan:
    """`mkg scan-secrets` on the test store, as a program runs it."""
    from mkg.cli import app

    for name in ("MKG_HOME", "MKG_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    settings = live.settings(tmp_path / "MKG_HOME")
    monkeypatch.setenv("NEO4J_URI", str(settings.store.uri))
    monkeypatch.setenv("NEO4J_PASSWORD", live.server.password)
    return lambda *words: CliRunner().invoke(app, ["scan-secrets", *words])


@requirement("SEC-77")
def test_a_dry_run_counts_by_kind_and_rule_shows_no_value_and_changes_nothing(
    before: Live, scan: Scan
) -> None:
    held = holding(before)
    told = scan("--json")
    report = json.loads(told.stdout)
    assert set(report["found"]) == {"event", "episode", "learning"}
    assert all(set(rules) == {"github-pat"} for rules in report["found"].values())
    assert report["redacted"] is False and TOKEN not in told.output
    said = scan()
    assert "mkg scan-secrets --yes" in said.stdout and TOKEN not in said.output
    assert holding(before) == held


@requirement("SEC-77", "SEC-78")
def test_yes_masks_in_place_puts_it_on_record_and_leaves_nothing_for_the_next_run(
    before: Live, scan: Scan
) -> None:
    counted = json.loads(scan("--json").stdout)["found"]
    told = scan("--yes", "--json")
    assert json.loads(told.stdout)["redacted"] is True
    assert holding(before) == {}
    learned = before.rows(
        "MATCH (l:Learning) RETURN l.text AS text, l.owner_key AS owner, l.value_key AS key,"
        " l.terms AS terms, l.embedding AS vector, l.embedding_model AS model"
    )[0]
    assert MASKED in str(learned["text"])
    assert learned["key"] == value_key(str(learned["owner"]), str(learned["text"]))
    assert TOKEN.lower() not in str(learned["terms"])
    vector = minilm().embed([str(learned["text"])])[0]
    assert learned["vector"] == pytest.approx(vector, abs=1e-6)
    assert before.value("MATCH ()-[q:EVIDENCED_BY]->() RETURN q.quote CONTAINS '[REDACTED:'")
    audit = before.rows(
        "MATCH (d:GateDecision {by: 'scan-secrets'}) RETURN d.category AS kind, d.rule AS rule,"
        " d.times AS times"
    )
    assert {str(a["kind"]): {str(a["rule"]): a["times"]} for a in audit} == counted
    again = json.loads(scan("--json").stdout)
    assert again["found"] == {} and again["scanned"]["event"] >= 2


@pytest.fixture
def sown(live: Live) -> Iterator[Live]:
    """One of each noun of the model, named 'x'; a wipe leaves those of migrations."""
    live.run.execute("CYPHER 25\n" + GRAPH.read_text(encoding="utf-8"))
    yield live
    live.run.execute(
        "CYPHER 25\nMATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'MkgMigration'"
        " OR label = 'MkgRepeatable') AND 'x' IN [n.id, n.name] DETACH DELETE n"
    )


@requirement("SEC-77")
def test_every_text_of_every_noun_of_the_model_is_read_and_masked(sown: Live, scan: Scan) -> None:
    """Where a text can stand is told by the model, so the next noun is swept without a change."""
    live, model, wanted = sown, load_model(), set[str]()
    for label in model.labels.values():
        for name in model.texts(label.name):
            list_ = label.properties[name] != "STRING"
            match = f"MATCH (n:{label.name}) WHERE n.{label.key} = 'x'"
            plant_one(live, match, name, f"{label.name}.{name}", list_=list_)
            wanted.add(label.name)
        for type_, names in model.link_texts(label.name).items():
            for name in names:
                plant_one(live, f"MATCH (:{label.name})-[n:{type_}]->()", name, f"{type_}.{name}")
            wanted.add(type_)
    assert {"LearningVersion", "Verdict", "GateDecision", "Project", "ENDED"} <= wanted
    assert set(holding(live)) == wanted
    found = json.loads(scan("--json").stdout)["found"]
    assert found["gate_decision"]["github-pat"] > 1 and found["verdict"] == {"github-pat": 1}
    assert scan("--yes", "--json").exit_code == 0
    assert holding(live) == {}
    assert json.loads(scan("--json").stdout)["found"] == {}


def plant_one(live: Live, match: str, name: str, place: str, *, list_: bool = False) -> None:
    value = f"the key {TOKEN} of {place}"
    live.run.execute(
        f"CYPHER 25\n{match} SET n.`{name}` = $value", {"value": [value] if list_ else value}
    )


@requirement("SEC-77")
def test_what_is_said_to_be_no_text_is_a_text_of_the_model() -> None:
    model = load_model()
    assert model.machine <= model.properties
    for label in model.labels:
        assert model.labels[label].key not in model.texts(label)


@requirement("SEC-77")
def test_a_text_that_was_edited_since_it_was_read_is_left_for_the_next_sweep(
    before: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, edited = ops.redact_texts, list[str]()

    def late(run: Runner, *, label: str, rows: list[dict[str, Any]]) -> ops.Written:
        if label == "Learning":
            edited.append("x")
            before.run.execute("CYPHER 25\nMATCH (l:Learning) SET l.text = 'edited by a person'")
        return real(run, label=label, rows=rows)

    monkeypatch.setattr(ops, "redact_texts", late)
    key = before.value("MATCH (l:Learning) RETURN l.value_key")
    ops.sweep(before.run, None, [], write=True, report=ops.Report())
    assert edited == ["x"]
    assert before.value("MATCH (l:Learning) RETURN l.text") == "edited by a person"
    assert before.value("MATCH (l:Learning) RETURN l.value_key") == key


@requirement("SEC-77")
def test_two_learnings_that_become_equal_are_both_kept(before: Live, scan: Scan) -> None:
    other = PLACE + "Y"
    say(
        before,
        f"Remember that the deploy key of staging is called {other} by the platform team.",
        session="s2",
        second=60,
    )
    planted(before, other)
    assert before.value("MATCH (l:Learning) RETURN count(l)") == 2
    before.run.execute(
        "CYPHER 25\nMATCH (l:Learning) SET l.text = replace(l.text, $a, $b)",
        {"a": TOKEN + "Y", "b": TOKEN},
        mode="write",
    )
    assert scan("--yes", "--json").exit_code == 0
    keys = before.rows("MATCH (l:Learning) RETURN l.value_key AS key, l.text AS text ORDER BY key")
    assert len({str(k["text"]) for k in keys}) == 1
    assert str(keys[1]["key"]).startswith(f"{keys[0]['key']}~")


@requirement("SEC-77")
def test_more_rows_than_a_page_are_all_read(
    live: Live, scan: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        say(live, f"note {number} {PLACE}", session=f"s{number}", second=number * 10)
    planted(live)
    monkeypatch.setattr(ops, "PAGE", 3)
    report = json.loads(scan("--yes", "--json").stdout)
    assert report["scanned"]["event"] == 10 and report["touched"]["event"] == 5
    assert holding(live) == {}


@requirement("SEC-77")
def test_records_that_wait_and_those_put_aside_are_masked_in_their_files(
    live: Live, scan: Scan, tmp_path: Path
) -> None:
    settings = live.settings(tmp_path / "MKG_HOME")
    spool = Spool(settings.paths.spool_dir)
    seq = spool.append({"v": 1, "kind": "event", "prompt": f"old {TOKEN}"})
    spool.refuse(Cursor(seq), {"prompt": f"refused {TOKEN}"}, "no reason")
    report = json.loads(scan("--json").stdout)
    assert report["found"] == {"spool": {"github-pat": 1}, "quarantine": {"github-pat": 1}}
    assert report["waiting_in_spool"] == 1
    assert [record["prompt"] for record in spool.waiting()] == [f"old {TOKEN}"]
    done = json.loads(scan("--yes", "--json").stdout)
    assert done["found"] == report["found"] and done["waiting_in_spool"] == 0
    (aside,) = Path(spool.aside).iterdir()
    assert json.loads(aside.read_text())["record"] == {"prompt": f"refused {MASKED}"}
    assert [record["prompt"] for record in spool.waiting()] == [f"old {MASKED}"]
    assert json.loads(scan("--json").stdout)["found"] == {}
