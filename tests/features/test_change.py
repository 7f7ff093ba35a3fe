"""Another value of one subject in other words: what is seen as one, and what is not."""

import pytest

from mkg.features.gate.compare import compare
from mkg.features.gate.correction import standing
from mkg.features.gate.statement import kind, run_of, said
from mkg.same_words import base, root
from tests.conftest import Live
from tests.support.learned import say


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The port of the shop is 7002.", "The shop listens on port 7001."),
        ("The shop keeps its data in MySQL now.", "The database of the shop is Postgres."),
        ("We moved the shop to MySQL.", "The shop keeps its data in Postgres."),
        ("The timeout of the shop is 5 seconds.", "Requests to the shop time out after 9 seconds."),
        ("The release of the shop is planned for 9 May.", "The shop is released on 12 March."),
        ("The settings of the shop are in a/x.toml.", "The shop reads its settings from b/y.ini."),
        ("Our CI is Drone.", "Our builds run on Jenkins."),
        ("The disk quota of the shop is 9 GB.", "The shop gets 4 GB of disk."),
        ("Greta owns the shop now.", "The owner of the shop is Farida."),
        ("Build the shop with `make it`.", "The shop is built with `just it`."),
        ("The rack of the shop is rack-7.", "The shop stands in rack-12."),
        # Of these sorts a thing has one, whatever is said of it.
        ("The desks of the ops team are in B214.", "You find the ops team in room A1."),
        (
            "The plan of the shop costs $9 a month.",
            "People pay $5 a month for the plan of the shop.",
        ),
        (
            "The shop lets 90 requests a minute through.",
            "The rate limit of the shop is 60 requests a minute.",
        ),
        ("The firmware is under MIT.", "Our firmware is licensed under GPL-3.0."),
        ("Mails about the job go to a@x.org.", "If the job fails, b@x.org is notified."),
        # One group of words.
        ("The shop boots from a/x.py.", "The entry point of the shop is b/y.py."),
        (
            "Events of the shop are purged after 7 days.",
            "The retention of events in the shop is 30 days.",
        ),
    ],
)
def test_another_value_in_other_words_is_a_change(new: str, old: str) -> None:
    assert compare(new, old).kind == "changes"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The port of the shop changed from 7001 to 7002.", "The shop listens on port 7001."),
        ("Use port 7002 instead of 7001 for the shop.", "The shop listens on port 7001."),
        ("Emeka took over the shop from Greta.", "The owner of the shop is Greta."),
        ("We raised the timeout of the shop from 5 to 9 seconds.", "The timeout is 5 seconds."),
        ("We upgraded the shop from Python 3.9 to 3.12.", "The shop runs on Python 3.9."),
        ("`just up` replaces `make up` for starting the shop.", "Start the shop with `make up`."),
        ("We dropped oxlint for eslint in linting.", "We lint the code with oxlint."),
        ("Ann handed the shop over to Bo.", "Ann maintains the shop."),
        ("The shop is released on 3 April, not on 9 May.", "The release of the shop is on 9 May."),
        # Few things are that path, that command, or that host.
        ("The shop boots from a.rb, no longer from b.rb.", "The start file of the shop is b.rb."),
        ("b.x.dev is dead, the address of the shop is c.x.dev.", "The shop is at b.x.dev."),
        ("Ann has left, Bo does the JetBrains seats.", "Our contact for JetBrains is Ann."),
        ("We moved the job off marten and onto lynx.", "The job runs on marten."),
        (
            "The shop stopped sending Thrift, it sends Avro.",
            "The shop sends its messages as Thrift.",
        ),
        ("The ops team gave up Coda, its wiki is Outline.", "The wiki of the ops team is in Coda."),
        ("all in the shop that was olive is teal now.", "The shop uses olive as its colour."),
        ("bot_a is locked, the job uses bot_b now.", "The job connects as bot_a."),
        ("The shop gets 9 retries instead of 4.", "Failed calls to the shop are retried 4 times."),
        ("We renamed the default branch from main to edge.", "Our default branch is main."),
        (
            "We switched the login of the job from bot_a to bot_b.",
            "The job signs in as bot_a.",
        ),
        (
            "Our dashboards are in Grafana, no longer in Zabbix.",
            "We monitor production with Zabbix.",
        ),
        (
            "The shop forgets people after 9 minutes, no longer after four hours.",
            "We changed the session length of the shop from one hour to four hours.",
        ),
    ],
)
def test_whoever_names_the_old_value_replaces_it_whatever_the_words(new: str, old: str) -> None:
    assert compare(new, old).kind == "names"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        # Another attribute, another unit, another sort of value.
        ("The debug port of the shop is 7002.", "The port of the shop is 7001."),
        ("The shop has 8 replicas.", "The shop listens on port 7001."),
        ("The shop has 12 threads.", "Requests to the shop time out after 9 seconds."),
        ("The shop runs on Python 3.9.", "The shop listens on port 7001."),
        ("The shop is pinned to OpenSSL 3.0.2.", "The shop is deployed on Fridays."),
        ("The mail queue is in eu-west-1.", "The mail queue stands in rack-12."),
        ("Logs of the shop are in /var/a.", "Backups of the shop are in /var/b."),
        ("The shop reads from Postgres.", "The shop writes to MySQL."),
        ("The job starts at 1:15.", "The job ends at 2:30."),
        # Another subject.
        ("We deploy the shop on Mondays.", "We deploy the mail queue on Tuesdays."),
        ("The limit of the shop is 256 MB.", "The limit of the mail queue is 512 MB."),
        ("18 threads work in the shop.", "18 threads work in the mail queue."),
        ("The Billing API listens on port 80.", "The Search API listens on port 80."),
        ("We moved the shop to MySQL.", "We moved the mail queue from Postgres to SQLite."),
        # Of these there may be several at a time.
        ("Alice is on the platform team.", "Bob is on the platform team."),
        ("Alice reviews the shop.", "Bob looks at the shop."),
        ("We support Postgres.", "We use MySQL for reports."),
        # Whose it is differs, whatever else is the same.
        (
            "Clients may send the shop 60 requests a minute.",
            "Clients may send the mail queue 90 requests a minute.",
        ),
        ("The plan of the kiosk costs $9 a month.", "The plan of the web shop costs $5 a month."),
        ("You find the ops team in room B214.", "You find the data team in room A1."),
        ("Logs of the mail worker are in /var/a.", "Logs of the mail queue are in /var/b."),
        ("b.x.dev is dead, the address of the shop is c.x.dev.", "The mail queue is at b.x.dev."),
        ("The mail queue gets 9 retries instead of 4.", "The mail client gets 4 retries."),
        ("There are four people on the data team.", "There are four people on the mobile team."),
        # The old value is spoken of, and nothing is said to have gone.
        ("The shop listens on 7001 and 7002.", "The port of the shop is 7001."),
        ("Ann and Bo do the JetBrains seats.", "Our contact for JetBrains is Ann."),
        ("The shop waits 4 seconds instead of 9.", "The shop has 9 threads."),
    ],
)
def test_what_stands_side_by_side_is_left_alone(one: str, two: str) -> None:
    assert compare(one, two).kind == "nothing"
    assert compare(two, one).kind == "nothing"


def test_a_correction_or_a_now_says_that_a_name_took_the_place_of_another() -> None:
    new, old = "Bo works on the shop.", "The shop is worked on by Al."
    assert compare(new, old).kind == "nothing"
    assert compare(new, old, corrects=True).kind == "changes"
    assert compare("Bo works on the shop now.", old).kind == "changes"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The port is 9090, not 8080.", "The port is 9090, ."),
        ("We upgraded it from Python 3.9 to 3.12.", "We upgraded it from python to 3.12."),
        ("We carried it from rack-1 to rack-2.", "We it from to rack-2."),
        ("The port is 8080.", "The port is 8080."),
        ("Files are not committed.", "Files are not committed."),
    ],
)
def test_what_a_sentence_gives_up_is_no_part_of_what_it_says(text: str, left: str) -> None:
    assert " ".join(standing(text).split()) == left


def test_forms_of_a_word_are_one_and_values_have_a_sort() -> None:
    assert len({base(w) for w in ("plan", "plans", "planned", "planning")}) == 1
    assert root("owner") == root("owns") and root("built") == root("builds")
    assert root("deployment") == root("deployed") and root("shop") != root("ship")
    sorts = {text: kind(said(text).tokens) for text in ("12 March", "3 April", "5 GB", "rack-1")}
    assert sorts["12 March"] == sorts["3 April"] == {"month"}
    assert sorts["5 GB"] == {"size"} and sorts["rack-1"] == {"id a-#"}
    assert not kind(said("3 kafka").tokens)
    assert kind(said("7001").tokens) == {"number"} and not kind(said("blue cheese").tokens)


def test_a_value_is_one_run_of_words() -> None:
    whole = said("Ann met the cook Bo.")
    ann, met, cook, bo = whole.tokens
    assert run_of((cook, bo), whole) and run_of((met, cook), whole)
    assert not run_of((ann, bo), whole) and not run_of((), whole)


def test_who_says_the_new_value_already_is_not_replaced() -> None:
    moved = "We moved the shop from Postgres to MySQL."
    assert compare(moved, "The shop has Postgres.").kind == "names"
    assert compare(moved, "The shop has Postgres beside MySQL.").kind != "names"


def _told(live: Live) -> dict[str, str]:
    found = live.rows("MATCH (l:Learning) RETURN l.text AS text, l.status AS status")
    return {str(row["text"]): str(row["status"]) for row in found}


@pytest.mark.parametrize(
    ("said_now", "status"),
    [
        ("No, use port 7002 instead of 7001 for the shop.", "approved"),
        ("We relocated the shop from port 7001 to port 7002.", "approved"),
        # Of something else, or for the moment only: it waits, and nothing is ended.
        ("No, use port 7002 instead of 7009 for the mail queue.", "candidate"),
        ("No, use port 7002 instead of 7001 for this test of the shop.", "candidate"),
    ],
)
def test_a_correction_in_passing_counts_where_it_corrects_what_is_known(
    live: Live, said_now: str, status: str
) -> None:
    say(live, "Remember that the shop listens on port 7001.", session="s1")
    say(live, said_now, session="s2", second=60)
    told = _told(live)
    old = told.pop("The shop listens on port 7001.")
    assert (list(told.values()), old) == (
        [status],
        "rejected" if status == "approved" else "approved",
    )


def test_a_correction_by_somebody_else_waits(live: Live) -> None:
    say(live, "Remember that the shop listens on port 7001.", session="s1")
    later = "No, use port 7002 instead of 7001 for the shop."
    say(live, later, session="s2", second=60, user="bob")
    assert sorted(_told(live).values()) == ["approved", "candidate"]


def test_what_only_the_value_names_is_ended_for_a_person_to_confirm(live: Live) -> None:
    say(live, "Remember that sessions in the kiosk last one hour.", session="s1")
    say(
        live,
        "Remember that the kiosk logs users out after two days, no longer after one hour.",
        session="s2",
        second=60,
    )
    found = live.rows(
        "MATCH (n:Learning)-[edge:SUPERSEDES]->(o:Learning) RETURN o.text AS old, "
        "o.status AS status, o.injectable AS told, edge.confirmed AS confirmed"
    )
    assert [dict(row) for row in found] == [
        {
            "old": "sessions in the kiosk last one hour.",
            "status": "approved",
            "told": False,
            "confirmed": False,
        }
    ]


def test_what_only_the_value_names_is_not_ended_by_somebody_else(live: Live) -> None:
    say(live, "Remember that sessions in the kiosk last one hour.", session="s1")
    later = "Remember that the kiosk logs users out after two days, no longer after one hour."
    say(live, later, session="s2", second=60, user="bob")
    found = live.rows("MATCH (l:Learning) RETURN l.status AS status, l.injectable AS told")
    assert sorted((row["status"], row["told"]) for row in found) == [
        ("approved", True),
        ("candidate", False),
    ]
