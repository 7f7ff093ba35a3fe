"""`mkg forget`: planted on every path, found on every path, forgotten, and found on none."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mkg import lexical
from mkg.features import forget, learnings, timeline
from mkg.features.forget import places
from mkg.features.forget.select import Selector, Targets, forms
from mkg.features.gate import waiting
from mkg.features.learnings import receipts, retrieval
from mkg.features.timeline import episode
from mkg.server.memory import MemoryServer
from mkg_hooks.spool import Cursor, Spool
from tests.conftest import Live
from tests.features.test_forget import CANARY, FACT, OTHER, holding, learnings_told, whole
from tests.server.asking import Lent, good, server
from tests.support.embedding import minilm
from tests.support.learned import SHOP, put, say
from tests.support.requirement import requirement

Command = Callable[..., Result]
ASK = f"Where is {CANARY}, the staging host?"


@pytest.fixture
def command(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`mkg forget` on the test store, as a program runs it; no worker."""
    from mkg.cli import app
    from mkg.worker import client

    for name in ("MKG_HOME", "MKG_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    settings = live.settings(tmp_path / "MKG_HOME")
    monkeypatch.setenv("NEO4J_URI", str(settings.store.uri))
    monkeypatch.setenv("NEO4J_PASSWORD", live.server.password)
    monkeypatch.setattr(client, "start", lambda *a, **b: False)
    return lambda *words: CliRunner().invoke(app, ["forget", *words])


@pytest.fixture
def spool(live: Live, tmp_path: Path) -> Spool:
    return Spool(live.settings(tmp_path / "MKG_HOME").paths.spool_dir)


@pytest.fixture
def served(live: Live, tmp_path: Path) -> MemoryServer:
    own = live.settings(tmp_path / "m", user_id="ann")
    return server(tmp_path, lambda found: Lent(live.run), own=own)


def plant(live: Live) -> None:
    """The canary in every kind of thing that is kept."""
    say(live, FACT, session="s1", reply=f"Noted: {CANARY} it is.")
    put(live, f"Perhaps {CANARY} is slow on Mondays", origin="assistant_clean", session="s1")
    live.run.execute(
        "CYPHER 25\nMATCH (l:Learning {status: 'approved'})"
        " CREATE (l)-[:HAS_VERSION]->(:LearningVersion {id: 'v1', learning_id: l.id, text: $c})"
        " CREATE (:Verdict {id: 'w1', kind: 'wrong', note: $c, session_id: 's1'})-[:ABOUT]->(l)"
        " CREATE (:GateDecision {id: 'p1', to: 'proposed', by: 'agent', reason: $c, times: 1})"
        "-[:ABOUT]->(l)",
        {"c": CANARY},
    )
    fact = str(live.value("MATCH (l:Learning {status: 'approved'}) RETURN l.id"))
    learnings_told(live, fact, "s2", 60)
    say(live, OTHER, session="s2", second=70)
    for session in ("s1", "s2"):
        episode.record(live.run, minilm(), session_id=session)


def paths(live: Live, served: MemoryServer) -> dict[str, bool]:
    """Every way by which a text is read, and whether the canary comes by it."""
    owner = f"project:{SHOP}"
    run, query = live.run, retrieval.prepare(ASK, minilm())
    told = receipts.receipts(run, session_id="s2", limit=50)
    by_words = timeline.search(
        run, owner_key=owner, owner_token=lexical.owner_token(owner), terms=query.terms,
        words=query.terms, vector=query.vector, embedding_model=minilm().model,
        weights={"vector": 1.0, "after": [1.0] * 4, "before": [1.0] * 4,
                 "speaker": 1.0, "asking": 1.0},
        pool=20, limit=20,
    )  # fmt: skip
    ids = [str(r["id"]) for r in live.rows("MATCH (l:Learning) RETURN l.id AS id")]
    rows: dict[str, object] = {
        "recall at a prompt": retrieval.at_prompt(
            run, query, project_id=SHOP, session_id=None, excluded=[], limit=9
        ).hits,
        "search": retrieval.pull(
            run, query, owner_key=owner, statuses=["approved", "candidate"], limit=9
        ),
        "recent": learnings.recent(
            run, owner_key=owner, statuses=["approved", "candidate"], injectable_only=False,
            session_id=None, excluded=[], limit=9,
        ),
        "told": learnings.told(run, session_id="s2", limit=9),
        "log": [row.text for row in told],
        "why": [learnings.why(run, id=id) for id in ids],
        "queue": waiting(run, owner_key=owner, limit=9),
        "headlines": timeline.recent(run, project_id=SHOP, without_session=None, limit=9),
        "episodes by words": by_words,
        "digest": timeline.digest(run, session_id="s1"),
        "window": live.rows("MATCH (e:SessionEvent) RETURN e.prompt AS p"),
        "context tool": good(served, "project_get_context", {"project_id": SHOP, "query": ASK}),
        "episode_search": good(served, "episode_search", {"project_id": SHOP, "query": ASK}),
        "episode_fetch": good(served, "episode_fetch", {"project_id": SHOP}),
        "full text": [forget.indexed(run, lucene=f'"{CANARY}"').hits * CANARY],
        "every property": [place + CANARY for place in holding(live)],
        "vectors": live.rows(
            "MATCH (n) WHERE n.embedding IS NOT NULL AND n.terms CONTAINS $c RETURN n.terms AS t",
            c=CANARY,
        ),
    }  # fmt: skip
    # A tool repeats what it was asked.
    return {name: CANARY in str(row).replace(ASK, "").lower() for name, row in rows.items()}


@requirement("SEC-81", "SEC-89", "SEC-87", "MEM-W25")
def test_what_every_path_finds_no_path_finds_once_it_was_forgotten(
    live: Live, command: Command, served: MemoryServer, spool: Spool, tmp_path: Path
) -> None:
    plant(live)
    applied = spool.append({"v": 1, "kind": "event", "session_id": "s1", "prompt": FACT})
    spool.commit(Cursor(applied + 1))
    spool.append({"v": 1, "kind": "event", "session_id": "s9", "event_key": "k", "prompt": FACT})
    spool.append({"v": 1, "kind": "event", "session_id": "s9", "event_key": "o", "prompt": OTHER})
    spool.refuse(Cursor(1), {"prompt": FACT}, "no reason")
    before = paths(live, served)
    assert all(before.values()), before
    shown = command("--text", CANARY.upper(), "--json")
    plan = json.loads(shown.stdout)["plan"]
    assert shown.exit_code == 0 and plan["waiting_in_spool"] == 1
    counted = {k: plan[k] for k in ("events", "learnings", "versions", "verdicts", "deliveries")}
    assert counted == {"events": 2, "learnings": 2, "versions": 1, "verdicts": 1, "deliveries": 1}
    assert paths(live, served) == before
    assert command("--text", CANARY, "--verify").exit_code == 1
    done = command("--text", CANARY, "--yes", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["gone"] is True and told["done"]["events"] == 2
    after = paths(live, served)
    assert not any(after.values()), after
    in_files = [p for p in (tmp_path / "MKG_HOME").rglob("*") if p.is_file()]
    assert in_files and not [p for p in in_files if CANARY.encode() in p.read_bytes().lower()]
    assert [r.get("event_key") for r in spool.waiting()] == [None, "o"]
    verified = command("--text", CANARY, "--verify", "--json")
    assert verified.exit_code == 0 and json.loads(verified.stdout)["gone"] is True
    whole(live)


@requirement("SEC-87")
def test_a_receipt_holds_no_text_and_knows_by_hashes_whether_it_came_back(
    live: Live, command: Command
) -> None:
    plant(live)
    session = live.value("MATCH (s:Session {session_id: 's1'}) RETURN s.session_id")
    done = json.loads(command("--session", str(session), "--yes", "--json").stdout)
    receipt = Path(done["receipt"])
    text = receipt.read_text(encoding="utf-8")
    assert CANARY not in text and '"s1"' not in text and receipt.stat().st_mode & 0o077 == 0
    assert set(json.loads(text)["counts"]) == {
        *("events", "learnings", "weakened", "episodes", "sessions")
    }
    assert command("--verify", "--receipt", str(receipt)).exit_code == 0
    # As from an old backup: the same events, from before.
    say(live, FACT, session="s1")
    again = command("--verify", "--receipt", str(receipt), "--json")
    assert again.exit_code == 1 and json.loads(again.stdout)["selected"] == {"known": 1}
    receipt.write_text("{}", encoding="utf-8")
    assert command("--verify", "--receipt", str(receipt)).exit_code == 1


@requirement("SEC-81")
def test_without_yes_only_counts_are_shown_and_a_wish_names_one_thing(
    live: Live, command: Command
) -> None:
    plant(live)
    held = holding(live)
    said = command("--session", "s1")
    assert said.exit_code == 0 and "nothing was changed" in said.stdout
    assert "learnings" in said.stdout and CANARY not in said.output
    assert holding(live) == held
    assert "nothing of that is kept" in command("--session", "nobody").stdout
    for words in ((), ("--session", "s1", "--user", "ann"), ("--text", "abc", "--yes")):
        assert command(*words).exit_code == 1, words
    assert command("--session", "nobody", "--yes").exit_code == 1


@requirement("SEC-81")
def test_a_learning_is_forgotten_by_the_id_of_its_line_and_never_learned_again(
    live: Live, command: Command
) -> None:
    say(live, FACT, session="s1")
    episode.record(live.run, minilm(), session_id="s1")
    short = str(live.value("MATCH (l:Learning) RETURN l.short_id"))
    done = json.loads(command(short, "--yes", "--and-refuse", "--json").stdout)
    assert done["done"]["learnings"] == 1
    assert holding(live) == {}
    say(live, FACT, session="s2", second=60)
    assert live.value("MATCH (l:Learning) RETURN collect(l.status)") == ["rejected"]


@requirement("SEC-86")
def test_what_a_kill_left_is_finished_by_resume_without_the_text(
    live: Live, command: Command
) -> None:
    from mkg.features.forget import act
    from mkg.features.forget.select import select

    plant(live)
    selector = Selector("text", CANARY)
    act.begin(live.run, selector, select(live.run, selector), refuse="none")
    half = act.begin(live.run, selector, Targets(), refuse="none")
    live.run.execute(
        "CYPHER 25\nMATCH (f:Forgetting {id: $id}) SET f.state = 'marking'", {"id": half}
    )
    assert "finished an interrupted one" in command("--resume").stdout
    assert holding(live) == {}
    assert live.value("MATCH (f:Forgetting) RETURN collect(f.state)") == ["done"]


@requirement("SEC-86", "SEC-87")
def test_a_kill_between_the_last_batch_and_the_proof_is_made_good_by_the_same_command(
    live: Live, command: Command, spool: Spool
) -> None:
    from mkg.features.forget import act
    from mkg.features.forget.select import select

    plant(live)
    selector = Selector("text", CANARY)
    wish = act.begin(live.run, selector, select(live.run, selector), refuse="none")
    act.resume(live.run, minilm(), wish)
    spool.refuse(Cursor(1), {"prompt": FACT}, "no reason")
    done = command("--text", CANARY, "--yes", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["gone"] is True and told["done"]["events"] > 0
    assert told["records_in_files"] == 1 and Path(told["receipt"]).stem == wish
    assert command("--text", CANARY, "--yes").exit_code == 1


@requirement("SEC-81")
def test_two_at_once_are_refused(live: Live, command: Command, tmp_path: Path) -> None:
    import fcntl

    home = tmp_path / "MKG_HOME"
    home.mkdir(exist_ok=True)
    with (home / "forget.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = command("--session", "s1", "--yes")
    assert refused.exit_code == 1
    say(live, FACT, session="s1")
    assert command("--session", "s1", "--yes").exit_code == 0


@requirement("SEC-81")
def test_records_of_a_session_that_came_later_are_no_part_of_the_wish(spool: Spool) -> None:
    early = {"v": 1, "kind": "event", "session_id": "s1", "received_at": "2026-01-01T00:00:00Z"}
    spool.append({**early, "event_key": "a"})
    spool.append({**early, "event_key": "b", "session_id": "s2"})
    spool.append({**early, "event_key": "c", "session_id": "x", "agent_id": "s1"})
    spool.append({**early, "event_key": "d", "received_at": "2026-01-01T00:00:02Z"})
    targets = Targets(sessions=[forget.SessionPart("s1", 9)])
    is_meant = places.meant(Selector("session", "s1"), targets, "2026-01-01T00:00:01Z")
    assert places.waiting(Path(spool.folder), is_meant) == 2
    assert places.clean_spool(Path(spool.folder), is_meant, []) == 2
    assert [r.get("event_key") for r in spool.waiting()] == [None, "b", None, "d"]


@requirement("SEC-81")
def test_bytes_are_found_in_a_file_across_the_pieces_it_is_read_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "CHUNK", 16)
    for at in range(40):
        path = tmp_path / f"{at}.bin"
        path.write_bytes(os.urandom(0) + b"." * at + b"Zanzi" + b"." * 20)
        assert places.in_file(path, ["zanzi"]), at
    assert not places.in_file(path, ["zanzibar"]) and not places.in_file(path, [])
    assert not places.in_file(tmp_path / "none", ["zanzi"])


@requirement("SEC-81")
def test_a_text_is_looked_for_as_json_writes_it_too(live: Live) -> None:
    text = 'say "hi"\nto Zoë'
    assert forms(text) == [text.lower(), 'say \\"hi\\"\\nto zoë', 'say \\"hi\\"\\nto zo\\u00eb']
    say(live, f"Please run this: {json.dumps(text)}", session="s1")
    assert [f.kind for f in forget.holding(live.run, forms=forms(text))] == ["event"]


@requirement("SEC-81")
def test_backups_and_a_kept_log_are_named_by_path(live: Live, tmp_path: Path) -> None:
    paths_ = live.settings(tmp_path / "h").paths
    backup, lost = tmp_path / "b.dump", tmp_path / "gone.dump"
    backup.touch()
    for file in (backup, lost, backup):
        places.note_backup(paths_.home, file)
    (paths_.store_dir / "data").mkdir(parents=True)
    (paths_.store_dir / "torn").mkdir()
    (paths_.store_dir / "data" / "log.0").write_bytes(b"x" + CANARY.encode())
    paths_.log_dir.mkdir(parents=True)
    (paths_.log_dir / "mkg.log").write_text(f"line {CANARY}")
    found = places.copies(paths_, [CANARY], managed=True)
    assert found.backups == [str(backup)] and len(found.torn) == 1
    assert [Path(p).name for p in found.store] == ["log.0"]
    assert [Path(p).name for p in found.logs] == ["mkg.log"]
    assert places.copies(paths_, [CANARY], managed=False).store == []
