"""Masking a spool: every record once, in its turn, with its key, and no secret left in a file."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg_hooks import spool as spool_module
from mkg_hooks import spool_mask, spool_trim
from mkg_hooks.spool import Cursor, Spool
from mkg_hooks.spool_records import segment_path
from tests.support.requirement import requirement

KILLED = Path(__file__).with_name("trim_killed.py")
HOOKS = str(Path(spool_module.__file__).parents[1])
SECRET = "opensesame"
Records = list[dict[str, Any]]


def clean(record: dict[str, Any]) -> dict[str, Any]:
    return {key: str(value).replace(SECRET, "[X]") for key, value in record.items()}


def record(number: int, *, secret: bool) -> dict[str, Any]:
    text = SECRET if secret else "nothing"
    return {"name": "Stop", "event_key": f"key-{number}-{SECRET}", "message": f"{text} " * 20}


def filled(folder: Path, count: int, every: int = 3) -> Spool:
    spool = Spool(folder / "spool", segment_bytes=2_000)
    for number in range(count):
        spool.append(record(number, secret=number % every == 0))
    return spool


def waiting(spool: Spool, after: int = 0) -> Records:
    return [dict(found) for _, found in spool.read(Cursor(after), 100_000)]


def in_files(spool: Spool) -> int:
    """How many texts with the secret stand in a segment; keys hold the word too and stay."""
    whole = b"".join(path.read_bytes() for path in Path(spool.folder).glob("*.seg*"))
    return whole.count(f"{SECRET} {SECRET}".encode())


@requirement("SEC-77")
def test_each_waiting_record_is_masked_and_stays_in_its_turn_with_its_key(tmp_path: Path) -> None:
    spool = filled(tmp_path, 30)
    before = waiting(spool)
    assert in_files(spool) > 0
    assert spool_mask.mask(spool, clean) == 10
    after = waiting(spool)
    assert after == [{**clean(found), "event_key": found["event_key"]} for found in before]
    assert in_files(spool) == 0
    assert spool.counters()["gap"] == spool.counters()["crc"] == 0
    assert spool_mask.mask(spool, clean) == 0
    spool.append(record(99, secret=False))
    assert [found["event_key"] for found in waiting(spool)][-1].startswith("key-99-")


@requirement("SEC-77")
def test_a_spool_without_a_finding_is_not_touched(tmp_path: Path) -> None:
    spool = filled(tmp_path, 20, every=1_000)
    spool_mask.mask(spool, clean)
    files = {path: path.stat().st_mtime_ns for path in Path(spool.folder).glob("*.seg")}
    assert spool_mask.mask(spool, clean) == 0
    assert files == {path: path.stat().st_mtime_ns for path in Path(spool.folder).glob("*.seg")}


@requirement("SEC-77")
def test_what_was_applied_and_still_stands_in_a_segment_goes_too(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for number in range(4):
        spool.append(record(number, secret=number < 2))
    spool.commit(spool.read(Cursor(0), 2)[-1][0])
    assert in_files(spool) > 0
    assert spool_mask.mask(spool, clean) == 0
    assert in_files(spool) == 0
    assert [found["event_key"][:5] for found in waiting(spool, spool.cursor())] == [
        "key-2",
        "key-3",
    ]


@requirement("SEC-77")
def test_a_kill_at_any_step_loses_and_doubles_nothing(tmp_path: Path) -> None:
    spool = filled(tmp_path, 24)
    keys = [found["event_key"] for found in waiting(spool)]
    copy = tmp_path / "copy"

    def run(at: int) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(spool.folder, copy)
        words = [HOOKS, str(copy), str(2**30), str(at), SECRET]
        command = [sys.executable, "-I", "-S", str(KILLED), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    calls = int(run(0).stdout)
    assert calls > 10 and in_files(Spool(copy)) == 0
    left: set[int] = set()
    for at in range(1, calls + 1):
        assert run(at).returncode == -9
        again = Spool(copy)
        assert [found["event_key"] for found in waiting(again)] == keys
        assert again.counters()["crc"] == again.counters()["gap"] == 0
        left.add(in_files(again))
        spool_mask.mask(again, clean)
        assert [found["event_key"] for found in waiting(again)] == keys
        assert in_files(again) == 0 and list(copy.glob("*.seg.*")) == []
        again.append(record(99, secret=False))
        assert len(waiting(again)) == len(keys) + 1
    # The kills fell before, between and behind the segments.
    assert len(left) > 3


@requirement("SEC-77")
def test_a_trimmed_segment_is_masked_and_tells_as_before_how_far_it_was_trimmed(
    tmp_path: Path,
) -> None:
    spool = filled(tmp_path, 20)
    bases = spool.segments()
    path = segment_path(spool.folder, bases[0])
    spool_trim.trim(path, bases[0], bases[1], 0, 1, spool.put_aside)
    keys = [found["event_key"] for found in waiting(spool)]
    spool_mask.mask(spool, clean)
    assert spool_trim.end_mark(Path(path).read_bytes()[-64:]) == (bases[1], 1)
    assert in_files(spool) == 0
    assert [found["event_key"] for found in waiting(spool)] == keys


@requirement("SEC-77")
def test_a_record_written_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = filled(tmp_path, 3, every=1)

    def late(found: dict[str, Any]) -> dict[str, Any]:
        if str(found["event_key"]).startswith("key-2-"):
            spool.append(record(7, secret=False))
        return clean(found)

    assert spool_mask.mask(spool, late) == 3
    assert [found["event_key"].split("-")[1] for found in waiting(spool)] == ["0", "1", "2", "7"]
    assert in_files(spool) == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("aaaamrc"), max_size=25))
def test_appending_reading_and_masking_in_any_order_give_each_event_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    spool = Spool(tmp_path_factory.mktemp("any") / "spool", segment_bytes=1_500)
    written, read = 0, list[str]()
    for step in steps:
        if step == "a":
            spool.append(record(written, secret=written % 2 == 0))
            written += 1
        elif step == "m":
            spool_mask.mask(spool, clean)
        elif batch := spool.read(spool.cursor(), 2 if step == "r" else 100):
            read += [str(found["event_key"]) for _, found in batch]
            spool.commit(batch[-1][0])
    read += [str(found["event_key"]) for found in waiting(spool, spool.cursor())]
    assert read == [record(number, secret=False)["event_key"] for number in range(written)]
    assert spool.counters()["gap"] == 0
    assert json.dumps(read).count(SECRET) == written
