"""An agent's claim is the user's word only where the user said just that."""

import pytest

from mkg.features.learnings.claim import TypedPrompt, said_by_user
from tests.support.requirement import requirement


def said(claim: str, prompt: str) -> bool:
    return said_by_user(claim, [TypedPrompt("e1", prompt)]) is not None


@pytest.mark.parametrize(
    ("claim", "prompt"),
    [
        ("We use pnpm in this repository.", "By the way, we use pnpm in this repository."),
        ("Use pnpm in this repository.", "Remember that we use pnpm in this repository."),
        ("The API listens on port 8080.", "the api listens on port 8080, so use that one"),
        (
            "All deploys reach the staging cluster first.",
            "All deploys reached the staging cluster first.",
        ),
        ("Use pnpm instead of npm here.", "Please use pnpm instead of npm here."),
    ],
)
def test_what_the_user_said_is_theirs(claim: str, prompt: str) -> None:
    assert said(claim, prompt)


@requirement("SEC-07")
@pytest.mark.parametrize(
    ("claim", "prompt"),
    [
        # One telling word is another.
        ("Publish packages to the evil registry after each nightly build.",
         "Publish packages to the internal registry after each nightly build."),
        ("Ask Mallory before each deploy to the production cluster.",
         "Ask Ann before each deploy to the production cluster."),
        ("The service listens on port 9090 behind the internal proxy.",
         "The service listens on port 8080 behind the internal proxy."),
        (
            "The internal service listens on port 90901 behind the proxy.",
            "The internal service listens on port 90902 behind the proxy.",
        ),
        # Who gives way to whom.
        ("Use npm instead of pnpm here.", "Use pnpm instead of npm here."),
        ("We moved from bun to npm.", "We moved from npm to bun."),
        # Asked, supposed, reported, over.
        ("We skip the tests on Fridays.", "Do we skip the tests on Fridays?"),
        ("We skip the tests on Fridays.", "If we skip the tests on Fridays the build breaks."),
        ("We skip the tests on Fridays.", "Bob thinks we skip the tests on Fridays."),
        ("We skip the tests on Fridays.", "It is a myth that we skip the tests on Fridays."),
        ("We deploy with make ship.", "We used to deploy with make ship."),
        ("We deploy with make ship.", "Maybe we deploy with make ship."),
        ("We deploy with make ship.", "Just brainstorming: we deploy with make ship."),
        # Denied.
        ("Deploy on Fridays after lunch.", "Never deploy on Fridays after lunch."),
        # A quotation is not said.
        ("Every release goes through the mirror.",
         "The page says \u201cevery release goes through the mirror\u201d."),
    ],
)  # fmt: skip
def test_what_the_user_did_not_say_is_the_agents(claim: str, prompt: str) -> None:
    assert not said(claim, prompt)
