"""What a secret rule is, and how a rule for a token with a telling prefix is made.

`good` and `bad` are the unit tests of a rule: texts that must and must not be masked. They are
recipes (`{AN36}` = 36 letters and digits), so no credential is ever written out here.
"""

from typing import NamedTuple

# A token starts where no word goes on; the `\n` of an escaped line break is no word.
LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))"
W = r"A-Za-z0-9_\-"
AN = "A-Za-z0-9"


class Rule(NamedTuple):
    """One kind of secret; a match masks group `s`, the judge reads group `v`."""

    id: str
    keys: tuple[str, ...]  # literals of which one must be there; the match is tried at each
    pattern: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    back: tuple[int, ...] = (0,)  # how many characters before the key a match may begin
    fold: bool = False  # keys in lower case, pattern without regard to case
    judge: str = "token"  # which filter of redact_values reads the captured value
    least: int = 0  # the shortest match of a rule that stays in one word, 0 for all others


def token(
    name: str,
    keys: tuple[str, ...],
    chars: str,
    low: int,
    *,
    good: tuple[str, ...],
    bad: tuple[str, ...],
    high: int = 512,
    left: str = "",
    judge: str = "token",
) -> Rule:
    """A rule for `<known prefix><random characters>`."""
    prefix = "|".join([k.replace(".", r"\.").replace("+", r"\+") for k in keys])
    pattern = f"{left}(?P<s>(?:{prefix})(?P<v>[{chars}]{{{low},{high}}}))"
    least = low + min([len(key) for key in keys])
    return Rule(name, keys, pattern, good, bad, judge=judge, least=least)
