"""The episode tools and the schema tool on a real server."""

import json

import pytest

from mkg.bundle.model import load_model
from mkg.features.timeline import episode
from mkg.server.memory import MemoryServer
from tests.conftest import Live
from tests.server.asking import ERAS, FakeStore, Lent, bad, good, server
from tests.support.learned import SHOP, put, say
from tests.support.requirement import requirement


@pytest.fixture
def served(live: Live, tmp_path) -> MemoryServer:
    own = live.settings(tmp_path / "m", user_id="ann")
    return server(tmp_path, lambda found: Lent(live.run), own=own)


@pytest.fixture
def three(live: Live) -> list[str]:
    """Three sessions, oldest first; the second was pasted."""
    prompts = (
        "Make the checkout faster",
        "Pasted: rename the invoices",
        "Fix the flaky login test",
    )
    ids = []
    for number, prompt in enumerate(prompts):
        origin = "user_pasted" if number == 1 else "user_typed"
        say(
            live,
            prompt,
            session=f"s{number}",
            second=number * 100,
            origin=origin,
            reply=f"Done with part {number}.",
        )
        made = episode.record(live.run, None, session_id=f"s{number}")
        assert made is not None
        ids.append(made.id)
    return ids


def fetch(served: MemoryServer, **arguments: object) -> dict:
    return good(served, "episode_fetch", {"project_id": SHOP, **arguments})


def search(served: MemoryServer, query: str, **arguments: object) -> dict:
    return good(served, "episode_search", {"project_id": SHOP, "query": query, **arguments})


@pytest.mark.parametrize("era", ERAS)
def test_the_latest_episodes_are_listed_with_their_number(served, three, era):
    found = good(served, "episode_fetch", {"project_id": SHOP, "limit": 2}, era=era)
    assert [row["id"] for row in found["episodes"]] == [three[2], three[1]]
    assert (found["mode"], found["count"], found["total"]) == ("latest", 2, 3)
    assert found["project_id"] == SHOP
    assert f"before={three[1]}" in found["next"]
    assert [row.get("unscreened", False) for row in found["episodes"]] == [False, True]


@requirement("ENC-W121")
def test_paging_back_neither_skips_nor_repeats(served, three):
    first = fetch(served, limit=1)
    second = fetch(served, limit=1, before=first["episodes"][0]["id"])
    third = fetch(served, limit=5, before=second["episodes"][0]["id"])
    seen = [row["id"] for found in (first, second, third) for row in found["episodes"]]
    assert seen == three[::-1]
    assert (third["mode"], third["next"]) == ("before", "nothing older is recorded")


def test_one_episode_is_read_in_full_with_its_neighbours_and_what_came_of_it(live, served, three):
    put(live, "Login tests need a fresh cookie jar", session="s2")
    put(live, "Perhaps the login page is cached", session="s2", origin="assistant_clean")
    found = fetch(served, episode_id=three[2])
    assert (found["id"], found["session_id"], found["prev_id"]) == (three[2], "s2", three[1])
    assert found["next_id"] is None
    assert found["title"] == "Fix the flaky login test"
    produced = {row["text"]: row.get("unverified", False) for row in found["produced_learnings"]}
    assert produced == {
        "Login tests need a fresh cookie jar": False,
        "Perhaps the login page is cached": True,
    }
    assert "unscreened" not in found
    assert fetch(served, episode_id=three[1])["unscreened"] is True


@pytest.mark.parametrize("argument", ["episode_id", "before"])
@pytest.mark.parametrize("id", ["observation:nothing:0:0", "'] RETURN 1 //", "\u6570\u636e"])
def test_an_unknown_id_is_an_error_with_a_hint(served, three, argument, id):
    found = bad(served, "episode_fetch", {"project_id": SHOP, argument: id})
    assert found["code"] == "not_found"
    assert "episode_search" in found["hint"]
    assert id not in json.dumps(found, ensure_ascii=False)


@requirement("SEC-90")
def test_an_episode_of_another_project_is_not_found(served, three):
    found = bad(served, "episode_fetch", {"project_id": "host/acme/x", "episode_id": three[0]})
    assert found["code"] == "not_found"


@pytest.mark.parametrize(("asked", "used"), [(-1, 1), (0, 1), (20, 20), (21, 20)])
def test_the_limit_of_a_list_is_clamped(tmp_path, asked, used):
    run = FakeStore({"timeline.count_episodes": [{"total": 0}]})
    good(server(tmp_path, lambda s: run), "episode_fetch", {"project_id": SHOP, "limit": asked})
    assert dict(run.calls)["timeline.recent"]["limit"] == used


@pytest.mark.parametrize("era", ERAS)
def test_a_search_finds_the_session_and_never_gives_its_body(served, three, era):
    found = good(served, "episode_search", {"project_id": SHOP, "query": "flaky login"}, era=era)
    first = found["episodes"][0]
    assert (first["id"], first["sources"]) == (three[2], ["text"])
    assert first["score"] > 0 and len(first["snippet"]) <= 160
    assert not {"facts", "narrative"} & set(first)
    assert "degraded" in found and found["count"] == len(found["episodes"])


def test_an_episode_that_no_screen_passed_is_marked_on_every_path(served, three):
    (hit, *_) = search(served, "rename the invoices")["episodes"]
    assert (hit["id"], hit["unscreened"]) == (three[1], True)
    recent = {row["id"]: row.get("unscreened", False) for row in search(served, "")["episodes"]}
    assert recent == {three[0]: False, three[1]: True, three[2]: False}


def test_a_query_that_finds_nothing_falls_back_to_the_newest(served, three):
    found = search(served, "zzzz qqqq", limit=1)
    assert [(row["id"], row["score"], row["sources"]) for row in found["episodes"]] == [
        (three[2], 0, [])
    ]


@pytest.mark.parametrize(
    "query",
    ["AND OR NOT", "text:*^5 \\", '"', "\U0001f680", "\u767b\u5f55", "\u05dc\u05d5\u05d2"],
)
def test_a_hostile_or_foreign_query_is_a_query_and_no_error(served, three, query):
    assert search(served, query)["count"] == 3


@requirement("B33")
def test_a_project_without_sessions_gives_empty_answers(served):
    assert search(served, "anything")["episodes"] == []
    found = fetch(served)
    assert (found["episodes"], found["total"]) == ([], 0)


@pytest.mark.parametrize("era", ERAS)
def test_the_schema_lists_the_model_with_present_counts(live, served, three, era):
    found = good(served, "neo4j_get_schema", era=era)
    model = load_model()
    labels = {row["label"]: row for row in found["labels"]}
    assert set(labels) == set(model.labels)
    assert (labels["Episode"]["count"], labels["Learning"]["count"]) == (3, 0)
    names = {each["name"]: each["type"] for each in labels["Session"]["properties"]}
    assert names == model.labels["Session"].properties
    types = {row["type"]: row for row in found["relationships"]}
    assert types["LATEST_OBSERVATION"]["count"] == 1
    assert types["HAS_EVENT"]["ends"] == [
        {"from_label": "Session", "to_label": "SessionEvent", "properties": []}
    ]


def test_the_schema_tells_nothing_of_other_data_in_the_same_database(live, served):
    live.run.execute("CYPHER 25\nCREATE (:PayrollOfAda {salary: 1})-[:OWES]->(:PayrollOfAda)")
    assert "Payroll" not in json.dumps(good(served, "neo4j_get_schema"))
