"""Kinds of credentials, made up by recipes, and the dresses in which one may turn up in a text."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tests.support.recipes import expand

_HERE = Path(__file__).parent
_CASES = _HERE.parent / "cases" / "adversarial.jsonl"


class Kind(NamedTuple):
    """A text with a credential in it; marks (« ») stand round what must not be left."""

    id: str
    template: str


def rows(verdict: str) -> list[Kind]:
    """The rows of the shared cases with a verdict, as kinds."""
    found = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()]
    return [Kind(r["id"], r["text"]) for r in found if r["verdict"] == verdict and r.get("text")]


def kinds() -> list[Kind]:
    """Kinds by vendor, language, command and file format."""
    lines = (_HERE / "credential_kinds.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines]
    return [Kind(name, text.encode().decode("unicode_escape").encode("latin-1").decode("utf-8"))
            for name, text in pairs]  # fmt: skip


def made(kind: Kind, seed: int) -> tuple[str, list[str]]:
    """The text of a kind and its secret parts."""
    whole, text, secrets = expand(kind.template, seed), "", []
    while "«" in whole:
        before, _, rest = whole.partition("«")
        secret, _, whole = rest.partition("»")
        text += before + secret
        secrets.append(secret)
    return text + whole, secrets


def full_width(text: str) -> str:
    """The text in letters that NFKC folds to ASCII."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def zero_width(text: str) -> str:
    """The text with one zero-width space in each of its longer words."""
    return " ".join(
        w[: len(w) // 2] + "\u200b" + w[len(w) // 2 :] if len(w) > 3 else w for w in text.split(" ")
    )


FAMILIES: dict[str, Callable[[str], str]] = {
    "prose": lambda t: f"Yesterday I noted this for later: {t} and it still works, I think.",
    "env line": lambda t: f"LANG=C\nSERVICE_X={t}\nDEBUG=1",
    "JSON": lambda t: json.dumps({"rows": [{"out": t}], "exit": 0}),
    "URL-encoded": lambda t: "a=1&q=" + quote(t, safe=""),
    "NFKC": full_width,
    "zero-width": zero_width,
    "case": str.upper,
    "base64": lambda t: base64.b64encode(t.encode()).decode(),
    "newline": lambda t: t[: len(t) * 2 // 3] + "\n" + t[len(t) * 2 // 3 :],
}
