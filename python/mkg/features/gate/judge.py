"""What a model says of candidates: a second screen, and which statements contradict.

A model may only lower: a block, a veto or a doubt counts at once, a pass raises nothing above what
the origin allows. Whatever is missing or doubtful in a reply makes its row wait (SEC-23, MEM-W15).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, Field

from mkg.features.gate.decide import Blocked, Outcome, Waits
from mkg.json_shape import as_object
from mkg.llm import Failed, Model, Replied, Skipped

AT_ONCE = 8
UNANSWERED = "model"
Item = TypeVar("Item")
Answer = TypeVar("Answer")
_CATEGORIES = ("injection", "privilege", "secret", "other")


def _one_of(*allowed: str, otherwise: str) -> BeforeValidator:
    return BeforeValidator(lambda value: value if value in allowed else otherwise)


_Reason = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]


def _numbered(value: object) -> object:
    """Keep the entries of a list that have a number; the others say nothing of anybody."""
    if not isinstance(value, list):
        return value
    return [e for e in cast(list[object], value) if isinstance(as_object(e).get("n"), int)]


def _named(value: object) -> object:
    """Keep the entries of a list that have an id; the others say nothing of anybody."""
    if not isinstance(value, list):
        return value
    return [e for e in cast(list[object], value) if isinstance(as_object(e).get("id"), str)]


class Screened(BaseModel):
    n: int
    verdict: Annotated[
        Literal["pass", "block", "none"], _one_of("pass", "block", otherwise="none")
    ] = "none"
    category: Annotated[
        Literal["injection", "privilege", "secret", "other"],
        _one_of(*_CATEGORIES, otherwise="other"),
    ] = "other"
    reason: _Reason = ""


class ScreenReply(BaseModel):
    verdicts: Annotated[list[Screened], BeforeValidator(_numbered)]


class Contradiction(BaseModel):
    id: str
    winner: Annotated[
        Literal["new", "existing", "unclear"], _one_of("new", "existing", otherwise="unclear")
    ] = "unclear"
    reason: _Reason = ""


class Judgement(BaseModel):
    id: str
    contradictions: Annotated[list[Contradiction], BeforeValidator(_named)] = Field(
        default_factory=list[Contradiction]
    )
    restates: str | None = None


class JudgeReply(BaseModel):
    judgements: Annotated[list[Judgement], BeforeValidator(_named)]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge said of one candidate, by the real ids of its neighbours."""

    model: str
    prompt: str
    seen: frozenset[str] = frozenset()
    verdicts: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def of(self, id: str) -> tuple[str, str] | None:
        """The kind of relation to one neighbour and why, if there is one."""
        return self.verdicts.get(id)

    def saw(self, id: str) -> bool:
        """Whether the judge was shown this neighbour."""
        return id in self.seen


@dataclass(frozen=True, slots=True)
class Second:
    """What the second screen says of one candidate: an outcome, or its stamp when it passed."""

    outcome: Outcome | None
    model: str | None


def second_screen(model: Model, texts: Mapping[int, str]) -> dict[int, Second]:
    """Ask once for every few texts; a text without a clear verdict waits."""

    def ask(part: Sequence[tuple[int, str]]) -> Replied[ScreenReply] | Skipped | Failed:
        data = {"texts": [{"n": n, "text": text} for n, (_, text) in enumerate(part, 1)]}
        return model.ask("screen", data, ScreenReply)

    found: dict[int, Second] = {}
    for part, answer in _asked(ask, list(texts.items())):
        for n, (no, _) in enumerate(part, 1):
            found[no] = _screened(answer, n)
    return found


def _screened(answer: Replied[ScreenReply] | Skipped | Failed, n: int) -> Second:
    if isinstance(answer, Skipped):
        return Second(None, None)
    if isinstance(answer, Failed):
        return Second(Waits("candidate", UNANSWERED, f"the screen failed: {answer.reason}"), None)
    said = [v for v in answer.value.verdicts if v.n == n]
    blocked = next((v for v in said if v.verdict == "block"), None)
    if blocked is not None:
        reason = blocked.reason[:280] or "the model screen refused it"
        return Second(Blocked(blocked.category, "model screen", reason), answer.model)
    if not said or any(v.verdict != "pass" for v in said):
        return Second(Waits("candidate", UNANSWERED, "the screen gave no verdict"), answer.model)
    return Second(None, answer.model)


def judge(
    model: Model,
    texts: Mapping[int, str],
    neighbours: Mapping[int, Sequence[Mapping[str, Any]]],
    replaces: Mapping[int, str] | None = None,
) -> dict[int, Judged | Waits]:
    """Ask about every candidate that has neighbours; the others are not asked about.

    `replaces` holds what a candidate's turn says is the old value: a hint to read it by.
    """
    hints = replaces or {}

    def ask(part: Sequence[tuple[int, str]]) -> Replied[JudgeReply] | Skipped | Failed:
        tables = _tables(part, neighbours)
        shown = [
            {
                "id": f"c{n}",
                "text": text,
                **({"replaces": hints[no]} if no in hints else {}),
                "beside": [_shown(name, other) for name, other in tables[no].items()],
            }
            for n, (no, text) in enumerate(part, 1)
        ]
        return model.ask("judge", {"candidates": shown}, JudgeReply)

    found: dict[int, Judged | Waits] = {}
    asked = [(no, text) for no, text in texts.items() if neighbours.get(no)]
    for part, answer in _asked(ask, asked):
        if isinstance(answer, Skipped):
            continue
        tables = _tables(part, neighbours)
        for n, (no, _) in enumerate(part, 1):
            found[no] = _judged(answer, f"c{n}", tables[no])
    return found


def _tables(
    part: Sequence[tuple[int, str]], neighbours: Mapping[int, Sequence[Mapping[str, Any]]]
) -> dict[int, dict[str, Mapping[str, Any]]]:
    """The names that this call gives to the neighbours of each candidate: m1, m2, ..."""
    numbers = count(1)
    return {no: {f"m{next(numbers)}": other for other in neighbours[no]} for no, _ in part}


def _shown(name: str, other: Mapping[str, Any]) -> dict[str, object]:
    shown: dict[str, object] = {
        "id": name,
        "text": other["text"],
        "status": other["status"],
        "confidence": other.get("confidence"),
        "sessions": other.get("support_count"),
        "changed": str(other.get("from") or ""),
    }
    if not other["live"]:
        shown["refused"] = True
    return shown


def _judged(
    answer: Replied[JudgeReply] | Failed, name: str, table: Mapping[str, Mapping[str, Any]]
) -> Judged | Waits:
    if isinstance(answer, Failed):
        return Waits("candidate", UNANSWERED, f"the judge failed: {answer.reason}")
    said = [j for j in answer.value.judgements if j.id == name]
    if len(said) != 1:
        return Waits("candidate", UNANSWERED, "the judge gave no clear answer")
    verdicts: dict[str, tuple[str, str]] = {}
    for one in said[0].contradictions:
        other = table.get(one.id)
        if other is None or not other["live"]:
            continue
        kind = {"new": "wins", "existing": "vetoed", "unclear": "unclear"}[one.winner]
        verdicts[str(other["id"])] = (kind, one.reason[:280] or "the judge says so")
    same = table.get(said[0].restates or "")
    if same is not None and str(same["id"]) not in verdicts:
        kind = "restates" if same["live"] else "refused"
        verdicts[str(same["id"])] = (kind, "says the same in other words")
    seen = frozenset(str(other["id"]) for other in table.values())
    return Judged(answer.model, answer.prompt, seen, verdicts)


def _asked(
    ask: Callable[[Sequence[Item]], Answer], items: Sequence[Item]
) -> Iterator[tuple[Sequence[Item], Answer]]:
    """Ask about a few at a time; where the answer is of no use, about halves of them.

    A text that spoils the answer, or that is too long, must not hold up those beside it. Where both
    halves fail it is not a text's fault, unless they are too long as well.
    """
    for start in range(0, len(items), AT_ONCE):
        part = items[start : start + AT_ONCE]
        yield from _halved(ask, part, ask(part))


def _halved(
    ask: Callable[[Sequence[Item]], Answer], part: Sequence[Item], answer: Answer
) -> Iterator[tuple[Sequence[Item], Answer]]:
    if not isinstance(answer, Failed) or not answer.reached or len(part) < 2:
        yield part, answer
        return
    middle = len(part) // 2
    halves = [(half, ask(half)) for half in (part[:middle], part[middle:])]
    hopeless = all(isinstance(said, Failed) and not said.cut for _, said in halves)
    for half, said in halves:
        if hopeless:
            yield half, said
        else:
            yield from _halved(ask, half, said)
