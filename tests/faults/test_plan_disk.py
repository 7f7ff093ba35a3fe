"""F15, F16 and F20: damage, a full disk and a power cut, at every place where they can hit."""

import contextlib
import copy
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from mkg.private import write_private
from mkg_hooks import spool as spool_module
from mkg_hooks import spool_trim
from mkg_hooks.spool import Cursor, Spool
from mkg_hooks.spool_records import walk, write_whole
from tests.faults.disk import Failing, Forgetting, Inode
from tests.faults.outcome import Outcome, counted
from tests.faults.test_spool_trim import CAP, one_of
from tests.support.requirement import requirement

Held = Callable[[Outcome], None]
SIZES = {"short": {"F15": 120, "F20": 150}, "long": {"F15": 4000, "F20": 4000}}


def keys(spool: Spool, after: int = 0) -> list[str]:
    return [str(r["event_key"]) for _, r in spool.read(Cursor(after), 100_000)]


# -- F15: damage -----------------------------------------------------------------------------------


def a_spool(folder: Path, dice: random.Random) -> Spool:
    """Some segments, a part of them trimmed, and a cursor somewhere."""
    spool = Spool(folder, segment_bytes=2500)
    for number in range(24):
        spool.append(one_of(number))
    bases = [int(path.stem) for path in sorted(folder.glob("*.seg"))]
    for base, following in pairwise(bases):
        if dice.random() < 0.4:
            path = str(folder / f"{base:020d}.seg")
            spool_trim.trim(path, base, following, 0, 1, spool.put_aside)
    return spool


def damaged(folder: Path, dice: random.Random) -> tuple[str, set[str]]:
    """Do one thing to a spool; returns (what, the keys of the records that it hit)."""
    paths = sorted(folder.glob("*.seg"))
    path = dice.choice(paths)
    data = path.read_bytes()
    what = dice.choice(["bit", "zeros", "tail", "missing", "copy", "cursor", "ahead"])
    places = [
        (begin, end, _key(body)) for begin, end, _, body in walk(data, int(path.stem)) if body
    ]
    if what == "missing":
        path.unlink()
        return what, {key for _, _, key in places}
    if what == "copy":
        shutil.copy(path, folder / f"{10**12 + dice.randrange(999):020d}.seg")
        return what, set()
    if what in ("cursor", "ahead"):
        # A cursor that cannot be read, or that no longer fits: everything is read again.
        (folder / "cursor").write_bytes(b"77 00000000\n" if what == "cursor" else b"\0" * 12)
        return what, set()
    if what == "tail":
        path = paths[-1]
        data = path.read_bytes()
        places = [
            (begin, end, _key(body)) for begin, end, _, body in walk(data, int(path.stem)) if body
        ]
        first, last = dice.randrange(len(data)), len(data)
        path.write_bytes(data[:first])
    elif what == "bit":
        first = dice.randrange(len(data))
        last = first + 1
        changed = bytes([data[first] ^ (1 << dice.randrange(8))])
        path.write_bytes(data[:first] + changed + data[last:])
    else:
        first = dice.randrange(len(data))
        last = min(first + dice.randrange(1, 4096), len(data))
        path.write_bytes(data[:first] + b"\0" * (last - first) + data[last:])
    # The newline behind a record is no part of it.
    return what, {key for begin, end, key in places if first < end - 1 and last > begin}


def _key(body: bytes) -> str:
    return body.split(b'"event_key":"')[1].split(b'"')[0].decode() if b"event_key" in body else ""


@requirement("SEC-10")
def test_f15_damage_costs_what_it_hit_and_is_reported(tmp_path: Path, form: str, held: Held):
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    acked: list[str] = []
    stored: list[str] = []
    silent: list[str] = []
    for trial in range(SIZES[form]["F15"]):
        folder = tmp_path / f"{trial}"
        with fast():
            a_spool(folder, dice)
            what, hit = damaged(folder, dice)
            spool = Spool(folder)
            found = keys(spool)
            spool.append({"event_key": "afterwards"})
        all_keys = [one_of(n)["event_key"] for n in range(24)]
        acked += [f"{trial}/{key}" for key in all_keys if key not in hit] + [f"{trial}/afterwards"]
        stored += [f"{trial}/{key}" for key in keys(spool)]
        counts = spool.counters()
        # What is cut off cleanly at the end of all, or missing there, leaves nothing to be seen.
        if what in ("bit", "zeros") and set(all_keys) - set(found):
            silent += [] if counts["crc"] + counts["torn"] + counts["gap"] else [f"{trial}"]
        shutil.rmtree(folder)
    held(
        counted(
            "F15",
            "spool damaged",
            form,
            trials=SIZES[form]["F15"],
            acknowledged=acked,
            stored=stored,
        )
    )
    assert silent == []


@contextlib.contextmanager
def fast():
    """Without flushes: nothing is cut off here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        patch.setattr(spool_module, "flush", lambda fd: None)
        yield


# -- F16: a full disk ------------------------------------------------------------------------------


@dataclass
class Load:
    """Writers and a reader as the product has them: who gives an event up counts it."""

    folder: Path
    count: int
    acked: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)

    def run(self) -> None:
        spool = Spool(self.folder, cap_bytes=CAP // 2, segment_bytes=2500)
        for number in range(self.count):
            record = one_of(number)
            try:
                spool.append(record)
                self.acked.append(record["event_key"])
            except OSError:
                spool_trim.count_loss(spool.folder)
                self.given_up.append(record["event_key"])
            if number % 9 == 8:
                with contextlib.suppress(OSError):
                    self.read(spool, 4)

    def read(self, spool: Spool, limit: int) -> None:
        batch = spool.read(spool.cursor(), limit)
        self.applied += [str(r["event_key"]) for _, r in batch]
        if batch and len(batch) == 3:
            spool.refuse(*batch[0], "refused")
        if batch:
            spool.commit(batch[-1][0])


@requirement("SEC-10")
@pytest.mark.parametrize("for_good", [False, True])
def test_f16_a_disk_full_at_any_call_tears_nothing_and_every_loss_is_counted(
    tmp_path: Path, form: str, held: Held, for_good: bool
):
    load_size = 40
    with Failing(0, for_good=False) as counting:
        Load(tmp_path / "none", load_size).run()
    step = 6 if form == "short" else 1
    acked: list[str] = []
    stored: list[str] = []
    trials = 0
    for at in range(1, counting.calls + 1, step):
        load = Load(tmp_path / f"{at}", load_size)
        with Failing(at, for_good=for_good):
            load.run()
        trials += 1
        spool = Spool(load.folder)
        spool.append({"event_key": "afterwards"})
        load.acked.append("afterwards")
        there = [*load.applied, *keys(spool, spool.cursor())]
        # What was applied and could not be committed comes again: equal keys are one event.
        stored += [f"{at}/{key}" for key in dict.fromkeys(there)]
        acked += [f"{at}/{key}" for key in load.acked]
        made = (load.folder / "lost").exists()
        assert spool.counters()["lost"] == len(load.given_up) or not made, at
        assert not spool.counters()["crc"]
        shutil.rmtree(load.folder)
    held(
        counted(
            "F16", "disk full at any call", form, trials=trials, acknowledged=acked, stored=stored
        )
    )


@pytest.mark.parametrize("for_good", [False, True])
def test_f16_a_file_that_is_replaced_is_the_old_one_or_the_new_one(tmp_path: Path, for_good: bool):
    path, new = tmp_path / "own" / "x", b"new" * 100
    path.parent.mkdir()
    for at in range(1, 8):
        path.write_bytes(b"old")
        written = False
        with Failing(at, for_good=for_good), contextlib.suppress(OSError):
            write_whole(str(path), new)
            written = True
        assert path.read_bytes() in ([new] if written else [b"old", new]), at
        assert [p.name for p in path.parent.iterdir()] == ["x"]
    assert written


def test_f16_a_private_file_that_could_not_be_written_stands_as_before_and_can_be_written_again(
    tmp_path: Path,
):
    path = tmp_path / "own" / "pointer"
    write_private(path, "before")
    for at in range(1, 4):
        with Failing(at, for_good=True), pytest.raises(OSError, match="No space"):
            write_private(path, "after")
        assert path.read_text() == "before"
        assert [p.name for p in path.parent.iterdir()] == ["pointer"]
    # A process that was killed half-way and had the number of this one.
    path.with_name(f".pointer.{os.getpid()}").touch()
    write_private(path, "after")
    assert path.read_text() == "after"


# -- F20: a power cut ------------------------------------------------------------------------------


@dataclass
class Cut:
    """What had been promised, what had been applied, and what the disk held, at one moment."""

    acked: list[str]
    applied: list[str]
    names: dict[str, int]
    files: dict[int, Inode]


def cuts(folder: Path, seed: int, most: int, *, flushing: bool = True) -> list[Cut]:
    """Write, read and trim, and remember the durable state at random calls."""
    dice, seen = random.Random(seed), list[Cut]()
    acked, applied = list[str](), list[str]()
    disk = Forgetting(folder)

    def look() -> None:
        if len(seen) < most and dice.random() < 0.15:
            kept = (copy.deepcopy(disk.names), copy.deepcopy(disk.files))
            seen.append(Cut(acked.copy(), applied.copy(), *kept))

    disk.on_change = look
    with disk, pytest.MonkeyPatch.context() as patch:
        if not flushing:
            patch.setattr(spool_module, "flush", lambda fd: None)
        spool = Spool(folder, cap_bytes=CAP, segment_bytes=2500)
        number = 0
        while len(seen) < most and number < 400:
            record = one_of(number)
            key = f"{record['event_key']}"
            with contextlib.suppress(OSError):
                spool.append(record)
                acked.append(key)
            number += 1
            if dice.random() < 0.04:
                batch = spool.read(spool.cursor(), dice.randrange(1, 40))
                if batch:
                    applied += [str(r["event_key"]) for _, r in batch]
                    spool.commit(batch[-1][0])
    return seen


def after_cuts(
    tmp_path: Path, most: int, *, flushing: bool = True
) -> tuple[int, list[str], list[str]]:
    acked, stored, trials, seed = list[str](), list[str](), 0, 20
    while trials < most:
        disk = tmp_path / f"disk{seed}" / "spool"
        disk.parent.mkdir()
        for cut in cuts(disk, seed, min(most - trials, 150), flushing=flushing):
            trials += 1
            left = Forgetting(disk, files=cut.files, names=cut.names)
            left.left(tmp_path / f"{trials}")
            spool = Spool(tmp_path / f"{trials}" / "spool")
            found = keys(spool, spool.cursor())
            assert len(found) == len(set(found))
            acked += [f"{trials}/{key}" for key in cut.acked]
            stored += [f"{trials}/{key}" for key in dict.fromkeys([*cut.applied, *found])]
            with fast():
                spool.append({"event_key": "afterwards"})
                assert keys(spool, spool.cursor())[-1] == "afterwards"
            shutil.rmtree(tmp_path / f"{trials}")
        seed += 1
    return trials, acked, stored


@requirement("SEC-10")
def test_f20_a_power_cut_at_any_call_loses_nothing_that_was_acknowledged(
    tmp_path: Path, form: str, held: Held
):
    trials, acked, stored = after_cuts(tmp_path, SIZES[form]["F20"])
    held(counted("F20", "power cut", form, trials=trials, acknowledged=acked, stored=stored))


def test_f20_without_the_flush_the_same_cuts_lose_events(tmp_path: Path):
    trials, acked, stored = after_cuts(tmp_path, 40, flushing=False)
    assert counted("F20", "", "", trials=trials, acknowledged=acked, stored=stored).lost > 0
