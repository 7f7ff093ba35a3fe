"""Whether two statements give one subject two values, told in other words or in another order.

A statement is taken as its words without order. What only one of the two says is its value, if that
is one short run of words of a kind that both share, and if all else is said by both or says nothing
of its own.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mkg.features.gate.frame import (
    ARTICLES,
    GENERIC,
    NEGATIONS,
    NUMBERED,
    PREPOSITIONS,
    TIME,
    VERBS,
    kinds,
)

MOST_VALUE, MOST_UNSAID = 4, 2
_TOKEN = re.compile(
    r"`[^`\n]{1,80}`|https?://\S+|\d+(?:[.:-]\d+)+|[#~.]?/?\w[\w+#']*(?:[./\\_:@-]+\w[\w+#']*)*/?"
)
_HERE = Path(__file__).parent
# What a new statement says of a change: then an earlier value was there.
_NOW = frozenset(["now", "anymore", "henceforth", "today"])
# How nouns are made of verbs, and how much of the verb has to be left.
_NOUNS = (("ation", 5), ("ment", 4), ("ion", 4), ("al", 5), ("er", 3), ("or", 3))
# Verbs whose past no ending tells; a statement is told as a fact or as what was decided.
_PAST = {
    "built": "build", "kept": "keep", "held": "hold", "sent": "send", "ran": "run", "led": "lead",
    "wrote": "write", "written": "write", "grew": "grow", "made": "make",
    "met": "meet", "spent": "spend", "found": "find", "told": "tell", "went": "go",
    "chose": "choose", "began": "begin", "gave": "give", "given": "give", "paid": "pay",
}  # fmt: skip
# Verbs that a value follows, besides those of frames.
_SAID = frozenset(["is", "are", "use", "take", "ask", "page", "see"])
# Small words that say nothing, besides those that frames leave out.
_OTHERS = frozenset(
    ["its", "his", "her", "them", "us", "who", "whose", "which", "such", "too", "down", "more"]
)
# Kinds of words that make a value together with a number.
_UNITS = frozenset(["month", "size", "duration"])
# Who owns it may be asked, or took it over.
_SAME = {"ask": "own", "took": "own", "responsibl": "own"}
# Of these a thing has one at a time.
_SOLE = frozenset(
    ["own", "lead", "head", "manag", "maintain", "contact", "respons", "charg", "captain", "oncal"]
)
# What is read from one place and written to another has two places.
_WAYS = (
    frozenset({"read", "import", "receiv", "pull", "get", "fetch", "download"}),
    frozenset({"write", "writ", "export", "send", "push", "giv", "upload"}),
)


def _words(name: str) -> frozenset[str]:
    text = (_HERE / name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(base(word) for line in lines for word in line.split())


def base(word: str) -> str:
    """A word without what grammar adds to it: 'planned', 'plans' and 'plan' are one."""
    if not word.replace("-", "").isalpha():
        return word
    for end in ("ing", "ed", "s"):
        if word.endswith(end) and len(word) - len(end) >= 3 and not word.endswith("ss"):
            word = word[: -len(end)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def root(word: str) -> str:
    """A word and whoever does it: 'owner' and 'own'."""
    plain = base(_PAST.get(word, word))
    for end, least in _NOUNS:
        if plain.isalpha() and plain.endswith(end) and len(plain) - len(end) >= least:
            plain = base(plain[: -len(end)])
            break
    return plain[:-1] if len(plain) > 5 and plain.endswith("y") else plain


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
    for match in _TOKEN.finditer(text.replace("\u2019", "'")):
        raw = match.group().rstrip(".:,;'")
        code, word = raw.startswith("`"), raw.strip("`").casefold()
        name = raw[:1].isupper()
        place = len(every)
        every.append(word)
        month = word == "may" and name and place > 0
        if not code and not month and _empty(word):
            continue
        tokens.append(Token(place, word, name, code))
    denies = any(w in NEGATIONS or w.endswith("n't") for w in every)
    one = not (every and every[0] in ARTICLES - {"the"})
    return Said(tuple(tokens), tuple(every), denies, one)


def _empty(word: str) -> bool:
    known = (GENERIC, ARTICLES, TIME, NEGATIONS, PREPOSITIONS, _OTHERS)
    return any(word in some for some in known)


@dataclass(frozen=True, slots=True)
class Apart:
    """What two statements share, and what only one of them says."""

    shared: frozenset[str]
    mine: tuple[Token, ...]
    theirs: tuple[Token, ...]


def apart(new: Said, old: Said) -> Apart:
    """Compare two statements word by word, whatever their order."""
    mine, theirs = _joined(new, old), _joined(old, new)
    a, b = {_key(t) for t in mine}, {_key(t) for t in theirs}
    return Apart(
        frozenset(a & b),
        tuple(t for t in mine if _key(t) not in b),
        tuple(t for t in theirs if _key(t) not in a),
    )


def _key(token: Token) -> str:
    word = token.word if token.code else root(token.word.replace("-", ""))
    return _SAME.get(word, word)


def _joined(mine: Said, theirs: Said) -> list[Token]:
    """The tokens of one, with two as one word where the other writes them so: 'time out'."""
    there = {_key(t) for t in theirs.tokens}
    found: list[Token] = []
    for place, word in enumerate(mine.every[:-1]):
        both = word + mine.every[place + 1]
        if word.isalpha() and root(both) in there and root(word) not in there:
            found.append(Token(place, both, False, False))
    gone = {p for t in found for p in (t.place, t.place + 1)}
    return sorted([*found, *(t for t in mine.tokens if t.place not in gone)], key=lambda t: t.place)


def idle(token: Token, about: frozenset[str] = frozenset()) -> bool:
    """Whether a word says nothing of its own beside a value: 'is set to', 'the folder'."""
    return not token.code and (base(token.word) in light() or base(token.word) in about)


def kind(run: tuple[Token, ...]) -> frozenset[str]:
    """What sort of value a run of words is; empty for words that could be anything."""
    if len(run) == 1 and run[0].code:
        return frozenset({"code"})
    words = [t.word for t in run]
    each = [_sorts(w) for w in words if not w.isdigit()]
    known = frozenset[str]().union(*each)
    known = frozenset(one for one in known if all(one in some for some in each))
    if len(each) < len(words):
        # A number and its unit, a day and its month.
        known &= _UNITS
    if known:
        return known
    if len(words) == 1 and (form := _form(words[0])):
        return form
    return frozenset({"name"}) if words and all(t.name for t in run) else frozenset()


def _form(word: str) -> frozenset[str]:
    """What one word is by its form alone."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return frozenset({"month"})
    if re.fullmatch(r"\d{1,2}:\d\d(?::\d\d)?", word):
        return frozenset({"time"})
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


def _sorts(word: str) -> frozenset[str]:
    # 'May' is no month where it is a verb, so the list of months does not have it.
    return frozenset({"month"}) if word == "may" else kinds().get(word, frozenset())


def run_of(tokens: tuple[Token, ...], whole: Said) -> bool:
    """Whether tokens stand side by side, as one value does."""
    if not 0 < len(tokens) <= MOST_VALUE:
        return False
    first, last = tokens[0].place, tokens[-1].place
    there = {t.place for t in tokens}
    return all(p in there or _empty(whole.every[p]) for p in range(first, last))


def gives_another(new: Said, old: Said, *, corrects: bool = False) -> bool:
    """Tell whether `new` gives the subject of `old` another value, without naming the old one."""
    if new.denies != old.denies or not (new.one and old.one):
        return False
    found = apart(new, old)
    for about in _abouts(found):
        mine = _value(found.mine, about)
        theirs = _value(found.theirs, about)
        if not (run_of(mine, new) and run_of(theirs, old)):
            continue
        both = kind(mine) & kind(theirs)
        shared = {w for w in found.shared if w not in light() and w not in about}
        whole = not shared and bool(about) and _ours(new) and _ours(old)
        marked = corrects or bool(_NOW & {*new.every, *old.every})
        if not both or not (shared or whole) or _ways(found):
            continue
        if "name" in both and not (marked or shared & _SOLE):
            continue
        if _told(mine, new, both) and _told(theirs, old, both):
            return True
    return False


def replaces_in(new: Said, old: Said, gone: Said, given: Said) -> int | None:
    """How far `old` is from what `new` replaces in it; None where it speaks of something else.

    Args:
        gone: the value that `new` says is replaced.
        given: the value that takes its place, empty where that is not told apart.
    """
    value = {_key(t) for t in gone.tokens if not idle(t)} or {_key(t) for t in gone.tokens}
    there = {_key(t) for t in old.tokens}
    later = {_key(t) for t in given.tokens if not idle(t)}
    if not value or not value <= there or (later and later <= there):
        return None
    sort = kind(tuple(t for t in gone.tokens if _key(t) in value))
    found = apart(new, old)
    sorts = frozenset[str]().union(*(about().get(one, frozenset()) for one in sort))
    shared = found.shared - value
    mine = tuple(t for t in found.mine if not idle(t, sorts) and _key(t) not in later)
    went = {_key(t) for t in gone.tokens}
    theirs = tuple(t for t in found.theirs if not idle(t, sorts) and _key(t) not in went)
    if not later:
        # The new value is what is of the old one's sort, or the only thing that is left.
        mine = tuple(t for t in mine if not (sort and kind((t,)) & sort))
    if (mine and theirs) or len(mine) > MOST_UNSAID or len(theirs) > MOST_UNSAID:
        return None
    whole = not mine and not theirs and bool(sorts) and (_ours(old) or _ours(new))
    return len(mine) + len(theirs) if shared or whole else None


def _value(tokens: tuple[Token, ...], about: frozenset[str]) -> tuple[Token, ...]:
    """What is left without idle words, and without what the value repeats: 'the rack is rack-7'."""
    left = tuple(t for t in tokens if not idle(t, about))
    first = {t.word.partition("-")[0] for t in left if "-" in t.word}
    return tuple(t for t in left if t.word not in first)


def _abouts(found: Apart) -> list[frozenset[str]]:
    """What may be said of values of a kind that both name, besides nothing."""
    none: frozenset[str] = frozenset()
    mine = none.union(*(kind((t,)) for t in found.mine))
    theirs = none.union(*(kind((t,)) for t in found.theirs))
    return [none, *(about().get(one, none) for one in sorted(mine & theirs))]


def _ways(found: Apart) -> bool:
    """Whether one says what goes in and the other what comes out."""
    mine, theirs = ({base(t.word) for t in side} for side in (found.mine, found.theirs))
    comes, goes = _WAYS
    return bool((mine & comes and theirs & goes) or (theirs & comes and mine & goes))


def _ours(one: Said) -> bool:
    return bool({"we", "our", "us"} & set(one.every[:3]))


def _told(run: tuple[Token, ...], whole: Said, both: frozenset[str]) -> bool:
    """Whether the value is what is said, not of whom: 'port 7101', not 'the staging server'."""
    first, last = run[0].place, run[-1].place
    before, after = whole.every[:first], whole.every[last + 1 :]
    if not before:
        acts = bool(after) and (after[0].endswith(("s", "ed")) or after[0] == "took")
        return acts if "name" in both else not both.isdisjoint({"number", "code", *_UNITS})
    if before[-1] in NUMBERED:
        return False
    vague = both <= {"name"} or any(one.startswith("id ") for one in both)
    if vague and before[-1] in {"of", "for", "before", "after", *ARTICLES}:
        return False
    if before[-1] in PREPOSITIONS or not any(w in VERBS or w in _SAID for w in after):
        return True
    return any(w in VERBS or w in _SAID or base(w) in light() for w in before)


@lru_cache(maxsize=1)
def light() -> frozenset[str]:
    """Words that say nothing of their own beside a value."""
    return _words("light.txt")


@lru_cache(maxsize=1)
def about() -> dict[str, frozenset[str]]:
    """Of each kind of value the words that only say that it is one."""
    found: dict[str, frozenset[str]] = {}
    for line in (_HERE / "kinds_about.txt").read_text(encoding="utf-8").splitlines():
        name, colon, words = line.partition(":")
        if colon and not line.startswith("#"):
            found[name] = frozenset(base(w) for w in words.split())
    return found
