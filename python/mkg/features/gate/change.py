"""Whether two statements give one subject two values, told in other words or in another order.

A statement is taken as its words without order. What only one of the two says is its value, if that
is one short run of words of a kind that both share, and if all else is said by both or says nothing
of its own.
"""

import re
from dataclasses import dataclass

from mkg.features.gate.frame import ARTICLES, NUMBERED, PREPOSITIONS, VERBS
from mkg.features.gate.statement import (
    UNITS,
    Said,
    Token,
    about,
    about_any,
    empty,
    idle,
    key,
    kind,
    kind_of_any,
    light,
    one_thing,
    run_of,
    sorts,
    things,
)
from mkg.same_words import base, root, sense

MOST_UNSAID = 2
# What a new statement says of a change: then an earlier value was there.
_NOW = frozenset(["now", "anymore", "henceforth", "today"])
# Verbs that a value follows, besides those of frames.
_SAID = frozenset(["is", "are", "use", "take", "ask", "page", "see"])
# Of these a thing has one at a time.
_SOLE = frozenset(
    ["own", "lead", "head", "manag", "maintain", "contact", "respons", "charg", "captain", "oncal"]
)
# Sorts of values of which a thing has one, whatever is said of it.
_STRONG = frozenset(
    ["money", "licence", "channel", "host name", "email", "tongue", "branch", "merging", "secrets",
     "ci", "tracker", "chat", "packages", "js_lint", "bundler", "shell"]
)  # fmt: skip
# What a sentence says of a value that is no more; and of a person.
_LEFT = frozenset(["left", "instead", "longer", "dead", "gone", "retired", "quit", "rather"])
_WENT = _LEFT | frozenset(
    ["from", "not", "trouble", "was", "were", "former", "formerly", "old", "previous", "until",
     "anymore", "dropped", "replaced", "renamed", "moved", "went", "place", "closed", "broken"]
)  # fmt: skip
# What says that nothing has gone.
_BOTH = frozenset(["both", "also", "either", "too", "neither", "besides", "additionally"])
# Sorts of which a bare number may be a value: what is counted tells which.
_COUNTED = frozenset({"number", *UNITS})
# A statement that says otherwise what the value is of is further off than any that does not.
FAR = 10
# Values that hardly two things have.
_RARE = frozenset({"path", "host name", "email", "channel"})
# What is read from one place and written to another has two places.
_WAYS = (
    frozenset({"read", "import", "receiv", "pull", "get", "fetch", "download"}),
    frozenset({"write", "writ", "export", "send", "push", "giv", "upload"}),
)


@dataclass(frozen=True, slots=True)
class Apart:
    """What two statements share, and what only one of them says."""

    shared: frozenset[str]
    mine: tuple[Token, ...]
    theirs: tuple[Token, ...]


def apart(new: Said, old: Said) -> Apart:
    """Compare two statements word by word, whatever their order."""
    mine, theirs = _joined(new, old), _joined(old, new)
    a, b = {key(t) for t in mine}, {key(t) for t in theirs}
    return Apart(
        frozenset(a & b),
        tuple(t for t in mine if key(t) not in b),
        tuple(t for t in theirs if key(t) not in a),
    )


def _joined(mine: Said, theirs: Said) -> list[Token]:
    """The tokens of one, with two as one word where the other writes them so: 'time out'."""
    there = {key(t) for t in theirs.tokens}
    found: list[Token] = []
    for place, word in enumerate(mine.every[:-1]):
        both = word + mine.every[place + 1]
        if word.isalpha() and root(both) in there and root(word) not in there:
            found.append(Token(place, both, False, False))
    gone = {p for t in found for p in (t.place, t.place + 1)}
    return sorted([*found, *(t for t in mine.tokens if t.place not in gone)], key=lambda t: t.place)


def gives_another(new: Said, old: Said, *, corrects: bool = False) -> bool:
    """Tell whether `new` gives the subject of `old` another value, without naming the old one."""
    if new.denies != old.denies or not (new.one and old.one):
        return False
    found = apart(new, old)
    for words in _abouts(found):
        mine = _value(found.mine, words)
        theirs = _value(found.theirs, words)
        if not (run_of(mine, new) and run_of(theirs, old)):
            continue
        both = kind(mine) & kind(theirs)
        shared = {w for w in found.shared if w not in light() and w not in words}
        whole = not shared and bool(words) and _ours(new) and _ours(old)
        marked = corrects or bool(_NOW & {*new.every, *old.every})
        if not both or not (shared or whole) or _ways(found):
            continue
        if "name" in both and not (marked or shared & _SOLE):
            continue
        if _told(mine, new, both) and _told(theirs, old, both):
            return True
    # In this order: most pairs have no such sort, and nothing else need be looked at.
    return _one_of_a_kind(found, new, old) and not (_ways(found) or two_things(new, old))


def _one_of_a_kind(found: Apart, new: Said, old: Said) -> bool:
    """Whether both give a subject a value of a sort of which it has one, whatever the words.

    'Sits in B214' and 'you find them in E007': a room. Of numbers, paths and names there are many.
    """
    for mine in found.mine:
        for theirs in found.theirs:
            sort = kind((mine,)) & kind((theirs,))
            if not sort or not (_strong(sort) or _counted(mine, new, theirs, old)):
                continue
            words = about_any(sort)
            left = [[t for t in side if t not in {mine, theirs} and not idle(t, words)]
                    for side in (found.mine, found.theirs)]  # fmt: skip
            known = {w for w in found.shared if w not in light()}
            if known and all(len(side) <= MOST_UNSAID for side in left):
                return not any(kind((t,)) & sort for side in left for t in side)
    return False


def _strong(sort: frozenset[str]) -> bool:
    return bool(sort & _STRONG) or any(one.startswith("id ") for one in sort)


def _counted(mine: Token, new: Said, theirs: Token, old: Said) -> bool:
    """Whether both numbers are a rate, 'requests a minute', or an amount of money."""
    one, other = (_counts(t, whole) for t, whole in ((mine, new), (theirs, old)))
    return one is not None and one == other


def _counts(number: Token, whole: Said) -> str | None:
    """What a number is an amount of, where that tells enough: 'euro', 'request/minute'."""
    after = whole.every[number.place + 1 : number.place + 4]
    if after and "currency" in sorts(after[0]):
        return "currency"
    if len(after) == 3 and after[1] in {"a", "per", "an", "each"} and "duration" in sorts(after[2]):
        return f"{sense(after[0])}/{sense(after[2])}"
    return None


def two_things(new: Said, old: Said, values: frozenset[str] = frozenset()) -> bool:
    """Whether they speak of two things: 'the plan of the kiosk', 'the plan of the web shop'.

    Whose it is mostly stands last; else each has to name something that the other does not. What
    has a value in its name, 'the raw-landing bucket', is the value.
    """
    one, other = (
        [t for t in things(side) if values.isdisjoint(map(key, t))] for side in (new, old)
    )
    if not one or not other or one_thing(one[-1], other[-1]):
        return False
    return all(
        any(not any(one_thing(thing, known) for known in there) for thing in here)
        for here, there in ((one, other), (other, one))
    )


def takes_over(new: Said, old: Said) -> int | None:
    """How far `old` is from a sentence that has its value, another, and says that something went.

    'b.dev is dead, the address is c.dev', 'Ann has left, Bo does the licences'.
    """
    every = {*new.every}
    if not every & _WENT or every & _BOTH or two_things(new, old):
        return None
    found = apart(new, old)
    theirs = {key(t): t for t in old.tokens}
    for here in new.tokens:
        was = theirs.get(key(here))
        if was is None or idle(here):
            continue
        sort = kind((here,)) & kind((was,))
        given = [t for t in found.mine if kind((t,)) & sort]
        if not sort or len(given) != 1 or not run_of((here,), new):
            continue
        if "name" in sort and not every & _LEFT:
            continue
        if sort & _COUNTED and not _counts_alike(was, old, new):
            continue
        words = about_any(sort)
        known = {w for w in found.shared if w not in light() and w not in words} - {key(here)}
        if known or (_strong(sort) and _ours(new) and _ours(old)):
            return FAR + len([t for t in (*found.mine, *found.theirs) if not idle(t, words)])
    return None


def _counts_alike(was: Token, old: Said, new: Said) -> bool:
    """Whether what the old number counts is spoken of: 'threads' of '32 threads'."""
    after = [w for w in old.every[was.place + 1 : was.place + 4] if not empty(w)]
    before = [w for w in old.every[max(0, was.place - 2) : was.place] if not empty(w)]
    said = {key(t) for t in new.tokens}
    return any(sense(w) in said for w in (after[:2] or before))


def replaces_in(new: Said, old: Said, gone: Said, given: Said, likely: Said) -> int | None:
    """How far `old` is from what `new` replaces in it; None where it speaks of something else.

    Args:
        gone: the value that `new` says is replaced.
        given: the value that takes its place, empty where that is not told apart.
        likely: `given`, or else what stands where it mostly does.
    """
    value = {key(t) for t in gone.tokens if not idle(t)} or {key(t) for t in gone.tokens}
    there = {key(t) for t in old.tokens}
    later = {key(t) for t in given.tokens if not idle(t)}
    if not value or not value <= there or (later and later <= there):
        return None
    sort = kind(tuple(t for t in gone.tokens if key(t) in value)) or kind(gone.tokens)
    found = apart(new, old)
    words = about_any(sort)
    shared = found.shared - value
    mine = tuple(t for t in found.mine if not idle(t, words) and key(t) not in later)
    went = {key(t) for t in gone.tokens}
    theirs = tuple(t for t in found.theirs if not idle(t, words) and key(t) not in went)
    if not later:
        # The new value stands where it mostly does, is what is of the old one's sort, or the only
        # thing that is left.
        taken = {key(t) for t in likely.tokens}
        mine = tuple(t for t in mine if key(t) not in taken and not (sort and kind((t,)) & sort))
    most = MOST_UNSAID + (4 if _one_subject(new, old, value) else 1)
    if len(mine) > most or len(theirs) > most:
        return None
    if mine and theirs:
        # 'Boots from a.py, no longer from b.py' and 'the entry is b.py': few things are b.py.
        known = {w for w in shared if w not in light()}
        far = len(mine) + len(theirs)
        if not known and _ours(new) and _ours(old) and (sort or any(t.name for t in gone.tokens)):
            # 'Our dashboards are in Grafana, no longer in Zabbix', 'we monitor with Zabbix'.
            return None if sort & _COUNTED else 2 * FAR + far
        values = frozenset(value | later | {key(t) for t in likely.tokens})
        if two_things(new, old, values):
            return None
        if not known:
            # 'New rows get their time in Asia/Tokyo, not Europe/Berlin', 'we store times in ...'.
            general = _strong(sort) or (sort & _RARE and _ours(old) and not things(old))
            return 3 * FAR + far if general and len(theirs) == 1 else None
        sure = not sort & _COUNTED or _telling(sort) or _of_the_same(old, new, gone)
        return FAR + far if sure else None
    if max(len(mine), len(theirs)) > MOST_UNSAID:
        return None
    ours = _ours(old) or _ours(new) or (_strong(sort) and not things(new))
    whole = not mine and not theirs and bool(words) and ours
    return len(mine) + len(theirs) if shared or whole else None


def _one_subject(new: Said, old: Said, value: set[str]) -> bool:
    """Whether both name one thing, besides the value."""
    return any(
        one_thing(one, other) and not {key(t) for t in one} & {key(t) for t in other} <= value
        for one in things(new)
        for other in things(old)
    )


def _of_the_same(old: Said, new: Said, gone: Said) -> bool:
    """Whether what the old number counts is spoken of: '4 retries' in 'is retried 4 times'."""
    if len(gone.tokens) > 1 or kind(gone.tokens) & UNITS:
        # 'Four hours', 'an hour': the number and what it is of.
        return True
    if any(len(re.sub(r"\D", "", t.word)) > 2 for t in gone.tokens):
        # Hardly two numbers of one thing are both 99.7 or 132.
        return True
    value = {key(t) for t in gone.tokens}
    spoken = things(new)
    last = [one for one in things(old)[-1:] if any(one_thing(one, other) for other in spoken)]
    whose = {key(t) for one in last for t in one} & {key(t) for one in spoken for t in one}
    said = {key(t) for t in new.tokens}
    told = {key(t) for t in old.tokens} - value - whose
    return any(word in said and word not in light() for word in told)


def _telling(sort: frozenset[str]) -> bool:
    """Whether a value is of a sort of which hardly two things have the same: a path, a command."""
    return not sort.isdisjoint({*_RARE, "code"}) or sort == frozenset({"version"})


def _value(tokens: tuple[Token, ...], about: frozenset[str]) -> tuple[Token, ...]:
    """What is left without idle words, and without what the value repeats: 'the rack is rack-7'."""
    left = tuple(t for t in tokens if not idle(t, about))
    first = {t.word.partition("-")[0] for t in left if "-" in t.word}
    return tuple(t for t in left if t.word not in first)


def _abouts(found: Apart) -> list[frozenset[str]]:
    """What may be said of values of a kind that both name, besides nothing."""
    none: frozenset[str] = frozenset()
    both = kind_of_any(found.mine) & kind_of_any(found.theirs)
    return [none, *(about().get(one, none) for one in sorted(both))]


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
        return acts if "name" in both else not both.isdisjoint({"code", *_COUNTED})
    if before[-1] in NUMBERED:
        return False
    vague = both <= {"name"} or any(one.startswith("id ") for one in both)
    if vague and before[-1] in {"of", "for", "before", "after", *ARTICLES}:
        return False
    if before[-1] in PREPOSITIONS or not any(w in VERBS or w in _SAID for w in after):
        return True
    return any(w in VERBS or w in _SAID or base(w) in light() for w in before)
