"""A statement as words that carry something: what each is, and what sort of value.

Taken without order: two statements are compared by the words that only one of them says.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mkg import word_lists
from mkg.features.gate.frame import (
    ARTICLES,
    COUNTS,
    GENERIC,
    NEGATIONS,
    PREPOSITIONS,
    TIME,
    VERBS,
    kinds,
    negates,
)
from mkg.same_words import base, in_one, sense

MOST_VALUE = 4
_TOKEN = re.compile(
    r"`[^`\n]{1,80}`|https?://\S+|[$€£]\d[\d.,]*|\d+(?:[.:-]\d+)+|[#~.]?/?\w[\w+#']*(?:[./\\_:@-]+\w[\w+#']*)*/?"
)
_HERE = Path(__file__).parent
# Small words that say nothing, besides those that frames leave out.
_OTHERS = frozenset(
    ["its", "his", "her", "them", "us", "who", "whose", "which", "such", "too", "down", "more"]
)
# Kinds of words that make a value together with a number.
UNITS = frozenset(["month", "size", "duration"])
# Who owns it may be asked, or took it over.
_SAME = {"ask": "own", "took": "own", "responsibl": "own"}
# After these a thing is named.
_SO_OFTEN = ("of", "the", "time")
_BEFORE_THINGS = frozenset(["the", "our", "of", "for", "my"])


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a statement, and where it stands among all of them."""

    place: int
    word: str
    name: bool
    code: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as words that carry something, and the words in their order."""

    tokens: tuple[Token, ...]
    every: tuple[str, ...]
    denies: bool
    one: bool
    """False where the subject is one of many: 'a bucket stands in room 1'."""


@lru_cache(maxsize=4096)
def said(text: str) -> Said:
    """Take a statement apart."""
    every: list[str] = []
    tokens: list[Token] = []
    for match in _TOKEN.finditer(in_one(text.replace("\u2019", "'"))):
        raw = match.group().rstrip(".:,;'")
        code, word = raw.startswith("`"), raw.strip("`").casefold()
        name = raw[:1].isupper()
        place = len(every)
        every.append(word)
        month = word == "may" and name and place > 0
        if not code and not month and empty(word):
            continue
        tokens.append(Token(place, word, name, code))
    denies = any(negates(w) for w in every)
    one = not (every and every[0] in ARTICLES - {"the"})
    return Said(tuple(tokens), tuple(every), denies, one)


def empty(word: str) -> bool:
    known = (GENERIC, ARTICLES, TIME, NEGATIONS, PREPOSITIONS, _OTHERS)
    return any(word in some for some in known)


def key(token: Token) -> str:
    word = token.word if token.code else sense(token.word)
    return _SAME.get(word, word)


def idle(token: Token, about: frozenset[str] = frozenset()) -> bool:
    """Whether a word says nothing of its own beside a value: 'is set to', 'the folder'."""
    return not token.code and (base(token.word) in light() or base(token.word) in about)


def kind(run: tuple[Token, ...]) -> frozenset[str]:
    """What sort of value a run of words is; empty for words that could be anything."""
    if len(run) == 1 and run[0].code:
        return frozenset({"code"})
    words = [t.word for t in run]
    each = [sorts(w) for w in words if not (w.isdigit() or w in COUNTS)]
    known = frozenset[str]().union(*each)
    known = frozenset(one for one in known if all(one in some for some in each))
    if len(each) < len(words):
        # A number and its unit, a day and its month.
        known &= UNITS
    if known:
        return known
    if len(words) == 1 and (form := _form(words[0])):
        return form
    return frozenset({"name"}) if words and all(t.name for t in run) else frozenset()


def kind_of_any(tokens: Iterable[Token]) -> frozenset[str]:
    """What sorts of values single words are."""
    return frozenset[str]().union(*(kind((t,)) for t in tokens))


def _form(word: str) -> frozenset[str]:
    """What one word is by its form alone."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return frozenset({"month"})
    if re.fullmatch(r"\d{1,2}:\d\d(?::\d\d)?", word):
        return frozenset({"time"})
    if re.fullmatch(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", word):
        return frozenset({"email"})
    if word[0] in "$€£":
        return frozenset({"money"})
    if re.fullmatch(
        r"(?:[a-z0-9-]+\.){2,}[a-z]{2,}|[a-z0-9-]+\.(?:com|net|org|io|dev|app|cloud)", word
    ):
        return frozenset({"host name"})
    if "/" in word or re.search(r"\w\.[a-z]\w{1,4}$", word):
        return frozenset({"path"})
    if re.fullmatch(r"v?\d+(?:[._]\w+)+", word):
        return frozenset({"version"})
    if re.fullmatch(r"\d{1,2}", word):
        return frozenset({"version", "number"})
    if re.fullmatch(r"\d[\d,_]*[a-z]{0,3}%?", word):
        return frozenset({"number"})
    if word.startswith("#"):
        return frozenset({"channel"})
    if any(c.isdigit() for c in word):
        # 'rack-12' and 'rack-7' are of one sort, 'rack-12' and 'eu-west-1' are not.
        return frozenset({"id " + re.sub(r"[a-z]+", "a", re.sub(r"\d+", "#", word))})
    return frozenset()


def sorts(word: str) -> frozenset[str]:
    # 'May' is no month where it is a verb, so the list of months does not have it.
    return frozenset({"month"}) if word == "may" else kinds().get(word, frozenset())


def run_of(tokens: tuple[Token, ...], whole: Said) -> bool:
    """Whether tokens stand side by side, as one value does."""
    if not 0 < len(tokens) <= MOST_VALUE:
        return False
    first, last = tokens[0].place, tokens[-1].place
    there = {t.place for t in tokens}
    return all(p in there or empty(whole.every[p]) for p in range(first, last))


@lru_cache(maxsize=4096)
def things(whole: Said) -> tuple[tuple[Token, ...], ...]:
    """What is named after 'the', 'our', 'of': each as its words that carry something, in order.

    What is said of it may follow without a word between them: 'the kiosk logs users out'.
    """
    tokens = {t.place: t for t in whole.tokens}
    found: list[tuple[Token, ...]] = []
    for place, word in enumerate(whole.every):
        if word not in _BEFORE_THINGS:
            continue
        words: list[Token] = []
        for at in range(place + 1, len(whole.every)):
            token = tokens.get(at)
            if token is None or token.code or _form(token.word):
                break
            words.append(token)
        if whole.every[max(0, place - 1) : place + 2] == _SO_OFTEN:
            continue
        if any(key(token) not in light() for token in words):
            found.append(tuple(words))
    return tuple(found)


def one_thing(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    """Whether two things of `things` are one: the words of one are among those of the other, or
    both begin alike and go on with what is said of them.
    """
    a, b = [key(t) for t in one], [key(t) for t in other]
    if {*a} <= {*b} or {*b} <= {*a}:
        return True
    alike = 0
    while a[alike] == b[alike]:
        alike += 1
    verbs = [_may_say(t) for t in (one[alike], other[alike])]
    # 'The mail cache' and 'the mail queue' are two; 'the search client identifies' and 'the search
    # client authenticates' are one.
    return any(verbs) if alike > 1 else bool(alike) and all(verbs)


def _may_say(token: Token) -> bool:
    """Whether a word may be the verb after a thing."""
    word = token.word
    return word in VERBS or word.endswith(("s", "ed")) or base(word) in light()


@lru_cache(maxsize=1)
def light() -> frozenset[str]:
    """Words that say nothing of their own beside a value."""
    return frozenset(base(w) for row in word_lists.rows(_HERE / "light.txt") for w in row)


@lru_cache(maxsize=1)
def about() -> dict[str, frozenset[str]]:
    """Of each kind of value the words that only say that it is one."""
    listed = word_lists.named(_HERE / "kinds_about.txt")
    return {name: frozenset(base(w) for w in words) for name, words in listed.items()}


def about_any(sort: frozenset[str]) -> frozenset[str]:
    """The same for all kinds of a value at once."""
    return frozenset[str]().union(*(about().get(one, frozenset()) for one in sort))
