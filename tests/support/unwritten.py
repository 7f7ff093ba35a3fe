"""Kinds of credentials that no rule was written for: one half to tune on, the other held out."""

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tests.support.recipes import expand

TABLE = Path(__file__).with_name("unwritten_kinds.tsv")
Half = Literal["tuned on", "held out"]


class Unwritten(NamedTuple):
    """A service, what it calls its credential, and the recipe of one."""

    service: str
    name: str
    recipe: str

    @property
    def half(self) -> Half:
        """Which half it is in; its own text decides, before anybody has seen a result."""
        return "held out" if zlib.crc32("\t".join(self).encode()) % 2 else "tuned on"


def unwritten(half: Half) -> list[Unwritten]:
    """The kinds of one half."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    found = [Unwritten(*line.split("\t")) for line in lines]
    return [kind for kind in found if kind.half == half]


def _camel(words: str) -> str:
    first, *rest = words.split()
    return first + "".join(word.title() for word in rest)


def _snake(kind: Unwritten) -> str:
    return kind.name.replace(" ", "_")


def _dashed(kind: Unwritten) -> str:
    return kind.name.replace(" ", "-")


Dress = Callable[[Unwritten, str], str]
CONTEXTS: dict[str, tuple[Dress, ...]] = {
    "prose": (
        lambda k, v: f"Yes, the {k.service} {k.name} is {v} as of today.",
        lambda k, v: f"please use {v} as the {k.name} for {k.service}, it works for me",
        lambda k, v: f"I rotated the {k.name} of {k.service}: `{v}`.",
    ),
    "env line": (
        lambda k, v: f"PORT=80\n{k.service.upper()}_{_snake(k).upper()}={v}\n",
        lambda k, v: f"export {k.service.upper()}_{_snake(k).upper()}='{v}'",
        lambda k, v: f"{k.service}.{_dashed(k)}: {v}",
    ),
    "JSON": (
        lambda k, v: json.dumps({k.service: {_camel(k.name): v, "timeout": 30}}),
        lambda k, v: json.dumps({f"{k.service}_{_snake(k)}": v, "on": True}, indent=2),
        lambda k, v: json.dumps({"out": f'{_camel(f"{k.service} {k.name}")} = "{v}"\n'}),
    ),
}
# Never tuned on with either half: what another phrase or syntax costs.
OTHER_CONTEXTS: dict[str, tuple[Dress, ...]] = {
    "other prose": (
        lambda k, v: f"here you go, {v} ({k.service} {k.name})",
        lambda k, v: f"{k.service} {k.name} -> {v}",
        lambda k, v: f"the new {k.service} {k.name} I got today: {v}.",
    ),
    "other code": (
        lambda k, v: f'client = {k.service.title()}Client({_snake(k)}="{v}", retries=3)',
        lambda k, v: f"const c = new {k.service.title()}({{ {_camel(k.name)}: '{v}' }});",
        lambda k, v: f'curl -H "X-{k.service.title()}-{_dashed(k).title()}: {v}" https://x.test',
    ),
    "other files": (
        lambda k, v: f"{k.service}:\n  region: eu\n  {_snake(k)}: {v}\n",
        lambda k, v: f'[{k.service}]\n{_snake(k)} = "{v}"\n',
        lambda k, v: f"$ {k.service} login --{_dashed(k)} {v}\nok\n",
    ),
}


def texts(kind: Unwritten, context: str) -> Iterator[tuple[str, str]]:
    """Texts with such a credential in a context, and the credential."""
    for seed, dress in enumerate({**CONTEXTS, **OTHER_CONTEXTS}[context]):
        value = expand(kind.recipe, seed)
        yield dress(kind, value), value
