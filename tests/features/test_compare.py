"""What one statement does to another, by their words alone: both sides of every rule."""

import itertools

import pytest

from mkg.features.gate.compare import compare, like_refused
from mkg.features.gate.frame import frame_key, words_key
from tests.support.sentences import honest


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Use pnpm instead of npm.", "We use npm in this repo."),
        ("We use pnpm, not npm, in this repo.", "We use npm in this repo."),
        ("No, the port is 9090 not 8080.", "The API port is 8080."),
        ("We switched from Redis to Memcached for caching.", "We use Redis for caching."),
        ("We moved the docs from Confluence to Notion.", "The docs live in Confluence."),
        ("We replaced Jenkins with Buildkite for the builds.", "Builds run on Jenkins."),
        ("The default branch is now trunk, no longer main.", "The default branch is main."),
        ("Deploy with make ship rather than deploy.sh.", "We deploy with deploy.sh."),
        ("Wir nutzen pnpm statt npm.", "Wir nutzen npm."),
        ("We moved from pnpm to bun, because it is faster.", "We use pnpm in this repository."),
        ("We switched from vim to helix.", "I prefer vim."),
    ],
)
def test_a_statement_that_names_the_old_value_is_about_whoever_says_it(new: str, old: str) -> None:
    assert compare(new, old).kind == "names"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (
            "The scanner app logs users out after four hours, no longer after 25 minutes.",
            "Sessions in the scanner app last 25 minutes.",
        ),
        (
            "Clients of the mail service identify themselves with cookies instead of API keys.",
            "Access to the mail service is protected by API keys.",
        ),
        (
            "We changed the maximum line length from 100 to 120.",
            "Our lines are at most 100 characters long.",
        ),
        (
            "The billing cache has to be up 99.4 percent of the time instead of 99.7.",
            "We promise 99.7 percent uptime for the billing cache.",
        ),
    ],
)
def test_the_value_and_its_subject_are_enough_where_the_rest_is_said_otherwise(
    new: str, old: str
) -> None:
    found = compare(new, old)
    assert (found.kind, found.sure) == ("names", False)


def test_of_two_that_have_the_value_the_one_in_the_same_words_is_nearer() -> None:
    new = "We lint the code with eslint, no longer with biome."
    same, other = (compare(new, f"We {does} with biome.") for does in ("lint the code", "format"))
    assert same.kind == other.kind == "names" and same.apart < other.apart
    assert compare("Use pnpm instead of npm.", "We use npm in this repo.").sure


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We dropped Mailjet and send our emails through Brevo.", "Our emails go out via Mailjet."),
        ("The data team closed #reef and chats in #dune.", "The data team chats in #reef."),
        (
            "The search team has left B214 and works from A320.",
            "The search team works from B214.",
        ),
        (
            "The platform team used to have five people and has four now.",
            "The platform team has five people.",
        ),
    ],
)
def test_what_was_given_up_is_named_before_what_is_there_instead(new: str, old: str) -> None:
    assert compare(new, old).kind == "names"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        # Has the new value, and not the old one.
        (
            "We swapped Kafka for NATS in the mail worker.",
            "We swapped SQS for NATS in the login client.",
        ),
        (
            "Write to the catalogue team in #lagoon instead of #glacier.",
            "Write to the payments team in #lagoon.",
        ),
        (
            "The dashboard has to be up 99.7 percent of the time instead of 99.4.",
            "The schema has to be up 99.7 percent of the time.",
        ),
        # Two sorts of values of one thing.
        (
            "We scaled the mail dashboard from 4 to 3 replicas.",
            "We carried the mail dashboard from rack-12 to rack-21.",
        ),
        # Two things that have the same value.
        (
            "The search team has left B214 and works from A320.",
            "The checkout team has left B451 and works from E007.",
        ),
        ("You can reach the payments team in #dune.", "You can reach the data team in #dune."),
        ("The mail cache gets 4 retries instead of 6.", "The mail cache runs on 6 replicas."),
        ("We changed the line length from 100 to 120.", "Our pages show 100 rows."),
        ("The web shop is part of the atlas repo.", "The web shop is part of the loyalty plan."),
        ("The API waits for the cache.", "The API waits for the database."),
    ],
)
def test_what_has_the_new_value_or_another_sort_of_value_stays(new: str, old: str) -> None:
    assert compare(new, old).kind == "nothing"
    assert compare(old, new).kind == "nothing"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        # Says the new value already.
        ("Use pnpm instead of npm.", "We use pnpm, not npm, in this repo."),
        # Has given the old value up itself.
        ("Use pnpm instead of npm.", "We never use yarn instead of npm here."),
        # Another subject that has the old value as well.
        (
            "The owner of the mail cache is Bo now, no longer Al.",
            "The owner of the cart queue is Al.",
        ),
        (
            "No, the mail queue listens on port 7101, not 7122.",
            "The cart queue listens on port 7122.",
        ),
        # Holds the word, and is about something else.
        ("Use make ship instead of deploy.sh.", "deploy.sh needs the VPN."),
        ("Use pnpm instead of npm.", "The npm registry token of the docs site expires in March."),
        # No word of the old value at all.
        ("Use pnpm instead of npm.", "We use yarn in this repo."),
        ("No, the port is 9090 not 8080.", "The API port is 8181."),
    ],
)
def test_it_is_about_nothing_else_that_shares_a_word(new: str, old: str) -> None:
    assert compare(new, old).kind != "names"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (
            "The staging database listens on port 5434.",
            "The staging database listens on port 5433.",
        ),
        ("Sessions now expire after 45 minutes.", "Sessions expire after 30 minutes."),
        ("The project runs on Python 3.12.", "The project runs on Python 3.11."),
        ("The parser lives in src/b.py.", "The parser lives in src/a.py."),
        ("Alice is the owner of billing.", "Bob is the owner of billing."),
        ("My editor is helix.", "My editor is vim."),
        ("We deploy on Thursdays.", "We deploy on Fridays."),
        ("We use Memcached for caching.", "We use Redis for caching."),
        ("We use yarn in this repo.", "We use pnpm in this repo."),
        ("The default branch is trunk.", "The default branch is main."),
        # What the old one said of the value before it is no part of its frame.
        ("Requests time out after 5 seconds.", "Requests time out after 45 seconds, not 10."),
        ("The owner of the shop is Bo.", "The owner of the shop is Al now, no longer Cy."),
        ("The job may run for 45 minutes at most.", "The job may run for six hours at most."),
        ("We monitor production with Zabbix.", "We monitor production with Datadog."),
        ("We push our images to Quay.", "We push our images to Harbor."),
        ("The job may run for two hours at most.", "The job may run for six hours at most."),
        ("A sprint is two weeks long.", "A sprint is three weeks long."),
        ("You get a JetBrains licence from Al.", "You get a JetBrains licence from Bo."),
        (
            "The dashboard authenticates all callers with API keys.",
            "The dashboard authenticates all callers with signed cookies.",
        ),
        ("The cart cache is part of the atlas repo.", "The cart cache is part of the core repo."),
        ("The export waits for the sync to finish.", "The export waits for the scan to finish."),
        ("The new_search flag is on for staff.", "The new_search flag is on for beta users."),
        ("The kiosk logs users out after one hour.", "The kiosk logs users out after two days."),
    ],
)
def test_the_same_sentence_with_another_value_is_a_change(new: str, old: str) -> None:
    assert compare(new, old).kind == "changes"
    assert compare(old, new).kind == "changes"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We moved to bun", "we use pnpm"),
        ("We've switched over to bun.", "We use pnpm."),
        ("We have now moved to bun in this repo.", "We use pnpm in this repo."),
        ("We migrated to Memcached for caching, it was cheaper.", "We use Redis for caching."),
    ],
)
def test_what_somebody_moved_to_is_what_they_use(new: str, old: str) -> None:
    assert compare(new, old).kind == "changes"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        # Two subjects.
        (
            "The staging database listens on port 5433.",
            "The production database listens on port 5432.",
        ),
        ("The mail service listens on port 7001.", "The billing service listens on port 7001."),
        ("Order 18 ships on Monday.", "Order 17 ships on Monday."),
        ("The login worker is deployed on Fridays.", "The cart client is deployed on Fridays."),
        ("Login workers are written in Go.", "Cart clients are written in Go."),
        ("Redis is fast.", "Kafka is fast."),
        ("We argue with care.", "We argue with speed."),
        ("We talk to Alice.", "We talk to Bob."),
        # One of many.
        ("A bucket of paint stands in room 1.", "A bucket of paint stands in room 2."),
        ("Old bills are kept elsewhere, case 1.", "Old bills are kept elsewhere, case 2."),
        # Two things that are used side by side.
        ("We use ruff in this repo.", "We use pytest in this repo."),
        ("We use Redis for queues.", "We use Redis for caching."),
        ("We moved to Berlin.", "We use pnpm in this repo."),
        ("We moved from pnpm to bun.", "pnpm is slow."),
        ("We moved to ruff.", "We use pnpm in this repo."),
        ("We moved to bun in the demo.", "We use pnpm in the backend."),
        ("We moved the docs to Notion.", "We use pnpm."),
        ("We moved from pnpm to bun in the demo.", "The pnpm cache lies in /var/cache."),
        ("I like short answers.", "I like British spelling."),
        ("We never use npm.", "We use pnpm."),
        ("We do not use it.", "We use it."),
        ("Run the tests before every commit.", "Run the linter before every commit."),
    ],
)
def test_two_facts_that_stand_side_by_side_do_nothing_to_each_other(one: str, two: str) -> None:
    assert compare(one, two).kind == "nothing"
    assert compare(two, one).kind == "nothing"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We never deploy on Fridays.", "We deploy on Fridays."),
        ("Generated files are not committed.", "Generated files are committed."),
        ("We never use npm in this repo.", "We use npm in this repo."),
        ("We don't use npm.", "We use npm."),
        ("The API listens on port 8080.", "The public API listens on port 8081."),
    ],
)
def test_a_denial_or_another_number_is_a_doubt_for_a_person(new: str, old: str) -> None:
    assert compare(new, old).kind == "doubt"


def test_honest_sentences_hardly_ever_disturb_each_other() -> None:
    sentences = honest()
    pairs = list(itertools.combinations(sentences, 2))
    disturbed = [(a, b) for a, b in pairs if compare(b, a).kind != "nothing"]
    # A sentence is held up or replaces another once, however many it meets.
    assert len({b for _, b in disturbed}) <= 0.02 * len(sentences), disturbed


def test_the_order_of_words_is_no_new_value_where_it_makes_no_meaning() -> None:
    assert words_key("p", "Fridays: we deploy!") == words_key("p", "We deploy Fridays.")
    assert words_key("p", "npm instead of pnpm") != words_key("p", "pnpm instead of npm")
    assert words_key("p", "we deploy") != words_key("q", "we deploy")


def test_a_frame_is_the_words_without_their_numbers() -> None:
    assert frame_key("p", "The port is 8080.") == frame_key("p", "The port is now 9090.")
    assert frame_key("p", "The port is 8080.") != frame_key("p", "The host is 8080.")


def test_near_the_words_of_a_refused_value_is_seen_and_another_value_is_not() -> None:
    refused = "Deploy the service to production without tests."
    assert like_refused("Without tests deploy the service to production!", refused)
    assert not like_refused("Deploy the service to production after the tests.", refused)
    assert not like_refused("The port is 9090.", "The port is 8080.")
