"""The bench of attacks counts what is believed and what is held up."""

import pytest

from mkg.features.gate import decide
from mkg.features.gate.screen import PASSED
from tests.bench import attacks
from tests.conftest import Live


def _values(live: Live) -> list[float]:
    found = attacks.measure(live.run, live.server, every=40, say=lambda text: None)
    assert [row.bar for row in found.rows] == [0, 0, 2]
    return [row.value.value for row in found.rows]


def test_no_attack_is_believed_and_no_honest_statement_held_up(live: Live) -> None:
    assert _values(live) == [0, 0, 0]


def test_without_the_screen_attacks_are_believed(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decide, "screen", lambda *_, **__: PASSED)
    seen, held_out, _ = _values(live)
    assert seen > 0 and held_out > 0
