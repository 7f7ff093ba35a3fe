"""What the search leaves out: keys that no word holds, and lines that no mask has touched."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg_hooks.redact import redact
from mkg_hooks.redact_gate import CUT, Words, divided, every_key
from mkg_hooks.redact_scan import search, table
from mkg_hooks.redact_shadow import marked
from tests.support.credentials import kinds, made
from tests.support.recipes import expand
from tests.support.requirement import requirement

TOKEN = expand("ghp_{AN36}", 7)
LINE = "the quick brown fox jumps over the lazy dog and nothing of it is a secret\n"
PIECES = st.one_of(
    st.sampled_from([expand(good, 5) for rule in table() for good in rule.good]),
    st.sampled_from(
        [expand("{HEX64}", 1), expand("{B64_88}", 2), "\n", " ", "-", "_", '"', "(", ";", "key="]
    ),
    st.text(alphabet="abdefpstuAKIZ0189_-.:=/ \n\"'(", max_size=30),
)


@requirement("SEC-72")
@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join))
def test_the_gate_drops_no_key_that_would_match(text: str):
    words = Words(text)
    chosen = search(text, words, words.keys())
    assert sorted(set(chosen)) == sorted(set(search(text, words, every_key())))


@requirement("SEC-72")
@pytest.mark.parametrize("seed", range(3))
def test_a_credential_is_found_in_a_long_text_as_alone(seed: int):
    """Every kind, in the middle of a text whose words are many."""
    rng = random.Random(seed)
    around = [LINE, expand("    --hash=sha256:{HEX64}\n", seed), expand("{B64_76}\n", seed)]
    missed: list[str] = []
    for kind in kinds():
        text, _ = made(kind, seed)
        before, after = (rng.choice(around) * 30 for _ in range(2))
        if redact(text)[1] and not redact(f"{before}\n{text}\n{after}")[1]:
            missed.append(kind.id)
    assert missed == []


@requirement("SEC-71")
@pytest.mark.parametrize("cut", ["\n", "\n    ", "\r\n", "\\\n", '" + "', "' '", '"\n  + "'])
def test_a_word_is_read_across_what_cuts_it(cut: str):
    text = f"x = {TOKEN[:9]}{cut}{TOKEN[9:20]}{cut}{TOKEN[20:]} y"
    told = marked(text, CUT)
    assert told is not None
    assert TOKEN.encode() in divided(told)
    assert [f.rule for f in redact(text)[1]] == ["github-pat"]


def test_text_without_a_cut_is_not_read_twice():
    assert marked("one line, (no cut) 'here' .", CUT) is None
    assert marked("ends.)\n (begins", CUT) is None


@requirement("SEC-76")
def test_in_a_long_text_every_secret_is_masked_however_far_from_the_first():
    far = LINE * 4_000
    for first in (f"a {TOKEN} b\n", "a <private>x</private> b\n"):
        text = first + far + f"c {TOKEN} d\n" + far + f"e {TOKEN} f\n"
        masked, found = redact(text)
        assert TOKEN not in masked
        assert len(found) == 3
        assert redact(masked) == (masked, [])


@requirement("SEC-76")
def test_what_masking_shows_is_masked_in_a_long_text_too():
    # With its end masked, the rest of the address is the value of the name before it.
    address = expand("token is /hooks/catch/{D6}/{AN7}", 3)
    text = LINE * 4_000 + address + "\n" + LINE * 4_000
    masked, _ = redact(text)
    assert masked.count("[REDACTED:") == 1
    assert "/hooks/catch" not in masked
    assert redact(masked) == (masked, [])


@requirement("SEC-71")
def test_a_value_that_is_cut_off_its_name_is_read_across_the_cut():
    value = expand("{AN4}7{AN4}8{AN3}", 1)
    for before, after in (
        ("the staging password is ", " x"),
        ("mysql -u root -p", " app"),
        ("curl -u bob:", " https://x"),
    ):
        masked, found = redact(f"{before}{value[:3]}\n{value[3:]}{after}")
        assert (masked.startswith(before + "["), masked.endswith("]" + after)) == (True, True)
        assert len(found) == 1
    assert redact(f"say {TOKEN[:12]}\n{TOKEN[12:]}")[0] == "say [REDACTED:github-pat]"


@requirement("SEC-72")
def test_a_long_base64_text_is_read_at_both_ends():
    blob = expand("{B64_9000}", 3)
    jwt = expand("{JWT}", 1)
    for text in (f"{blob} {jwt}", f"{jwt} {blob}", f'{{"a":"{blob}","b":"{jwt}"}}'):
        assert [f.rule for f in redact(text)[1]] == ["jwt"]
    assert redact(f"data:image/png;base64,{blob}")[1] == []
    glued = expand("AKCp8{AN60}+", 1) + blob
    assert [f.rule for f in redact(glued)[1]] == ["artifactory-key"]
