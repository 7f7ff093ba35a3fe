"""The spool on a damaged, full or shared disk: intact records survive, losses are counted."""

import fcntl
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg_hooks import spool as spool_module
from mkg_hooks.spool import Cursor, Spool, SpoolError
from mkg_hooks.spool_records import packed, record_at
from tests.support.requirement import requirement


def record(number: int, size: int = 0) -> dict[str, Any]:
    return {"v": 1, "kind": "event", "event_key": f"k{number}", "prompt": "ü🚀\n" + "x" * size}


def keys(spool: Spool, after: Cursor | None = None) -> list[str]:
    found = spool.read(spool.cursor() if after is None else after, 100_000)
    return [str(r["event_key"]) for _, r in found]


def filled(folder: Path, count: int = 5, **options: Any) -> Spool:
    spool = Spool(folder / "spool", **options)
    for number in range(count):
        spool.append(record(number))
    return spool


def segments(spool: Spool) -> list[Path]:
    return sorted(Path(spool.folder).glob("*.seg"))


def test_records_come_back_in_order_and_sequences_rise(tmp_path):
    spool = Spool(tmp_path / "spool")
    sequences = [spool.append(record(number)) for number in range(5)]
    assert sequences == sorted(set(sequences))
    found = spool.read(spool.cursor(), 3)
    assert [r for _, r in found] == [record(0), record(1), record(2)]
    assert [r for _, r in spool.read(found[-1][0], 3)] == [record(3), record(4)]
    assert (spool.pending(), spool.oldest()) == (5, record(0))


def test_a_committed_record_does_not_come_again_not_even_to_another_process(tmp_path):
    spool = filled(tmp_path)
    spool.commit(spool.read(spool.cursor(), 2)[-1][0])
    again = Spool(tmp_path / "spool")
    assert keys(again) == ["k2", "k3", "k4"] and again.pending() == 3
    again.commit(again.read(again.cursor(), 9)[-1][0])
    assert (keys(again), again.pending(), again.oldest()) == ([], 0, None)


@requirement("SEC-09")
def test_folder_and_files_are_the_users_alone(tmp_path):
    before = os.umask(0)
    try:
        spool = filled(tmp_path)
        spool.commit(spool.read(spool.cursor(), 1)[-1][0])
    finally:
        os.umask(before)
    for path in [Path(spool.folder), *Path(spool.folder).rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    Path(spool.folder).chmod(0o777)
    spool.append(record(9))
    assert stat.S_IMODE(Path(spool.folder).stat().st_mode) == 0o700


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "spool").symlink_to(tmp_path / "real")
    with pytest.raises(SpoolError):
        Spool(tmp_path / "spool").append(record(1))
    assert list((tmp_path / "real").iterdir()) == []


@requirement("SEC-10")
def test_append_returns_only_after_the_record_was_flushed(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(spool_module, "flush", lambda fd: flushed.append(os.fstat(fd).st_size))
    spool = filled(tmp_path, 1)
    assert flushed == [segments(spool)[0].stat().st_size]

    def fail(fd: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(spool_module, "flush", fail)
    with pytest.raises(SpoolError, match="not flushed"):
        spool.append(record(1))


@requirement("SEC-10")
def test_a_write_torn_at_any_byte_costs_that_record_alone(tmp_path):
    spool = filled(tmp_path, 2)
    path = segments(spool)[0]
    whole = path.read_bytes()
    last = packed(len(whole), json.dumps(record(2), ensure_ascii=False).encode())
    for cut in range(len(last)):
        shutil.rmtree(spool.folder)
        Path(spool.folder).mkdir(mode=0o700)
        path.write_bytes(whole + last[:cut])
        # Only the newline is missing: the record is whole, though nobody was told so.
        survives = ["k2"] if cut == len(last) - 1 else []
        assert keys(spool) == ["k0", "k1", *survives]
        spool.append(record(3))
        assert keys(spool) == ["k0", "k1", *survives, "k3"]
        torn = 1 if 0 < cut < len(last) - 1 else 0
        assert spool.counters() == {
            "torn": torn,
            "crc": 0,
            "gap": 0,
            "refused": 0,
            "not-json": 0,
            "lost": 0,
            "shortened": 0,
            "shortened_bytes": 0,
        }
        assert spool.quarantined() == 0


def test_an_unfinished_tail_is_left_alone_while_a_writer_holds_the_lock(tmp_path):
    spool = filled(tmp_path, 1)
    path = segments(spool)[0]
    size = path.stat().st_size
    last = packed(size, json.dumps(record(1), ensure_ascii=False).encode())
    with (Path(spool.folder) / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path.write_bytes(path.read_bytes() + last[:20])
        assert keys(spool) == ["k0"] and spool.counters()["torn"] == 0
        path.write_bytes(path.read_bytes()[:size] + last)
    assert keys(spool) == ["k0", "k1"] and spool.counters()["torn"] == 0


def test_a_tail_of_damage_alone_is_passed_once_and_then_the_spool_is_empty(tmp_path):
    spool = filled(tmp_path, 1)
    spool.commit(spool.read(spool.cursor(), 1)[-1][0])
    with segments(spool)[0].open("ab") as file:
        file.write(b"garbage without an end")
    assert (keys(spool), spool.quarantined()) == ([], 1)
    assert spool.cursor() == segments(spool)[0].stat().st_size
    spool.append(record(1))
    assert keys(spool) == ["k1"]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_one_flipped_bit_costs_at_most_the_record_it_lies_in_and_is_reported(
    tmp_path_factory, data
):
    spool = filled(tmp_path_factory.mktemp("flip"), 4)
    path = segments(spool)[0]
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    starts = [position for position, _ in spool.read(Cursor(0), 9)]
    hit = sum(start <= at for start in starts)
    newline = at + 1 in starts
    path.write_bytes(bytes(content))
    wanted = [f"k{n}" for n in range(4) if newline or n != hit]
    assert keys(spool) == wanted
    counts = spool.counters()
    assert counts["crc"] + counts["torn"] == (0 if newline else 1)


@pytest.mark.parametrize(
    "damage", ["zero page", "missing segment", "copied segment", "emptied segment"]
)
def test_what_lies_round_the_damage_survives_and_the_damage_is_counted(tmp_path, damage):
    spool = filled(tmp_path, 12, segment_bytes=200)
    paths = segments(spool)
    assert len(paths) > 4
    inside = [f"k{n}" for n in range(12)]
    hit = [
        json.loads(line.split(b" ", 3)[3])["event_key"]
        for line in paths[2].read_bytes().splitlines()
    ]
    if damage == "zero page":
        paths[2].write_bytes(b"\0" * paths[2].stat().st_size)
    elif damage == "missing segment":
        paths[2].unlink()
    elif damage == "emptied segment":
        paths[2].write_bytes(b"")
    else:
        shutil.copy(paths[2], Path(spool.folder) / f"{10**9:020d}.seg")
        hit = []
    assert keys(spool, Cursor(1)) == [key for key in inside[1:] if key not in hit]
    counts = spool.counters()
    assert counts["crc"] + counts["gap"] >= 1


def test_a_lost_or_damaged_cursor_reads_again_and_never_skips(tmp_path):
    spool = filled(tmp_path, 3)
    spool.commit(spool.read(spool.cursor(), 2)[-1][0])
    path = Path(spool.folder) / "cursor"
    for damaged in (b"", b"12", b"9999 00000000\n", b"\xff\xfe", b"-1 00000000"):
        path.write_bytes(damaged)
        assert keys(spool) == ["k0", "k1", "k2"]
    path.unlink()
    assert keys(spool) == ["k0", "k1", "k2"]


@requirement("SEC-10")
def test_a_cursor_ahead_of_the_surviving_file_hides_no_later_record(tmp_path):
    spool = filled(tmp_path, 3)
    spool.commit(spool.read(spool.cursor(), 3)[-1][0])
    # Power loss: the cursor was flushed, the last records were not.
    os.truncate(segments(spool)[0], segments(spool)[0].stat().st_size - 40)
    spool.append(record(7))
    assert keys(spool) == ["k7"]
    for path in segments(spool):
        path.unlink()
    spool.append(record(8))
    assert keys(spool) == ["k8"]


@requirement("SEC-10")
def test_the_cursor_is_durable_before_a_segment_is_deleted(tmp_path, monkeypatch):
    spool = filled(tmp_path, 12, segment_bytes=300)
    before = segments(spool)
    at_unlink = []
    real = os.unlink
    monkeypatch.setattr(
        os, "unlink", lambda path: (at_unlink.append(int(Spool(spool.folder).cursor())), real(path))
    )
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(len(at_unlink)))
    done = spool.read(spool.cursor(), 9)[-1][0]
    spool.commit(done)
    assert at_unlink and set(at_unlink) == {int(done)}
    assert synced[:2] == [0, 0]  # the file and its folder, before the first unlink
    assert len(segments(spool)) < len(before)
    assert keys(spool) == ["k9", "k10", "k11"]


@pytest.mark.parametrize("step", ["cursor", "unlink", "roll"])
def test_a_reader_that_dies_inside_a_commit_neither_loses_nor_blocks(tmp_path, monkeypatch, step):
    monkeypatch.setattr(spool_module, "ROLL_BYTES", 10)
    spool = filled(tmp_path, 12, segment_bytes=300)
    target = {"cursor": "replace", "unlink": "unlink", "roll": "open"}[step]
    real = getattr(os, target)

    def dies(*arguments: Any, **options: Any) -> Any:
        if step != "roll" or (len(arguments) > 1 and arguments[1] & os.O_EXCL):
            raise KeyboardInterrupt
        return real(*arguments, **options)

    done = spool.read(spool.cursor(), 100)[-1][0]
    with monkeypatch.context() as patch:
        patch.setattr(os, target, dies)
        with pytest.raises(KeyboardInterrupt):
            spool.commit(done)
    assert keys(spool) == ([f"k{n}" for n in range(12)] if step == "cursor" else [])
    spool.append(record(99))
    assert keys(spool)[-1] == "k99"


def test_a_long_segment_that_was_read_to_its_end_is_replaced_so_that_its_texts_go_away(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(spool_module, "ROLL_BYTES", 1000)
    spool = filled(tmp_path, 3)
    spool.append(record(3, 2000))
    end = spool.read(spool.cursor(), 9)[-1][0]
    spool.commit(end)
    (path,) = segments(spool)
    assert (path.name, path.stat().st_size) == (f"{end:020d}.seg", 0)
    assert spool.append(record(4)) == end
    assert keys(spool) == ["k4"]


def test_a_record_that_cannot_be_applied_is_put_aside_with_its_reason(tmp_path):
    spool = filled(tmp_path, 2)
    (cursor, first), _ = spool.read(spool.cursor(), 2)
    spool.refuse(cursor, first, "KeyError: 'x'")
    spool.commit(cursor)
    assert keys(spool) == ["k1"] and spool.quarantined() == 1 and spool.counters()["refused"] == 1
    (path,) = (Path(spool.folder) / "quarantine").iterdir()
    assert json.loads(path.read_text()) == {"reason": "KeyError: 'x'", "record": first}


# -- limits --------------------------------------------------------------------------------------


@requirement("SEC-10")
def test_a_disk_that_fills_at_any_byte_leaves_a_spool_that_works_again(tmp_path):
    program = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]);"
        "from mkg_hooks.spool import Spool, SpoolError;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2);"
        "s = Spool(sys.argv[2]);\n"
        "for n in range(6):\n"
        "    try: s.append({'event_key': f'k{n}', 'p': 'x' * 50}); print(f'k{n}', flush=True)\n"
        "    except SpoolError: pass\n"
    )
    hooks = str(Path(spool_module.__file__).parents[1])
    for limit in range(0, 500, 97):
        folder = tmp_path / str(limit)
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program, hooks, str(folder), str(limit)],
            capture_output=True,
            text=True,
            check=True,
        )
        acknowledged = done.stdout.split()
        assert (len(acknowledged) == 6) is False
        spool = Spool(folder)
        assert keys(spool) == acknowledged and spool.counters()["torn"] == 0
        spool.append(record(7))
        assert keys(spool) == [*acknowledged, "k7"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 0


def test_a_lock_that_is_never_released_does_not_hold_a_writer_for_ever(tmp_path):
    spool = filled(tmp_path, 1, lock_seconds=0.05)
    with (Path(spool.folder) / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SpoolError, match="lock"):
            spool.append(record(1))
        assert keys(spool) == ["k0"]
    spool.append(record(2))
    assert keys(spool) == ["k0", "k2"]


def test_a_spool_that_does_not_exist_is_empty(tmp_path):
    spool = Spool(tmp_path / "never made")
    assert (spool.read(spool.cursor(), 9), spool.pending(), spool.quarantined()) == ([], 0, 0)
    assert not (tmp_path / "never made").exists()


def test_a_record_in_the_wrong_place_is_no_record():
    data = packed(10, b"{}")
    assert record_at(data, 0, 10) == (b"{}", len(data), 10)
    assert record_at(data, 0, 11) is None and record_at(data[:-3], 0, 10) is None
