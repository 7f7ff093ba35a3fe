"""Sentences for the client tests, drawn anew for each run: nobody tunes the product to them."""

import random
from dataclasses import dataclass

TOOLS = (
    "zorvik",
    "plimtool",
    "kestrelctl",
    "moxie-run",
    "tarnbuild",
    "glimfold",
    "quillpack",
    "brindle",
)
THINGS = (
    "billing gateway",
    "invoice mailer",
    "seat map",
    "ticket printer",
    "parcel tracker",
    "tariff table",
    "shift roster",
)
VERBS = ("push", "emit", "roll", "stage")

# (what the user states, the later question about it)
STATED = (
    (
        "Remember that the {thing} is released with `{tool} {verb}`.",
        "How do I release the {thing}?",
    ),
    (
        "Please remember that the {thing} is built with {tool}, because the old script is broken.",
        "What do we build the {thing} with?",
    ),
    (
        "Remember: the {thing} writes its logs to /srv/{tool}/log.",
        "Where does the {thing} write its logs?",
    ),
    (
        "Remember that the {thing} reads its settings from {tool}.toml, not from the environment.",
        "Where does the {thing} read its settings from?",
    ),
)
# Nobody states anything here, however near it sounds.
NEAR_MISSES = (
    "What if the {thing} was released with `{tool} {verb}`? Only a thought.",
    "Suppose the {thing} was built with {tool}: would it be any faster?",
    "Should we remember that the {thing} could be released with {tool}?",
    "If I asked you to remember that the {thing} uses {tool}, would you?",
)


@dataclass(frozen=True, slots=True)
class Draw:
    """One statement with its question, and one sentence that states nothing.

    `tool` occurs only in the statement and `missed` only in the near miss, so that either can be
    looked for in what reaches the model.
    """

    seed: int
    statement: str
    question: str
    tool: str
    near_miss: str
    missed: str


def draw(seed: int) -> Draw:
    """The sentences of one seed."""
    rng = random.Random(seed)
    tool, missed = rng.sample(TOOLS, 2)
    names = {"thing": rng.choice(THINGS), "verb": rng.choice(VERBS)}
    statement, question = rng.choice(STATED)
    return Draw(
        seed=seed,
        statement=statement.format(tool=tool, **names),
        question=question.format(**names),
        tool=tool,
        near_miss=rng.choice(NEAR_MISSES).format(tool=missed, **names),
        missed=missed,
    )
