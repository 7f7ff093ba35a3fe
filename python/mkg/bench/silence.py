"""How often recall speaks when nothing bears on a prompt, and is silent when something does.

Hand-written pairs and generated families, each in a part that chose the constants (`tune`) and one
that was only measured (`held`). Every prompt meets everything that is known in its part.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mkg.embed import Embedder
from mkg.features.learnings import Hit, silence

PAIRS = Path(__file__).parent / "silence_pairs.tsv"
SPLITS = ("tune", "held")
POOL = 20
"""What a prompt is given to choose from: four times the five lines it may take."""


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt and what bears on it; often nothing."""

    family: str
    prompt: str
    bearing: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rates:
    """What was measured on one family of prompts.

    `false_injection` is the share of prompts without bearing knowledge that were told something,
    `miss` the share of prompts with bearing knowledge that were not told it, and `beside` the mean
    number of other lines told at a prompt that has some.
    """

    family: str
    prompts: int
    false_injection: float | None
    miss: float | None
    beside: float | None


def cases(split: str) -> tuple[list[str], list[Case]]:
    """Everything known in a part, and its prompts."""
    known: list[str] = []
    asked: list[Case] = []
    for line in PAIRS.read_text(encoding="utf-8").split("\n"):
        if not line or line.startswith("#"):
            continue
        part, text, prompts = line.split("\t")
        if part != split:
            continue
        if text:
            known.append(text)
        for prompt in prompts.split(" | "):
            bearing = frozenset({text} if text else set[str]())
            asked.append(Case("written" if text else "off topic", prompt, bearing))
    made, generated = _generated(split)
    return known + made, asked + generated


def measure(
    embedder: Embedder | None, split: str, rules: silence.Rules = silence.RULES
) -> list[Rates]:
    """The rates of each family of a part; without an embedder by words alone."""
    known, asked = cases(split)
    told = [_told(embedder, known, case.prompt, rules) for case in asked]
    families = dict.fromkeys(case.family for case in asked)
    return [
        _rates(family, [(c, t) for c, t in zip(asked, told, strict=True) if c.family == family])
        for family in families
    ]


def _rates(family: str, answered: Sequence[tuple[Case, set[str]]]) -> Rates:
    quiet = [told for case, told in answered if not case.bearing]
    due = [(case.bearing, told) for case, told in answered if case.bearing]
    return Rates(
        family,
        len(answered),
        _share([bool(told) for told in quiet]),
        _share([not bearing & told for bearing, told in due]),
        round(sum(len(told - bearing) for bearing, told in due) / len(due), 3) if due else None,
    )


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def _told(
    embedder: Embedder | None, known: Sequence[str], prompt: str, rules: silence.Rules
) -> set[str]:
    """What recall would tell: the hits of both indexes, judged together as at a prompt."""
    hits: list[Hit] = []
    asked = silence.rare_terms(prompt)
    vectors = embedder.embed([prompt, *known]) if embedder else None
    for place, text in enumerate(known):
        cosine = None
        if vectors:
            cosine = sum(a * b for a, b in zip(vectors[0], vectors[place + 1], strict=True))
        if cosine is not None or silence.rare_terms(text) & asked:
            hits.append(_hit(text, cosine))
    hits.sort(key=lambda hit: -(hit.cosine or 0.0))
    model = embedder.model if embedder else None
    return {hit.text for hit in silence.bearing(hits[:POOL], prompt, model, rules)}


def _hit(text: str, cosine: float | None) -> Hit:
    plain = {"task_pattern": None, "kind": "fact", "tool_key": None, "error_signature": None}
    return Hit(
        id=text,
        short_id=text,
        text=text,
        status="approved",
        scope="project",
        origin="user_typed",
        confidence=0.8,
        resolved=None,
        age_seconds=0,
        session_id=None,
        score=0.0,
        cosine=cosine,
        sources=[],
        **plain,  # type: ignore[arg-type]
    )


# Forms of what is stored and of what is asked; no form of asking repeats a form of storing.
_SERVICES = {
    "tune": ("billing", "inventory", "ledger", "notifier"),
    "held": ("scheduler", "catalogue", "shipping", "identity"),
}
_STORED = {
    "tune": (
        ("port", "The {} service listens on port 81{}."),
        ("owner", "Questions about the {} service go to team number {}."),
        ("limit", "The {} service allows {} requests per second."),
    ),
    "held": (
        ("database", "{} keeps its rows in the Postgres schema app_{}."),
        ("timeout", "Calls to {} must set a timeout of {} seconds."),
        ("queue", "Jobs of {} go through the queue named q-{}."),
    ),
}
_ASKED = {
    "port": "what address do I curl to reach {} locally",
    "owner": "who should review a change in {}",
    "limit": "{} answers 429 when I run the load test",
    "database": "where can I look at the tables of {}",
    "timeout": "my request to {} hangs for ever",
    "queue": "the background work of {} is never picked up",
}
_UNKNOWN = {"tune": ("gateway", "thumbnailer"), "held": ("exporter", "geocoder")}


def _generated(split: str) -> tuple[list[str], list[Case]]:
    known = [
        (form, service, text.format(service, number))
        for number, (service, (form, text)) in enumerate(
            itertools.product(_SERVICES[split], _STORED[split]), 10
        )
    ]
    return [text for _, _, text in known], list(_asked(split, known))


def _asked(split: str, known: Sequence[tuple[str, str, str]]) -> Iterator[Case]:
    for form, service, _ in known:
        # Whatever is known of the service is welcome; what is known of another is not.
        about = frozenset(text for _, other, text in known if other == service)
        yield Case("generated", _ASKED[form].format(f"the {service} service"), about)
    for form, _ in _STORED[split]:
        for service in _UNKNOWN[split]:
            # Shares its form with what is known, and is about a service nobody has told of.
            prompt = _ASKED[form].format(f"the {service} service")
            yield Case("unknown subject", prompt, frozenset())
