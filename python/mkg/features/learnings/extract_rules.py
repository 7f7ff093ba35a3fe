"""Decides what one sentence is: a request to remember, a correction, a decision or a fact."""

import re
from dataclasses import dataclass

from mkg.features.gate.correction import replaces
from mkg.features.learnings import extract_cues as cue
from mkg.features.learnings import extract_phrases as say
from mkg.features.learnings.extract_text import HIDDEN

_I = re.IGNORECASE
ASKED, CORRECTED, DECIDED, STATED, PREFERRED = (
    "asked to remember",
    "correction",
    "decision",
    "stated fact",
    "preference",
)


@dataclass(frozen=True, slots=True)
class Found:
    """A statement inside a sentence: `start:end` are offsets into the sentence."""

    start: int
    end: int
    reason: str
    explicit: bool
    confidence: float


def is_preference(statement: str) -> bool:
    """Tell whether a statement is about the person who speaks, and not about a project."""
    return bool(say.PREFERENCE.match(statement)) and not say.HERE.search(statement)


def asked(visible: str) -> Found | None:
    """Return the statement a person asked to remember, or the standing rule they laid down."""
    polite = bool(re.match(rf"^{say.FILLER}(?:can|could|would|will) you\b", visible, _I))
    if (say.QUESTION.search(visible) and not polite) or cue.FORGET_ONE.match(visible):
        return None
    for pattern in (cue.REFERENCE, cue.FROM_NOW, cue.REMEMBER, cue.NOTE, cue.FOREIGN_REMEMBER):
        if (match := pattern.match(visible)) is not None:
            return _after_lead_in(visible, match)
    for pattern in (cue.TRAILING, cue.FOREIGN_TRAILING):
        if (match := pattern.search(visible)) is not None and match.start() >= 4:
            start = _filler_end(visible)
            return Found(start, match.start(), ASKED, True, 0.9)
    return _standing(visible)


def _after_lead_in(visible: str, match: re.Match[str]) -> Found | None:
    start = match.end()
    rest = visible[start:]
    linked = match.groupdict().get("that") is not None or match.re not in (cue.REMEMBER, cue.NOTE)
    if (todo := cue.TODO.match(rest)) is not None:
        # 'Remember to run the tests' is a to-do of the moment, unless it says when else.
        if not cue.HABITUAL.search(rest):
            return None
        start += todo.end()
    elif not linked and cue.NOT_A_STATEMENT.match(rest):
        return None
    if not re.search(r"\w", rest):
        return None
    return Found(start, len(visible), ASKED, True, 0.9)


def _standing(visible: str) -> Found | None:
    match = cue.STANDING.match(visible)
    if match is not None and not cue.NOT_A_VERB.match(match.group("verb")):
        return Found(match.start("rule"), len(visible), ASKED, True, 0.85)
    habit = cue.HABIT.match(visible)
    if (
        habit is not None
        and "," in visible
        and not (say.HYPOTHETICAL.search(visible) or say.MOMENT.search(visible))
    ):
        return Found(habit.start("rule"), len(visible), ASKED, True, 0.7)
    if cue.FOREIGN_STANDING.match(visible):
        return Found(_filler_end(visible), len(visible), ASKED, True, 0.8)
    return None


def stated(visible: str) -> Found | None:
    """Return what a sentence states without being asked to be remembered, or None."""
    main = say.WHY.split(visible, maxsplit=1)[0]
    if say.QUESTION.search(visible) or cue.FORGET_ONE.match(visible):
        return None
    if say.HYPOTHETICAL.search(main) or say.ABANDONED.search(say.USED_TO_AND_NOW.sub("", main)):
        return None
    for judge in (_correction, _decision, _preference, _fact, _replacement):
        if (found := judge(visible, main)) is not None:
            return found
    return None


def reports_decision(visible: str) -> Found | None:
    """Return a decision an assistant reports; anything else an assistant says is not kept."""
    if (
        say.QUESTION.search(visible)
        or say.HYPOTHETICAL.search(visible)
        or say.ABANDONED.search(visible)
    ):
        return None
    if re.search(
        r"\b(?:from memory|i recall|i remember|as recorded|my notes|earlier session|remembered)\b",
        visible,
        _I,
    ):
        return None
    reported = re.match(
        r"^(?:as )?(?:we|you|the team)(?:'ve| have)?\s+(?:decided|agreed|chose|settled)\b",
        visible,
        _I,
    )
    return Found(0, len(visible), DECIDED, False, 0.3) if reported else None


def _filler_end(visible: str) -> int:
    match = re.match(say.FILLER, visible, _I)
    return match.end() if match else 0


def _correction(visible: str, main: str) -> Found | None:
    match = say.CORRECTION.match(visible)
    start = match.end() if match else 0
    rest = visible[start:]
    if say.NOT_X_Y.match(rest):
        return Found(start, len(visible), CORRECTED, False, 0.4)
    if match is None:
        if say.USE_INSTEAD.match(visible) and not say.MOMENT.search(main):
            everywhere = bool(cue.HABITUAL.search(visible) or say.HERE.search(visible))
            return Found(0, len(visible), CORRECTED, everywhere, 0.6 if everywhere else 0.4)
        return None
    if _is_statement(rest) and not say.MOMENT.search(main):
        return Found(start, len(visible), CORRECTED, True, 0.8)
    if say.USE_INSTEAD.match(rest):
        return Found(start, len(visible), CORRECTED, False, 0.5)
    copula = re.match(
        r"^(?:it|they)(?:'s|'re| is| are)\s+(?!(?:fine|ok|okay|good|not|still|working|done)\b)\S",
        rest,
        _I,
    )
    if copula and not say.MOMENT.search(rest):
        return Found(start, len(visible), CORRECTED, False, 0.4)
    noun = re.match(
        rf"^(?:the|our|all|\w+)\s+(?:[\w./@`'-]+\s+){{0,5}}?(?:was|{say.IS})\s+\S",
        rest,
        _I,
    )
    # 'No, the service listens on 9090': any standing fact after such an opening corrects another.
    if (noun or say.FACT_NP.match(rest)) and not say.NO_TALK.match(rest):
        if say.MOMENT.search(rest):
            return None
        return Found(start, len(visible), CORRECTED, True, 0.7)
    return None


def _replacement(visible: str, main: str) -> Found | None:
    """Something in place of something else, or said after a 'no'.

    It is not explicit: the gate approves it only where it gives a known subject another value.
    """
    match = say.CORRECTION.match(visible)
    start = match.end() if match else _filler_end(visible)
    rest = visible[start:]
    named = replaces(rest) is not None
    moment = say.VERY_MOMENT if named else say.MOMENT
    if moment.search(main) or say.PRONOUN.match(rest):
        return None
    if say.NO_TALK.match(rest) and not say.YOU_DO.match(rest):
        return None
    valued = say.VALUED.search(rest) or say.OF_A_THING.match(rest) or say.NAME_FIRST.match(rest)
    if named or (match is not None and valued):
        return Found(start, len(visible), CORRECTED, False, 0.4)
    return None


def _is_statement(rest: str) -> bool:
    patterns = (say.FACT_WE, say.FACT_OUR, say.FACT_OTHER, say.DECISION)
    return not say.PRONOUN.match(rest) and any(pattern.match(rest) for pattern in patterns)


def _decision(visible: str, main: str) -> Found | None:
    reasoned = bool(say.WHY.search(visible))
    start = _filler_end(visible)
    if say.DECISION.search(visible) and not say.MOMENT.search(main):
        return Found(start, len(visible), DECIDED, True, 0.8 if reasoned else 0.7)
    if say.LETS.match(visible) and reasoned and not say.MOMENT.search(main):
        return Found(start, len(visible), DECIDED, True, 0.6)
    return None


def _preference(visible: str, main: str) -> Found | None:
    if say.PREFERENCE.search(main) and not say.MOMENT.search(main):
        return Found(_filler_end(visible), len(visible), PREFERRED, True, 0.8)
    return None


def _fact(visible: str, main: str) -> Found | None:
    if say.MOMENT.search(main):
        return None
    start, end = _filler_end(visible), len(visible)
    if say.FACT_WE.match(visible) or say.FACT_OUR.match(visible) or say.FACT_OTHER.match(visible):
        return Found(start, end, STATED, True, 0.75)
    if say.FACT_TOLD.match(visible):
        return Found(start, end, STATED, False, 0.4)
    if say.FACT_NP.match(visible):
        firm = bool(say.CONTRAST.search(visible) or say.UNIVERSAL.search(visible))
        return Found(start, end, STATED, firm, 0.7 if firm else 0.5)
    return None


def hides_something(visible: str) -> bool:
    """Tell whether a sentence is mostly someone else's words, or has hidden markup inside."""
    if HIDDEN not in visible:
        return False
    longest = max((len(run) for run in re.findall(f"{HIDDEN}+", visible)), default=0)
    outside = re.search(rf"(?<![\"\u201c\u201e\u00ab'\u2018\u300c\u300e{HIDDEN}]){HIDDEN}", visible)
    return longest > 120 or outside is not None
