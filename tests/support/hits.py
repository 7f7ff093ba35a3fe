"""Rows of recall, for tests of what is done with them."""

from mkg.features.learnings import Hit


def hit(
    id: str,
    text: str = "text",
    *,
    origin: str = "user_typed",
    session: str = "s1",
    cosine: float | None = 0.5,
) -> Hit:
    return Hit(
        id,
        id,
        text,
        "approved",
        "project",
        origin,
        0.8,
        None,
        "fact",
        None,
        None,
        None,
        3600,
        session,
        0.03,
        cosine,
        ["vector"],
    )
