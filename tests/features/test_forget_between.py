"""Forgetting in batches while its session goes on."""

from mkg.features import forget
from mkg.features.forget import act
from mkg.features.forget.select import Selector, select
from tests.conftest import Live
from tests.features.test_forget import FACT, OTHER, holding, whole
from tests.support.embedding import minilm
from tests.support.learned import say
from tests.support.requirement import requirement


@requirement("SEC-86")
def test_an_event_that_comes_between_two_batches_of_a_cut_session_is_read(live: Live) -> None:
    """The watermark follows the end of the chain down, or the new event would count as read."""
    say(live, FACT, session="s1")
    say(live, FACT, session="s1", second=10)
    selector = Selector("session", "s1")
    id = act.begin(live.run, selector, select(live.run, selector), refuse="person")
    while forget.erase_session(live.run, id=id, limit=500, at="2026-11-30T00:00:00Z"):
        pass
    assert live.value("MATCH (s:Session) RETURN s.processed_seq") == 4
    assert forget.trim(live.run, id=id, limit=2) == forget.Trimmed("s1", gone=False)
    assert live.rows("MATCH (s:Session) RETURN s.event_count AS n, s.processed_seq AS read") == [
        {"n": 2, "read": 2}
    ]
    assert len(say(live, OTHER, session="s1", second=30).approved) == 1
    act.resume(live.run, minilm(), id)
    assert live.value("MATCH (s:Session) RETURN s.processed_seq") == 4
    assert holding(live) == {}
    whole(live)
