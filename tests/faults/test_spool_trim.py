"""A full spool gives up the oldest tool output, counts it, and keeps every prompt and failure."""

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg_hooks import spool as spool_module
from mkg_hooks import spool_trim
from mkg_hooks.spool import Cursor, Spool, SpoolError
from tests.support.requirement import requirement

TRIM_KILLED = Path(__file__).with_name("trim_killed.py")
HOOKS = str(Path(spool_module.__file__).parents[1])
CAP = 40_000
LARGE = 100 * 2**20


def call(number: int, size: int = 600) -> dict[str, Any]:
    return {
        "kind": "event",
        "name": "PostToolUse",
        "event_key": f"call-{number}",
        "tool_name": "Bash",
        "tool_input": "i" * 50,
        "tool_output": "o" * size,
        "tool_output_bytes": size,
    }


def prompt(number: int) -> dict[str, Any]:
    return {"name": "UserPromptSubmit", "event_key": f"prompt-{number}", "prompt": "p" * 100}


def failure(number: int) -> dict[str, Any]:
    return {**call(number), "name": "PostToolUseFailure", "event_key": f"failure-{number}"}


def marked(number: int) -> dict[str, Any]:
    """A failed call of a client that sends no event of its own for it."""
    return {**call(number), "event_key": f"marked-{number}", "tool_error": True}


def one_of(number: int) -> dict[str, Any]:
    return (prompt, call, call, call, failure, marked)[number % 6](number)


def mixed(folder: Path, count: int, cap: int = LARGE) -> Spool:
    spool = Spool(folder / "spool", cap_bytes=cap, segment_bytes=CAP // 8)
    for number in range(count):
        spool.append(one_of(number))
    return spool


def found(spool: Spool, after: int = 0) -> list[dict[str, Any]]:
    return [record for _, record in spool.read(Cursor(after), 100_000)]


def went(records: list[dict[str, Any]], field: str) -> list[str]:
    """Keys of the calls that lost a body."""
    calls = [r for r in records if r["event_key"].startswith("call")]
    return [r["event_key"] for r in calls if field not in r]


@requirement("SEC-10")
def test_the_oldest_tool_output_goes_first_and_every_event_prompt_and_failure_stays(tmp_path):
    spool = mixed(tmp_path, 70, CAP)
    records = found(spool)
    keys = [r["event_key"] for r in records]
    assert keys == [one_of(n)["event_key"] for n in range(70)]
    used, most = spool.room()
    assert used <= most == CAP
    lost = went(records, "tool_output")
    calls = [key for key in keys if key.startswith("call")]
    assert 0 < len(lost) < len(calls) and lost == calls[: len(lost)]
    assert went(records, "tool_input") == []
    for number, record in enumerate(records):
        if record["event_key"] in lost:
            whole = one_of(number)
            whole.pop("tool_output")
            assert record == {**whole, "truncated": True}
        else:
            assert record == one_of(number)
    counts = spool.counters()
    assert (counts["shortened"], counts["lost"]) == (len(lost), 0)
    assert counts["shortened_bytes"] >= 580 * len(lost)


def test_below_its_bound_nothing_is_touched(tmp_path):
    spool = mixed(tmp_path, 70)
    assert found(spool) == [one_of(n) for n in range(70)]
    assert spool.counters()["shortened"] == 0
    assert not (Path(spool.folder) / "shed").exists()


def test_inputs_go_after_all_outputs_and_at_the_bound_calls_are_refused_before_prompts(tmp_path):
    spool = Spool(tmp_path / "spool", cap_bytes=CAP)
    kept, first = 0, list[dict[str, Any]]()
    with pytest.raises(SpoolError, match="mkg worker drain"):
        while True:
            spool.append(call(kept))
            kept += 1
            if not first and went(found(spool), "tool_input"):
                first = found(spool)
    inputs = went(first, "tool_input")
    assert inputs == [f"call-{n}" for n in range(len(inputs))] and len(inputs) < len(first) - 10
    assert set(went(first, "tool_output")) > set(inputs)
    records = found(spool)
    assert [r["event_key"] for r in records] == [f"call-{n}" for n in range(kept)]
    # What a call is refused, a prompt and a failure still have.
    spool.append(prompt(1))
    spool.append({**failure(2), "tool_output": "o"})
    assert [r["event_key"] for r in found(spool)[kept:]] == ["prompt-1", "failure-2"]
    with pytest.raises(SpoolError):
        for number in range(1000):
            spool.append(prompt(number))
    assert spool.room()[0] <= CAP


def test_a_spool_of_prompts_alone_loses_none_of_them(tmp_path):
    spool = Spool(tmp_path / "spool", cap_bytes=CAP)
    kept = 0
    with pytest.raises(SpoolError):
        while True:
            spool.append(prompt(kept))
            kept += 1
    assert found(spool) == [prompt(n) for n in range(kept)]
    assert spool.room()[0] > CAP * 0.95


@requirement("SEC-10")
def test_a_trim_killed_at_any_of_its_calls_leaves_every_event_once_and_counts_what_went(tmp_path):
    mixed(tmp_path, 90)
    whole, copy = tmp_path / "spool", tmp_path / "copy"
    wanted = [one_of(n)["event_key"] for n in range(90)]
    size = sum(path.stat().st_size for path in whole.glob("*.seg"))

    def run(at: int) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy)
        words = [HOOKS, str(copy), str(size), str(at)]
        command = [sys.executable, "-I", "-S", str(TRIM_KILLED), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    def check(told: bool) -> int:
        spool = Spool(copy)
        records = found(spool)
        keys = [r["event_key"] for r in records]
        assert keys[:90] == wanted and (keys[90:] == ["last"] or (not told and not keys[90:]))
        for number, record in enumerate(records[:90]):
            if not record["event_key"].startswith("call"):
                assert record == one_of(number)
        lost = len(went(records, "tool_output"))
        counts = spool.counters()
        assert counts["shortened"] >= lost and counts["crc"] == counts["gap"] == 0
        return lost

    calls = int(run(0).stdout)
    assert check(told=True) > 0 and calls > 15
    seen = set[int]()
    for at in range(1, calls + 1):
        assert run(at).returncode == -9
        seen.add(check(told=False))
        # The next writer goes on from there.
        spool = Spool(copy, cap_bytes=size)
        spool.append(prompt(1000))
        assert [r["event_key"] for r in found(spool)][-1] == "prompt-1000"
        assert list(copy.glob("*.seg.*")) == []
    assert len(seen) > 1


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_reading_committing_appending_and_trimming_in_any_order_give_each_event_once(
    tmp_path_factory, data
):
    spool = Spool(tmp_path_factory.mktemp("any") / "spool", cap_bytes=CAP, segment_bytes=3000)
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is cut off here, and a flush costs most of the time.
        patch.setattr(os, "fsync", lambda fd: None)
        patch.setattr(spool_module, "flush", lambda fd: None)
        _any_order(spool, data)


def _any_order(spool: Spool, data: st.DataObject) -> None:
    written: list[str] = []
    read: list[str] = []
    for _ in range(data.draw(st.integers(1, 12))):
        for _ in range(data.draw(st.integers(0, 30))):
            record = one_of(len(written))
            try:
                spool.append(record)
                written.append(record["event_key"])
            except SpoolError:
                break
        batch = spool.read(spool.cursor(), data.draw(st.integers(1, 25)))
        keep = data.draw(st.integers(0, len(batch)))
        if keep:
            read += [str(r["event_key"]) for _, r in batch[:keep]]
            spool.commit(batch[keep - 1][0])
    assert spool.pending() == len(written) - len(read)
    while batch := spool.read(spool.cursor(), 7):
        read += [str(r["event_key"]) for _, r in batch]
        spool.commit(batch[-1][0])
    assert read == written
    assert spool.pending() == 0 and spool.counters()["gap"] == 0


def trimmed_spool(folder: Path) -> tuple[Spool, Path]:
    spool = mixed(folder, 30, LARGE)
    segments = sorted(Path(spool.folder).glob("*.seg"))
    bases = [int(path.stem) for path in segments]
    for base, following in pairwise(bases):
        path = Path(spool.folder) / f"{base:020d}.seg"
        spool_trim.trim(str(path), base, following, 0, 1, spool.put_aside)
    return spool, segments[1]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_flipped_bit_in_a_trimmed_segment_costs_one_record_and_is_reported(
    tmp_path_factory, data
):
    spool, path = trimmed_spool(tmp_path_factory.mktemp("flip"))
    before = [r["event_key"] for r in found(spool)]
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(bytes(content))
    after = [r["event_key"] for r in found(spool)]
    missing = [key for key in before if key not in after]
    assert after == [key for key in before if key not in missing] and len(missing) <= 1
    counts = spool.counters()
    assert counts["crc"] + counts["torn"] >= len(missing)
    spool.append(prompt(99))
    assert found(spool)[-1] == prompt(99)


def test_damage_in_a_segment_isput_aside_before_the_segment_is_trimmed(tmp_path):
    spool = mixed(tmp_path, 30)
    path = sorted(Path(spool.folder).glob("*.seg"))[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    following = int(sorted(Path(spool.folder).glob("*.seg"))[1].stem)
    spool_trim.trim(str(path), 0, following, 0, 1, spool.put_aside)
    assert spool.counters()["crc"] == 1 and len(found(spool)) == 29
    assert spool.counters()["crc"] == 1


def test_no_more_is_taken_than_makes_room(tmp_path):
    spool = mixed(tmp_path, 60)
    used = spool.room()[0]
    small = Spool(spool.folder, cap_bytes=int(used / 0.9) - 500)
    small.append(prompt(99))
    first, *others = [path.read_bytes() for path in sorted(Path(spool.folder).glob("*.seg"))]
    assert spool_trim.end_mark(first[-64:]) and len(others) > 5
    assert not any(spool_trim.end_mark(data[-64:]) for data in others)


def test_what_was_applied_already_does_not_move_along(tmp_path):
    spool = mixed(tmp_path, 30)
    first, second = sorted(Path(spool.folder).glob("*.seg"))[:2]
    before = found(spool)
    spool.commit(spool.read(Cursor(0), 3)[-1][0])
    spool_trim.trim(str(first), 0, int(second.stem), int(spool.cursor()), 1, spool.put_aside)
    assert [r["event_key"] in first.read_text() for r in before[:4]] == [False] * 3 + [True]
    assert [r["event_key"] for r in found(spool, spool.cursor())] == [
        r["event_key"] for r in before[3:]
    ]


def test_a_trimmed_segment_that_became_the_newest_is_not_appended_to(tmp_path):
    spool, _ = trimmed_spool(tmp_path)
    newest = sorted(Path(spool.folder).glob("*.seg"))[-1]
    newest.unlink()
    before = [r["event_key"] for r in found(spool)]
    spool.append(prompt(99))
    assert [r["event_key"] for r in found(spool)] == [*before, "prompt-99"]


def test_a_segment_replaced_while_it_is_read_is_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(spool_module, "WINDOW_BYTES", 700)
    spool = mixed(tmp_path, 30)
    bodies = spool._bodies(0)
    seen = [next(bodies)]
    bases = [int(path.stem) for path in sorted(Path(spool.folder).glob("*.seg"))]
    for base, following in pairwise(bases):
        path = Path(spool.folder) / f"{base:020d}.seg"
        spool_trim.trim(str(path), base, following, 0, 1, spool.put_aside)
    seen += bodies
    keys = [json.loads(body)["event_key"] for _, body in seen if body]
    assert keys == [one_of(n)["event_key"] for n in range(30)]
    assert spool.counters()["crc"] == spool.counters()["gap"] == 0


def test_a_loss_is_counted_even_where_not_one_byte_can_be_written(tmp_path, monkeypatch):
    spool_trim.count_loss(str(tmp_path))

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    spool_trim.count_loss(str(tmp_path))
    assert Spool(tmp_path).counters()["lost"] == 2
