"""An error followed by its fix: what pairs, what does not, and what is only the moment."""

import json

import pytest

from mkg.features.learnings.extract import Candidate, Turn, extract
from mkg.features.learnings.extract_errors import resembles, signature_span, tool_key, transient
from tests.support.requirement import requirement


def call(command: str, *, said: str = "runs it") -> str:
    return json.dumps({"command": command, "description": said})


def run(*steps: tuple[str, str, str], tool: str = "Bash") -> list[Candidate]:
    """Extract from calls given as (role, input, text)."""
    return extract(
        [
            Turn(f"e{n}", n, f"tool_{role}", text, "tool", tool, given)
            for n, (role, given, text) in enumerate(steps, 1)
        ]
    )


def failing_then(fixed: str, *, failed: str = "pytest tests/test_a.py --fast") -> list[Candidate]:
    return run(("failure", call(failed), "unknown option --fast"), ("success", call(fixed), ""))


@requirement("MEM-T122")
@pytest.mark.parametrize(
    ("fixed", "pairs"),
    [
        ("pytest tests/test_a.py -x", True),
        ("PYTHONPATH=src pytest tests/test_a.py --fast", True),
        ("ls -la", False),
        ("git status --short --branch", False),
        ("pytest tests/test_a.py --fast", False),
    ],
)
def test_only_a_changed_call_that_resembles_the_failed_one_is_its_fix(fixed, pairs):
    assert bool(failing_then(fixed)) is pairs


def test_sixty_percent_of_the_failed_characters_must_survive():
    assert resembles("abcdefghij", "abcdefXXXX")
    assert not resembles("abcdefghij", "abcdeXXXXX")
    assert not resembles("", "anything")


def test_only_the_values_of_the_input_are_compared_and_not_what_is_said_about_it():
    same = "explains at great length what this command is for and why it is run now"
    assert run(
        ("failure", call("make x", said="a"), "unknown target x"),
        ("success", call("make y", said=same), ""),
    )
    assert not run(
        ("failure", call("make x", said=same), "unknown target x"),
        ("success", call("ls /srv", said=same), ""),
    )


def test_a_fix_belongs_to_the_same_tool_and_comes_later():
    failure = Turn("e1", 2, "tool_failure", "unknown option", "tool", "Bash", call("run --a b c"))
    other = Turn("e2", 3, "tool_success", "", "tool", "PowerShell", call("run --x b c"))
    mine = Turn("e3", 4, "tool_success", "", "tool", "Bash", call("run --x b c"))
    assert extract([failure, other]) == []
    assert extract([mine, failure]) == []
    assert len(extract([failure, other, mine])) == 1


def test_what_is_learned_says_what_failed_how_and_what_worked():
    (candidate,) = failing_then("pytest tests/test_a.py -x")
    assert candidate.text == (
        "Bash: pytest tests/test_a.py --fast fails with: unknown option --fast. "
        "What worked: pytest tests/test_a.py -x"
    )
    assert (candidate.kind, candidate.resolved, candidate.origin) == ("error", True, "tool")
    assert (candidate.tool_key, candidate.error_signature) == ("Bash", "unknown option --fast")
    assert (candidate.explicit, candidate.scope) == (False, "project")


def test_the_last_of_several_equal_failures_is_the_one_that_is_explained():
    found = run(
        ("failure", call("run --a b c d"), "unknown option --a"),
        ("failure", call("run --a b c d"), "unknown option --a again"),
        ("success", call("run --x b c d"), ""),
    )
    assert [candidate.event_id for candidate in found] == ["e2"]


def test_a_failure_without_a_fix_teaches_nothing():
    assert run(("failure", call("run --a b"), "unknown option --a")) == []


@requirement("MEM-T123")
@pytest.mark.parametrize(
    "error",
    [
        "Command timed out after 120 s",
        "requests.exceptions.ReadTimeout: Read timeout",
        "Error: ETIMEDOUT",
        "HTTP 429 Too Many Requests",
        "rate limit exceeded, retry in 20 s",
        "You exceeded your current quota",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "Connection reset by peer",
        "curl: (6) Could not resolve host: example.test",
        "getaddrinfo ENOTFOUND example.test",
        "502 Bad Gateway",
        "status code 503",
        "JavaScript heap out of memory",
        "Cannot allocate memory",
        "OSError: [Errno 28] No space left on device",
        "bash: ./run.sh: Permission denied",
        "KeyboardInterrupt",
        "[Request interrupted by user]",
        "The user doesn't want to proceed with this tool use",
    ],
)
def test_a_failure_of_the_moment_is_left_out(error):
    assert transient(error)
    assert run(("failure", call("run --a b c"), error), ("success", call("run --x b c"), "")) == []


@requirement("MEM-T123")
@pytest.mark.parametrize(
    "error",
    [
        "unknown configuration key 'timeout'",
        "timeout: expected an integer, got '5s'",
        "error: unrecognized arguments: --timeout",
        "KeyError: 'timeout'",
        "ImportError: cannot import name 'memory'",
        "AssertionError: 4290 != 500",
    ],
)
def test_an_error_about_a_key_called_timeout_is_not_of_the_moment(error):
    assert not transient(error)
    assert run(("failure", call("run --a b c"), error), ("success", call("run --x b c"), ""))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("Exit code 1\nerror: no such table: users\nmore", "error: no such table: users"),
        ('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\nValueError: x',
         "ValueError: x"),
        ("ERROR: t\nTraceback (most recent call last):\nx.NoModuleError: no a\n\nFAILED (errors=1)",
         "x.NoModuleError: no a"),
        ("=====\nsomething odd\nand more", "something odd"),
        ("  \n  spaced failed line  \n", "spaced failed line"),
    ],
)  # fmt: skip
def test_the_signature_is_the_line_that_says_most(error, line):
    start, end = signature_span(error)
    assert error[start:end] == line


def test_a_signature_is_one_line_of_at_most_300_characters():
    (candidate,) = run(
        ("failure", call("run --a b c"), "error: " + "x" * 900 + "\nsecond"),
        ("success", call("run --x b c"), ""),
    )
    assert len(candidate.error_signature) == 300
    assert len(candidate.text) <= 500
    assert candidate.quote == candidate.error_signature
    assert signature_span(" \n \n") is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Bash", "Bash"),
        ("mcp__mkg__episode_search", "episode_search"),
        ("mcp__plugin_mkg_mkg__episode_search", "episode_search"),
        ("my__tool", "my__tool"),
    ],
)
def test_a_tool_key_is_the_same_wherever_its_server_is_mounted(name, key):
    assert tool_key(name) == key


def test_inputs_that_are_no_json_or_nested_deeply_are_compared_as_they_are():
    deep = "[" * 50 + '"x"' + "]" * 50
    assert run(("failure", "run --a b c", "bad option --a"), ("success", "run --x b c", ""))
    assert run(("failure", deep, "bad"), ("success", deep, "")) == []
    assert run(("failure", "", "bad option"), ("success", "", "")) == []
