"""The gate's own decision on a text: pure, offline, before any server sees it (SEC-42)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mkg.features.reader import paths
from mkg.features.reader.lexer import Token, Unreadable, lex
from mkg.features.reader.policy import Policy, load_policy
from mkg.features.reader.roles import Role, roles

MOST_BYTES = 8 * 1024
MOST_NESTING = 64
MOST_TOKENS = 1500
MOST_SUBQUERIES = 4
"""Levels of subqueries: with each, the server's rewriting takes several times longer."""
MOST_OPERATORS = 150
"""Operators in one row: each is a level of the server's recursion, though nothing is nested."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_OPERATORS = frozenset({"not", "and", "or", "xor", "is", "in", "contains"})
_CLAUSES = frozenset({"with", "match", "return", "where", "unwind", "union"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says; the reason names a kind and a place, never the text around it."""

    allowed: bool
    reason: str
    statement: str = ""
    """The text to run: without a closing semicolon. Empty when refused."""


class Objection(Exception):
    """A rule says no."""


def decide(text: str, policy: Policy | None = None) -> Verdict:
    """Whether a text may go to the server."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return Verdict(False, f"longer than {MOST_BYTES} bytes")
    try:
        tokens = lex(text)
        statement, tokens = _one_statement(text, tokens)
        _check(tokens, policy or load_policy())
    except Unreadable as error:
        return Verdict(False, f"{error.reason} ({_place(text, error.at)})")
    except Objection as error:
        reason, at = str(error.args[0]), error.args[1]
        return Verdict(False, f"{reason} ({_place(text, at)})")
    return Verdict(True, "reads only", statement)


def _place(text: str, at: int) -> str:
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - before.rfind(chr(10))}"


def _one_statement(text: str, tokens: tuple[Token, ...]) -> tuple[str, tuple[Token, ...]]:
    if not tokens:
        raise Objection("no statement", 0)
    ends = [i for i, token in enumerate(tokens) if _is(token, ";")]
    if ends and ends[0] != len(tokens) - 1:
        raise Objection("more than one statement", tokens[ends[0]].at)
    if ends:
        return text[: tokens[-1].at], tokens[:-1]
    return text, tokens


def _check(tokens: tuple[Token, ...], policy: Policy) -> None:
    if not tokens:
        raise Objection("no statement", 0)
    if len(tokens) > MOST_TOKENS:
        raise Objection(f"more than {MOST_TOKENS} words and signs", tokens[MOST_TOKENS].at)
    if tokens[0].folded not in policy.first:
        raise Objection("it must begin with MATCH, OPTIONAL, UNWIND, WITH, RETURN or CALL", 0)
    if len(tokens) > 1 and _is(tokens[1], "="):
        # Behind `CYPHER 25` the server takes `RETURN = 1` for an option of the run, fails to say
        # why it does not know it, and then sends no answer at all.
        raise Objection("an expression is missing before the equals sign", tokens[1].at)
    closing = _brackets(tokens)
    names = roles(tokens)
    _no_tower(tokens, names)
    for i, token in enumerate(tokens):
        if token.kind == "word" and i not in names and token.folded in policy.refused:
            raise Objection(f"{token.folded.upper()} is refused here", token.at)
    called = _procedures(tokens, names, policy)
    _functions(tokens, names, called, policy)
    many = paths.too_many(tokens)
    if many is not None:
        message = f"more than {paths.MOST_RELATIONSHIPS} relationships in one query"
        raise Objection(message, tokens[many].at)
    place = paths.too_long(tokens, closing)
    if place is not None:
        message = f"a path or quantifier without a written bound of at most {paths.MOST_STEPS}"
        raise Objection(message, tokens[place].at)


def _brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Index of each opening bracket to that of its closing one."""
    closing: dict[int, int] = {}
    open_: list[int] = []
    cases = 0
    for i, token in enumerate(tokens):
        if token.kind == "word":
            cases += {"case": 1, "end": -1}.get(token.folded, 0)
            if cases > MOST_NESTING:
                raise Objection(f"nested deeper than {MOST_NESTING}", token.at)
        if token.kind != "sign":
            continue
        if token.text in _PAIRS:
            open_.append(i)
            if len(open_) > MOST_NESTING:
                raise Objection(f"nested deeper than {MOST_NESTING}", token.at)
            if sum(_opens_subquery(tokens, each) for each in open_) > MOST_SUBQUERIES:
                raise Objection(f"more than {MOST_SUBQUERIES} subqueries in each other", token.at)
        elif token.text in _PAIRS.values():
            if not open_ or _PAIRS[tokens[open_[-1]].text] != token.text:
                raise Objection("a bracket that was not opened", token.at)
            closing[open_.pop()] = i
    if open_:
        raise Objection("a bracket that is not closed", tokens[open_[-1]].at)
    return closing


def _opens_subquery(tokens: Sequence[Token], at: int) -> bool:
    """Whether a brace begins clauses: what is no map and no quantifier counts as such."""
    if tokens[at].text != "{":
        return False
    inside = tokens[at + 1 : at + 3]
    if len(inside) < 2 or inside[0].kind == "number":
        return False
    if inside[0].kind == "sign":
        return inside[0].text in {"(", "{"}
    return not (_is(inside[1], ":") or _is(inside[1], ",") or _is(inside[1], "}"))


def _no_tower(tokens: Sequence[Token], names: Mapping[int, Role]) -> None:
    """Refuse what nests without brackets: rows of operators, `NOT NOT`, `.a.a.a`, `[0][0]`."""
    high = [0]
    for i, token in enumerate(tokens):
        if token.kind == "sign":
            if token.text in ".[:+-*/%^=<>|&!":
                high[-1] += 1
            if token.text in _PAIRS:
                high.append(0)
            elif token.text in _PAIRS.values():
                high.pop()
            elif token.text == ",":
                high[-1] = 0
        elif token.kind == "word" and i not in names:
            if token.folded in _OPERATORS:
                high[-1] += 1
            elif token.folded in _CLAUSES:
                high[-1] = 0
        if high[-1] > MOST_OPERATORS:
            raise Objection(f"more than {MOST_OPERATORS} operators in one expression", token.at)


def _procedures(tokens: Sequence[Token], names: Mapping[int, Role], policy: Policy) -> set[int]:
    """Check every CALL; the indices of the last parts of procedure names."""
    ends: set[int] = set()
    for i, token in enumerate(tokens):
        if token.kind != "word" or token.folded != "call" or i in names:
            continue
        if i + 1 < len(tokens) and (_is(tokens[i + 1], "{") or _is(tokens[i + 1], "(")):
            continue
        parts, at = list[Token](), i + 1
        while at < len(tokens) and tokens[at].kind in ("word", "quoted"):
            parts.append(tokens[at])
            if not (at + 1 < len(tokens) and _is(tokens[at + 1], ".")):
                break
            at += 2
        name = ".".join(part.text for part in parts)
        if any(part.kind == "quoted" for part in parts) or name not in policy.procedures:
            raise Objection("a procedure that is not on the list", token.at)
        ends.add(at)
    return ends


def _functions(
    tokens: Sequence[Token], names: Mapping[int, Role], called: set[int], policy: Policy
) -> None:
    """Check every name that stands before an opening bracket, however it is spaced or commented."""
    for i in range(1, len(tokens)):
        last = tokens[i - 1]
        if not _is(tokens[i], "(") or last.kind not in ("word", "quoted") or i - 1 in called:
            continue
        if names.get(i - 1) == "parameter":
            if last.folded not in {"all", "any"}:
                raise Objection("a parameter cannot be called", last.at)
            continue
        parts, at = [last], i - 1
        while at >= 1 and _is(tokens[at - 1], "."):
            if at < 2 or tokens[at - 2].kind not in ("word", "quoted"):
                raise Objection("a function that is not on the list", last.at)
            at -= 2
            parts.insert(0, tokens[at])
        plain = all(part.kind == "word" and part.text.isascii() for part in parts)
        name = ".".join(part.text for part in parts).lower()
        if plain and name in policy.functions:
            continue
        if plain and len(parts) == 1 and (name in policy.before_bracket or name == "call"):
            continue
        raise Objection("a function that is not on the list", last.at)


def _is(token: Token, sign: str) -> bool:
    return token.kind == "sign" and token.text == sign
