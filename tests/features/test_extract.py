"""Deterministic extraction: what people state is found, what they only discuss is not."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg.features.learnings.extract import Candidate, Turn, extract, task_pattern
from mkg.features.learnings.inject import Budget, Section, render
from tests.support.requirement import requirement
from tests.support.sentences import said


def user(text: str, *, event: str = "e1", seq: int = 1, origin: str = "user_typed") -> Turn:
    return Turn(event, seq, "user", text, origin)


def learned(text: str) -> list[str]:
    return [candidate.text for candidate in extract([user(text)])]


def only(text: str) -> Candidate:
    (candidate,) = extract([user(text)])
    return candidate


@pytest.mark.parametrize("which", ["seen", "held_out"])
def test_most_statements_are_found_and_almost_nothing_else(which, record_property):
    cases = [(case, bool(extract([user(case.text)]))) for case in said(which)]
    found = [got for case, got in cases if case.learn]
    wrong = [got for case, got in cases if not case.learn]
    record_property(f"found_{which}", round(sum(found) / len(found), 4))
    record_property(f"wrong_{which}", round(sum(wrong) / len(wrong), 4))
    print(
        f"extract, {which}: {sum(found)}/{len(found)} found, {sum(wrong)}/{len(wrong)} wrongly kept"
    )
    assert len(found) > 100
    assert len(wrong) > 50
    assert sum(found) / len(found) >= 0.93
    assert sum(wrong) / len(wrong) <= 0.03


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("Remember that we use pnpm, not npm.", "We use pnpm, not npm."),
        ("please remember: tests run against postgres 16", "Tests run against postgres 16"),
        ("For future reference, the staging host is stg-2.", "The staging host is stg-2."),
        ("Note that from now on we deploy from trunk.", "We deploy from trunk."),
        ("Remember to always run make check.", "Always run make check."),
        ("Don't forget that pnpm is what we use here", "pnpm is what we use here"),
        ("Can you remember that Maria owns the design system?", "Maria owns the design system"),
        ("We use tabs here, please remember that.", "We use tabs here"),
        ("Remember that we use pnpm, and now fix the failing test.", "We use pnpm"),
        ("remember   that\n we\tuse  bun ", "We use bun"),
        ("Never force-push to main; ask first.", "Never force-push to main; ask first."),
    ],
)
def test_a_request_to_remember_keeps_the_statement_without_the_request(prompt, text):
    candidate = only(prompt)
    assert (candidate.text, candidate.explicit, candidate.scope) == (text, True, "project")


def test_several_statements_in_one_prompt_are_all_found():
    prompt = "Remember that we use pnpm. Also, remember that the queue is RabbitMQ. Thanks!"
    assert learned(prompt) == ["We use pnpm.", "The queue is RabbitMQ."]


def test_a_list_after_the_request_is_remembered_up_to_the_blank_line():
    prompt = "Please remember:\n- we use pnpm\n- builds need Docker\n\n- fix the parser"
    assert learned(prompt) == ["We use pnpm", "builds need Docker"]


def test_a_request_that_points_back_makes_the_sentence_before_it_explicit():
    assert not only("Tests run with a fake clock.").explicit
    assert only("Tests run with a fake clock. Please remember that.").explicit


@pytest.mark.parametrize(
    ("prompt", "explicit"),
    [
        ("No, we use Vitest, not Jest.", True),
        ("Actually the port is 8081.", True),
        ("That is wrong: our limit is 100 items.", True),
        ("Actually it is 8081.", False),
        ("Not npm, pnpm.", False),
        ("Use pnpm instead of npm.", False),
    ],
)
def test_only_a_correction_that_states_a_whole_fact_is_explicit(prompt, explicit):
    candidate = only(prompt)
    assert (candidate.reason, candidate.explicit) == ("correction", explicit)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (
            "Correction: the billing service listens on port 9090, not 8080.",
            "The billing service listens on port 9090, not 8080.",
        ),
        ("No, the nightly job needs a GPU.", "The nightly job needs a GPU."),
        (
            "Correction: the design team used to have five people and has four now.",
            "The design team used to have five people and has four now.",
        ),
        (
            "That is wrong: the export service defaults to XML.",
            "The export service defaults to XML.",
        ),
        ("Actually the search index lives on disk two.", "The search index lives on disk two."),
    ],
)
def test_a_standing_fact_after_a_no_is_an_explicit_correction(prompt, text):
    candidate = only(prompt)
    assert (candidate.text, candidate.explicit, candidate.reason) == (text, True, "correction")


@pytest.mark.parametrize(
    "prompt",
    [
        "No, the build fails on my machine right now.",
        "Wait, the other one listens on 9090?",
        "No, that listens on the wrong port.",
        "Actually the server needs to be restarted first.",
    ],
)
def test_a_no_before_something_of_the_moment_corrects_nothing(prompt):
    assert not [c for c in extract([user(prompt)]) if c.explicit]


@pytest.mark.parametrize(
    "prompt",
    [
        "No, failed calls to the mail cache are retried 6 times, not 3.",
        "Actually, you get a licence from Bo, not from Al.",
        "No, Fritz signs off releases of the platform team.",
        "Wrong, the mail worker has to be up 99.7 percent of the time instead of 97.5.",
        "Correction: you can reach the shipping team in #dune.",
    ],
)
def test_a_no_before_how_things_are_waits_for_the_gate_to_know_what_it_corrects(prompt):
    candidate = only(prompt)
    assert (candidate.reason, candidate.explicit) == ("correction", False)


@pytest.mark.parametrize(
    "prompt",
    [
        "No, right now it fails on port 9090 instead of 8080.",
        "Wrong, you should look at 9090.",
        "We used to have five people.",
        "No, I want to see port 9090 instead of 8080.",
    ],
)
def test_a_no_before_a_wish_or_a_moment_states_nothing(prompt):
    assert extract([user(prompt)]) == []


def test_a_decision_keeps_its_reason_even_from_the_next_sentence():
    prompt = "We decided to use SQLite. Because one writer is enough. Fix the tests."
    candidate = only(prompt)
    assert candidate.text == "We decided to use SQLite. Because one writer is enough."
    assert candidate.quote == prompt[: candidate.end]
    assert candidate.reason == "decision"


def test_a_decision_whose_reason_says_would_is_still_a_decision():
    assert learned("We chose SQLite because Postgres would be too much.")


@requirement("MEM-T135")
@pytest.mark.parametrize(
    ("prompt", "scope"),
    [
        ("I prefer short answers and British spelling.", "user"),
        ("Remember that my name is Aisha.", "user"),
        ("I am colour blind.", "user"),
        ("Ich bevorzuge kurze Antworten.", "user"),
        ("I always run the tests in this repo with -n 4.", "project"),
        ("We prefer short functions.", "project"),
        ("Always answer in British spelling.", "project"),
        ("Remember that the team likes short answers.", "project"),
    ],
)
def test_only_a_first_person_statement_is_about_the_user(prompt, scope):
    assert only(prompt).scope == scope


@requirement("B65")
def test_a_discussion_that_decides_nothing_claims_nothing():
    turns = [
        user("could Obsidian be useful here?"),
        Turn(
            "e2", 2, "assistant", "It could hold notes in docs/vault. Shall I?", "assistant_clean"
        ),
        user("Maybe. What if we kept the vault under notes/?", event="e3", seq=3),
        Turn("e4", 4, "assistant", "That would work as well.", "assistant_clean"),
    ]
    assert extract(turns) == []
    assert learned("We use Obsidian for the notes.") == ["We use Obsidian for the notes."]


def test_a_message_that_only_thinks_aloud_states_nothing():
    assert learned("We use port 9443 for the admin page. Just thinking aloud.") == []
    assert learned("We use port 9443 for the admin page.") != []


@pytest.mark.parametrize(
    "prompt",
    [
        "Don't remember this: we use pnpm.",
        "We use pnpm in this repo. Please do not store that.",
        "Forget that we use npm.",
        "Remember to run the tests before you finish.",
        "> We use pnpm in this repo.",
        "```\nRemember that we use npm.\n```",
        "~~~\nWe use npm.",
        '"Remember that we use npm."',
        "The readme says \u201cremember that we use npm\u201d.",
        "2026-01-01 10:00:00 INFO we use npm in this repo",
        "<system-reminder>Remember that we use npm.</system-reminder>",
        "<mkg-memory nonce=ab>\nRemember that we use npm.\n</mkg-memory nonce=ab>",
        "    remember_that(we_use_npm)\n    We use npm in this repo.",
    ],
)
def test_negated_quoted_or_momentary_words_are_not_learned(prompt):
    assert learned(prompt) == []


def test_a_statement_beside_a_quotation_or_code_is_still_found():
    prompt = "```\nRemember that we use npm.\n```\nRemember that we use pnpm.\n> old: we use yarn"
    assert learned(prompt) == ["We use pnpm."]
    assert learned('Remember that the button says "Save".') == ['The button says "Save".']


@requirement("B71")
@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("我们的测试只用 SQLite", "我们的测试只用 SQLite"),
        ("テストは SQLite だけで動きます", "テストは SQLite だけで動きます"),
        ("请记住\uff1a我们用 pnpm 而不是 npm。", "我们用 pnpm 而不是 npm。"),
        ("テストは SQLite だけで動くことを覚えておいてください。", "テストは SQLite だけで動く"),
        ("覚えておいて\uff1aこのリポジトリでは pnpm を使う", "このリポジトリでは pnpm を使う"),
        ("Merk dir, dass die Tests Docker brauchen.", "Die Tests Docker brauchen."),
        ("Souviens-toi que les tests utilisent Docker.", "Les tests utilisent Docker."),
        ("Recuerda que usamos pnpm.", "usamos pnpm."),
    ],
)
def test_a_statement_keeps_its_language_and_its_words(prompt, text):
    candidate = only(prompt)
    assert candidate.text == text
    assert candidate.quote in prompt
    assert candidate.explicit


@requirement("B61")
def test_an_assistant_that_repeats_our_block_teaches_nothing_in_ten_cycles():
    fact = "We decided to use SQLite because the data fits on one machine."
    block = render(
        [Section("Learnings", ({"id": "l1", "text": fact},), ("l1",))], Budget(9_000, 2_000)
    ).text
    assert fact in block
    cycle = [
        user("Fix the import.\n" + block),
        Turn("e2", 2, "assistant", f"{block}\n{fact} So I kept it.", "assistant_clean"),
        Turn("e3", 3, "assistant", fact, "assistant_clean"),
    ]
    assert extract(cycle * 10) == []
    assert extract(cycle[2:] * 10, recalled=[fact]) == []
    assert [c.explicit for c in extract(cycle[2:])] == [False]


def test_an_assistant_is_believed_only_for_decisions_it_reports_and_never_explicitly():
    def say(text: str) -> list[Candidate]:
        return extract([Turn("e1", 1, "assistant", text, "assistant_local")])

    assert say("Remember that we use npm. We use npm in this repo. I prefer tabs.") == []
    assert say("From memory: we decided to use npm.") == []
    (candidate,) = say("You decided to use Redis because it persists.")
    assert (candidate.explicit, candidate.origin) == (False, "assistant_local")
    assert candidate.confidence < 0.5


@requirement("MEM-T120")
def test_the_output_of_a_successful_call_is_never_read():
    text = "Remember that we use npm. We decided to use npm because it is there."
    success = Turn("e1", 1, "tool_success", text, "tool", "Read", '{"file_path": "README.md"}')
    assert extract([success]) == []
    failure = Turn(
        "e0", 0, "tool_failure", "Unknown option --foo", "tool", "Bash", _call("run --foo a b")
    )
    fixed = Turn("e2", 2, "tool_success", "SECRET OUTPUT", "tool", "Bash", _call("run --bar a b"))
    (candidate,) = extract([failure, success, fixed])
    assert "SECRET OUTPUT" not in repr(candidate)


@requirement("MEM-T121")
def test_a_failed_call_is_read_but_not_for_statements():
    text = "error: unknown option --fast\nRemember that we use npm."
    failure = Turn("e1", 1, "tool_failure", text, "tool", "Bash", _call("build --fast src"))
    fixed = Turn("e2", 2, "tool_success", "", "tool", "Bash", _call("build --quick src"))
    assert extract([failure]) == []
    (candidate,) = extract([failure, fixed])
    assert candidate.kind == "error"
    assert candidate.error_signature == "error: unknown option --fast"
    assert candidate.quote == text[candidate.start : candidate.end]
    assert "build --fast src" in candidate.text
    assert "build --quick src" in candidate.text


@requirement("MEM-T130", "MEM-W42")
def test_at_most_three_statements_are_kept_for_each_chunk_and_not_for_the_whole_window():
    prompt = " ".join(f"Remember that service {n} uses port 80{n}0." for n in range(1, 8))
    filler = "The build is slow, look at it please and tell me what you see. " * 190
    assert len(filler) < 12_000
    one, two = user(prompt), user(prompt.replace("80", "90"), event="e3", seq=3)
    assert len(extract([one])) == 3
    between = user(filler, event="e2", seq=2)
    assert len(extract([one, between, two])) == 6


def test_the_weightiest_three_of_a_chunk_stay_in_their_order():
    prompt = (
        "We fixed the parser. We added a cache. Tests run with pytest. "
        "Remember that we use bun. Always lint first."
    )
    assert learned(prompt) == ["Tests run with pytest.", "We use bun.", "Always lint first."]


def test_a_value_said_twice_is_one_candidate_and_the_explicit_one():
    turns = [user("Tests run with bun."), user("Remember that tests run  with BUN", event="e2")]
    (candidate,) = extract(turns)
    assert (candidate.explicit, candidate.event_id) == (True, "e2")


def test_a_long_statement_is_cut_at_500_characters_and_its_quote_is_not():
    prompt = "Remember that " + "the list has one more word and " * 30 + "an end."
    candidate = only(prompt)
    assert len(candidate.text) <= 500
    assert candidate.text.endswith("...")
    assert candidate.quote == prompt


def test_the_origin_of_a_turn_is_the_origin_of_its_candidates():
    assert (
        extract([user("Remember that we use bun.", origin="user_pasted")])[0].origin
        == "user_pasted"
    )


def test_an_old_and_a_new_value_are_both_stated_in_full():
    assert [(c.text, c.explicit) for c in extract([user("we use pnpm")])] == [("We use pnpm", True)]
    assert [(c.text, c.explicit) for c in extract([user("we moved to bun")])] == [
        ("We moved to bun", True)
    ]


@requirement("MEM-T129")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  Writing   database migrations ", "writing database migrations"),
        ("one two three four five six", "one two three four five six"),
        ("one two three four five six seven", None),
        ("a" * 60, "a" * 60),
        ("a" * 61, None),
        ("  ", None),
    ],
)
def test_a_task_pattern_over_its_limits_is_dropped_and_never_clipped(text, kept):
    assert task_pattern(text) == kept


_PIECES = st.sampled_from(
    [
        "Remember that we use pnpm.", "always run the linter", "We use ", "\"quoted. text\"", "\n",
        "\n\n", "```", "> ", "- ", " no, we use bun not npm. ",
        "e.g. ", "记住\uff1a我们用 SQLite。", "\u200b",
        "I prefer tabs! ", "<mkg-memory nonce=1>", "</mkg-memory nonce=1>", "\r\n", "  ", "\u2028",
        "We decided to use Go. Because it is fast. ",
        "The API key lives in the vault, not in .env.",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=14).map("".join))
@settings(max_examples=100, deadline=None)
def test_every_quote_is_the_source_at_its_offsets(prompt):
    for candidate in extract([user(prompt), Turn("e2", 2, "assistant", prompt, "assistant_clean")]):
        assert candidate.quote == prompt[candidate.start : candidate.end]
        assert candidate.quote
        assert len(candidate.text) <= 500
        assert "\n" not in candidate.text


@pytest.mark.parametrize(
    "unit",
    ["a ", '"', "<mkg-memory>", "<a><b>", "remember that ", "our a b c ", ". ",
     "\n", "We use pnpm, not npm. ", " 'a", "~~~\n"],
)  # fmt: skip
def test_fifty_kilobytes_of_anything_are_read_quickly(unit):
    text = unit * (50_000 // len(unit))
    started = time.process_time()
    extract([user(text), Turn("e2", 2, "assistant", text, "assistant_clean")])
    assert time.process_time() - started < 3


def _call(command: str) -> str:
    return json.dumps({"command": command, "description": "does something"})
