"""A statement taken apart: its words, its subject words, and whether it denies.

Two statements have the same frame when they differ in one place only, the value. Everything here
is deterministic and knows a statement by its words alone.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mkg import word_lists
from mkg.features.learnings.value_key import normalised

_TOKEN = re.compile(
    r"https?://\S+|[#~.]?/?\w[\w+#']*(?:[./\\_:@-]+\w[\w+#']*)*/?|[$€£%]", re.UNICODE
)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = frozenset({"a", "an", "the", "some", "one", "another", "any"})
# Words that say when something is told, not what.
TIME = _set(
    "now currently actually today presently henceforth meanwhile already still just also "
    "really please anyway instead nowadays again"
)
NEGATIONS = _set(
    "not no never none nobody nothing neither nor without cannot avoid stop forbid forbidden "
    "nicht kein keine keinen nie niemals ohne ne pas jamais sans nunca nicht sin не нет"
)
# Words that nearly every statement about a project has: sharing them says nothing.
GENERIC = _set(
    "we i you they it our my your their this that these those here there all every each always "
    "is are was were be been being has have had do does did will would shall should must may can "
    "use uses used using run runs running want wants need needs prefer prefers like likes keep "
    "keeps make makes get gets put puts go goes set sets take takes repo repository project team "
    "codebase code base thing things in on at to of for from by with via as and or but than so "
    "only when if into over under before after while until because since out up off per live "
    "lives listen listens stay stays store stores stored remember note work works default "
    "defaults called named kept new old"
)
# After one of these the rest of a sentence is what is said of its subject.
VERBS = _set(
    "time times "
    "is are was were be has have had uses use used runs run lives live listens listen stays stay "
    "sits sit goes go needs need requires require expires expire defaults default points point "
    "deploys deploy stores store writes write reads read ships ship starts start ends end means "
    "mean takes take keeps keep targets target expects expect costs cost belongs belong returns "
    "return allows allow holds hold prefer prefers like likes speak speaks call calls named "
    "called must should may can supports support works work sends send logs log builds build "
    "tests test hosts host pins pin serves serve formats format lints lint backs back caches "
    "cache connects connect happens happen freezes freeze meets meet begins begin opens open "
    "closes close caps cap limits limit retains retain rotates rotate lasts last polls poll "
    "waits wait retries retry ist sind läuft liegt heißt nutzt nutzen verwenden est sont utilise "
    "utilisons es son usa usamos"
)
_BEING = frozenset({"is", "are", "was", "were"})
_STATES = _set("on off open live ready available visible active free")
_IDENTITY = frozenset({("is",), ("are",)})
# One of several things may be used, liked or required at once; a subject is in one place only.
_MANY = _set(
    "use uses used like likes support supports have has need needs require requires prefer "
    "prefers speak speaks nutzen verwenden utilisons usamos"
)
# A number after one of these is a name: 'case 2' is another case, not the new value of 'case 1'.
NUMBERED = _set(
    "case step item ticket issue order phase example part chapter room row line question task "
    "story sprint milestone pr"
)
PREPOSITIONS = _set(
    "in on at to of for from by with via as into over under every until within after before about "
    "during per than behind through against"
)
# What turns two texts with the same words into two different statements.
_ORDERED = _set(
    "instead than over from to into before after replace replaced replaces not no never unless "
    "without by statt nicht au lieu pas en vez"
)
COUNTS = _set("one two three four five six seven eight nine ten eleven twelve a an half")
MOST_VALUE = 4
_NAMES = re.compile(
    r"(?!(?:the|our|my|this|that|all|every|each|an?)\b)\w\S*(?:\s\S+)?\s(?:is|are)\s(?:the|our|my)\b",
    re.IGNORECASE,
)
# What a statement says of the value before: '..., not 8080', '... instead of npm'.
_BEFORE = re.compile(
    r"\s*[,(]?\s*\b(?:instead of|rather than|in place of|statt|au lieu de|en vez de)\b[^,;.]*"
    r"|\s*[,(]\s*(?:and\s+|but\s+)?(?:not|no longer|nicht|pas)\b[^,;.]*"
    r"|(?<=\d)\s+not\s+\S+[.!]?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """The words of one statement in order, folded; `content` are those that carry a subject."""

    words: tuple[str, ...]
    content: frozenset[str]
    denies: bool
    unique: bool
    """False where the subject is one of many: 'a bucket stands in room 1'."""
    names: bool
    """Whether a name stands first and says what it is: 'Alice is the owner of billing'."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The one place in which two statements differ."""

    before: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    after: tuple[str, ...]


@lru_cache(maxsize=4096)
def frame(text: str) -> Frame:
    """Take a statement apart."""
    raw = words(_BEFORE.sub(" ", text)) or words(text)
    kept = tuple(w for w in raw if w not in ARTICLES and w not in TIME)
    denies = any(negates(w) for w in kept)
    content = frozenset(stem(w) for w in kept if w not in GENERIC and not negates(w))
    unique = not (raw and raw[0] in ARTICLES - {"the"})
    return Frame(kept, content, denies, unique, bool(_NAMES.match(text)))


def words(text: str) -> tuple[str, ...]:
    """Every token, folded; paths, addresses and versions stay whole."""
    plain = text.replace("\u2019", "'").replace("`", " ")
    found = _TOKEN.findall(plain.casefold())
    return tuple(word.rstrip(".:,;/\\'") or word for word in found)


def stem(word: str) -> str:
    """Plural, -ed and -ing taken off, so that 'tests' and 'test' are one subject."""
    if not word.isalpha():
        return word
    for end in ("ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 3 and not word.endswith("ss"):
            return word[: -len(end)]
    return word


def slot(new: Frame, old: Frame) -> Slot | None:
    """Where two statements differ, if that is one short place; None otherwise."""
    if new.denies != old.denies or new.words == old.words:
        return None
    a, b = new.words, old.words
    most = min(len(a), len(b))
    head = 0
    while head < most and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < most - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    mine, theirs = a[head : len(a) - tail], b[head : len(b) - tail]
    if not (0 < len(mine) <= MOST_VALUE and 0 < len(theirs) <= MOST_VALUE):
        return None
    return Slot(a[:head], theirs, mine, a[len(a) - tail :])


def is_value(place: Slot, *, unique: bool, names: bool) -> bool:
    """Tell whether the place holds a value that its subject has one of at a time.

    A place before the verb is the subject itself: 'staging' and 'production' are two servers.
    """
    if _amounts(place):
        return _tells((*place.before, *place.after))
    if not unique:
        return False
    if not place.before:
        # 'Alice is the owner of billing.'
        return names and place.after[:1] in _IDENTITY and _tells(place.after[1:])
    if any(negates(w) or w in PREPOSITIONS | _BEING for w in (*place.new, *place.old)):
        # More than a value differs: 'is deployed on Fridays' and 'is pinned to 3.2'.
        return False
    if place.before[:1] and digits(place.before[:1]):
        # The number is said first, so what follows is whose it is.
        return False
    if place.before[-1] in NUMBERED:
        return False
    verb = next((i for i, w in enumerate(place.before) if w in VERBS), None)
    if verb is None:
        return _ends_in_a_name(place)
    if not digits(place.new) and not digits(place.old) and _typed((*place.before, *place.after)):
        # The value stands elsewhere, so what differs is whose it is.
        return alike(place.new, place.old)
    if digits(place.new) and digits(place.old):
        new, old = ([w for w in part if not digits((w,))] for part in (place.new, place.old))
        if new and old and new != old and not alike(tuple(new), tuple(old)):
            # 'The mail cache 60', 'the web shop 90': the number differs, and so does whose it is.
            return False
        return _tells((*place.before, *place.after)) or alike(place.new, place.old)
    if place.before[-1] in {"for", "of", "before", "after"} and not _asks_for_one(place):
        # The purpose differs, not the value: 'Redis for caching' and 'Redis for queues'.
        return False
    if verb == len(place.before) - 1 == 0:
        # 'Run the tests' and 'run the linter': two orders.
        return alike(place.new, place.old)
    if place.before[verb] in _MANY and verb == len(place.before) - 1:
        return alike(place.new, place.old) or _tells(place.after)
    if verb == len(place.before) - 1 and _tells(place.after) and place.before[verb] not in _BEING:
        # Of what a verb is about there may be many: 'we deploy the shop on Mondays'.
        return alike(place.new, place.old)
    return _tells((*place.before, *place.after)) or alike(place.new, place.old)


def _amounts(place: Slot) -> bool:
    """Whether both are so much of one sort: 'six hours' and '45 minutes', 'two' and 'six' hours."""
    if not place.before or place.before[-1] in NUMBERED:
        return False
    new, old = place.new, place.old
    if len(new) == len(old) == 1:
        return {*new, *old} <= COUNTS and bool(kinds().get(place.after[0] if place.after else ""))
    # 'One hour' has lost its article.
    counted = [digits(part[:1]) or part[0] in COUNTS for part in (new, old)]
    units = [part[1:] if counts else part for part, counts in zip((new, old), counted, strict=True)]
    return any(counted) and all(len(unit) == 1 for unit in units) and alike(*units)


def _asks_for_one(place: Slot) -> bool:
    """Whether the preposition belongs to what is said: 'is on for', 'waits for ... to finish'."""
    before = place.before
    if (
        before[-3:-2]
        and before[-3] in _BEING
        and (before[-2] in _STATES or before[-2][-2:] == "ed")
    ):
        return True
    verb = before[:-2] if before[-2:-1] == ("part",) else before[:-1]
    # What stands after both says what they are: 'is part of the ... repository'.
    return bool(place.after) and verb[-1:] != () and verb[-1] in VERBS and _tells(verb[:-1])


def _ends_in_a_name(place: Slot) -> bool:
    """Whether something is done with, in or to another thing: 'we monitor production with Zabbix'.

    What is done must be said in two words at least besides; 'ship with care' says too little. In
    three where nobody says who: 'the export dashboard authenticates callers with API keys'.
    """
    said = [w for w in place.before[:-1] if w not in GENERIC and w not in PREPOSITIONS]
    return (
        not place.after
        and (place.before[0] in {"we", "you"} or len(said) > 2)
        and place.before[-1] in {"with", "in", "to", "on", "by", "from"}
        and len(said) >= 2
        and len(place.new) <= 2
        and len(place.old) <= 2
    )


def digits(part: tuple[str, ...]) -> bool:
    """Tell whether a value is made of numbers, versions or amounts."""
    return any(c.isdigit() for word in part for c in word)


def _typed(rest: tuple[str, ...]) -> bool:
    """Whether a number or a path is among the words."""
    counted = COUNTS - {"a", "an", "one", "half"}
    return any(word in counted or any(c.isdigit() or c in "/`#" for c in word) for word in rest)


def alike(new: tuple[str, ...], old: tuple[str, ...]) -> bool:
    """Tell whether two names are known to stand for the same kind of thing."""
    known = kinds()
    mine = set[str]().union(*(known.get(w, frozenset()) for w in new))
    return bool(mine & set[str]().union(*(known.get(w, frozenset()) for w in old)))


def frame_key(owner_key: str, text: str) -> str:
    """Equal for statements whose words differ in numbers, versions and dates alone."""
    masked = " ".join("#" if digits((w,)) else w for w in frame(text).words)
    return hashlib.sha1(f"{owner_key}\n{masked}".encode()).hexdigest()[:16]


def words_key(owner_key: str, text: str) -> str:
    """Equal for the same words in another order, where order does not make the meaning."""
    plain = normalised(text).split(" ")
    if not _ORDERED & set(plain):
        plain = sorted(plain)
    return hashlib.sha1(f"{owner_key}\n{' '.join(plain)}".encode()).hexdigest()[:16]


def negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _tells(rest: tuple[str, ...]) -> bool:
    return any(w not in GENERIC and w not in PREPOSITIONS for w in rest)


@lru_cache(maxsize=1)
def kinds() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, members in word_lists.named(Path(__file__).with_name("kinds.txt")).items():
        for member in members:
            found.setdefault(member, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}
