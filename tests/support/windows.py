"""What tests of reading windows share: a session in the graph, a scripted model that reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mkg.features import timeline
from mkg.features.gate.rules import Rules
from mkg.features.learnings.windows import Learned, learn
from mkg.features.learnings.write import Owner
from mkg.llm import Model
from tests.clients.kit.stub_model import StubModel
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import row
from tests.support.learned import SHOP
from tests.support.models import Account, asking, model_settings

# Nothing that rules would find.
PORT = "I had a look and billing seems to answer on 7001 these days since 7000 is taken."
EPISODE = {
    "type": "decision",
    "title": "The port of the billing service was settled",
    "facts": ["The port is 7001.", "7000 was taken."],
    "narrative": "The user told the port. The agent noted it.",
}


def proposal(**values: Any) -> dict[str, Any]:
    """One entry that holds for PORT said in the first turn."""
    return {
        "action": "create",
        "turn": "t1",
        "quote": "billing seems to answer on 7001",
        "text": "Billing answers on 7001, since 7000 is taken.",
        "scope": "project",
        "kind": "fact",
        "confidence": 0.8,
        "reason": "needed to reach it",
        **values,
    }


def rules(*proposals: dict[str, Any], episodes: object = None) -> list[dict[str, Any]]:
    """A model that proposes these to whoever asks what to note, and tells what happened."""
    told = {"episodes": [EPISODE] if episodes is None else episodes}
    said: dict[str, tuple[str, object]] = {
        "extract": ("worth noting", {"learnings": list(proposals)}),
        "episodes": ("record what happened", told),
        "screen": (
            "guard the memory",
            {"verdicts": [{"n": n, "verdict": "pass"} for n in range(9)]},
        ),
        "judge": ("compare new statements", {"judgements": [{"id": f"c{n}"} for n in range(9)]}),
    }
    return [
        {"name": name, "when": {"system": words}, "then": {"json": reply}}
        for name, (words, reply) in said.items()
    ]


@contextmanager
def scripted(tmp_path: Path, script: list[dict[str, Any]]) -> Iterator[tuple[StubModel, Model]]:
    """A real model access on a scripted server."""
    with StubModel(script) as stub:
        settings = model_settings(tmp_path, model="openai/x", base_url=f"{stub.url}/v1", retries=0)
        yield stub, asking(settings, Account())


def session(
    live: Live,
    *said: str,
    name: str = "s1",
    reply: str = "Noted.",
    origin: str = "user_typed",
    start: int = 0,
    project: str = SHOP,
) -> None:
    """Prompts and a stop, in the graph."""
    events = [
        row(
            "UserPromptSubmit",
            session=name,
            second=start + n,
            prompt=text,
            origin=origin,
            project=project,
            user="ann",
        )
        for n, text in enumerate(said)
    ]
    events.append(
        row(
            "Stop",
            session=name,
            second=start + len(said),
            last_message=reply,
            project=project,
            user="ann",
        )
    )
    timeline.append(live.run, events=events)


def read(live: Live, model: Model | None, name: str = "s1") -> Learned:
    """What the worker does after a stop."""
    return learn(
        live.run,
        minilm(),
        session_id=name,
        owner=Owner(SHOP, "ann"),
        rules=Rules(model=model),
        client="claude",
    )
