"""Makes many texts out of few, always the same ones for a seed: mutations and splices.

A mutation keeps what a text means to the server: case of words, comments, blanks, back-quotes
around the parts of a dotted name, semicolons and foreign blanks. A splice puts pieces of two texts
together and means anything or nothing.
"""

import random
from collections.abc import Callable

from mkg.features.reader.lexer import Token, Unreadable, lex

COMMENTS = (
    "/**/",
    "/* CREATE */",
    "/* ' */",
    "/*\n*/",
    "// x\n",
    "// `\r\n",
    "/* // */",
    "/* /* */",
)
BLANKS = (" ", "\n", "\t", "\r\n", "   ")
FOREIGN = ("\u00a0", "\u2028", "\u3000", "\u200b", "\ufeff", "\u2060", "\x0b", "\x0c", "\u1680")


def pieces(text: str) -> list[str] | None:
    """The tokens as they are written; None for a text that cannot be cut."""
    try:
        tokens = lex(text)
    except Unreadable:
        return None
    return [_written(text, token) for token in tokens]


def mutated(text: str, seed: int) -> str:
    """One mutation of a text that is to be refused."""
    rng = random.Random(f"{seed}:{text!a}")
    parts = pieces(text)
    if not parts:
        # Another comment or quotation mark might mend what is broken here.
        return rng.choice((str.upper, str.lower, str.swapcase, _same))(text) + rng.choice(BLANKS)
    steps: tuple[Callable[[random.Random, list[str]], list[str]], ...] = (
        _case,
        _comments,
        _spread,
        _quotes,
        _ends,
        _foreign,
    )
    for step in rng.sample(steps, rng.randint(1, 3)):
        parts = step(rng, parts)
    return _joined(parts)


def respaced(text: str, seed: int) -> str:
    """The same query in other case, comments and blanks: what is honest must stay admitted."""
    rng = random.Random(f"{seed}:{text!a}")
    parts = pieces(text)
    assert parts is not None
    return "".join(_comments(rng, _spread(rng, parts)))


def spliced(one: str, other: str, seed: int) -> str:
    """The beginning of one text and the end of another, or a piece of it in the middle."""
    rng = random.Random(f"{seed}:{one!a}:{other!a}")
    first, second = pieces(one), pieces(other)
    if not first or not second:
        return one + " " + other
    at = rng.randint(0, len(first))
    start = rng.randint(0, len(second) - 1)
    end = rng.randint(start + 1, len(second))
    tail = first[at:] if rng.random() < 0.6 else []
    return " ".join([*first[:at], *second[start:end], *tail])


def _joined(parts: list[str]) -> str:
    """The parts, with a blank where two words would melt into one."""
    made = ""
    for part in parts:
        made += " " if made and _wordy(made[-1]) and _wordy(part[:1]) else ""
        made += part
    return made


def _wordy(char: str) -> bool:
    return char.isalnum() or char in "_$`'\""


def _written(text: str, token: Token) -> str:
    if token.kind == "quoted":
        return f"`{token.text}`"
    if token.kind == "string":
        quote = text[token.at]
        return f"{quote}{token.text}{quote}"
    return token.text


def _same(text: str) -> str:
    return text


def _case(rng: random.Random, parts: list[str]) -> list[str]:
    def turn(part: str) -> str:
        if not part[0].isalpha():
            return part
        return "".join(rng.choice((c.upper(), c.lower())) if c.isascii() else c for c in part)

    return [turn(part) for part in parts]


def _comments(rng: random.Random, parts: list[str]) -> list[str]:
    return [x for part in parts for x in (part, rng.choice((" ", rng.choice(COMMENTS))))]


def _spread(rng: random.Random, parts: list[str]) -> list[str]:
    return [x for part in parts for x in (part, rng.choice(BLANKS))]


def _quotes(rng: random.Random, parts: list[str]) -> list[str]:
    """Back-quotes around parts of dotted names, which is all that they may do for a procedure."""
    made = _spread(rng, parts)
    for i in range(0, len(made), 2):
        around = {made[i - 2] if i >= 2 else "", made[i + 2] if i + 2 < len(made) else ""}
        if "." in around and made[i].isidentifier() and rng.random() < 0.5:
            made[i] = f"`{made[i]}`"
    return made


def _ends(rng: random.Random, parts: list[str]) -> list[str]:
    return [*_spread(rng, parts), rng.choice((";", ";;", "; ;", ";\n// x"))]


def _foreign(rng: random.Random, parts: list[str]) -> list[str]:
    made = _spread(rng, parts)
    made[rng.randrange(len(made))] += rng.choice(FOREIGN)
    return made
