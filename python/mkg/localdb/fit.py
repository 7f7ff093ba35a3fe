"""Fits the server to the machine: heap, page cache and compiler, as functions of its size."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mkg.errors import ConfigError

_MB = 1 << 20
HEAP_FLOOR, HEAP_CAP = 512, 4096
CACHE_FLOOR, CACHE_CAP = 64, 512
_HEAP = re.compile(r"(\d+)([mg])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fit:
    """Megabytes for the server's parts, and whether the optimising compiler pays."""

    heap: int
    heap_start: int
    page_cache: int
    transaction: int
    transactions: int
    optimise: bool


def fit(total: int, cores: int, heap: str | None = None) -> Fit:
    """Sizes for a machine with `total` bytes of memory.

    An eighth of it becomes heap (512 MB is the smallest with which the graph algorithms are known
    to work, NEO-131) and a thirty-second page cache. On two cores the optimising compiler costs
    more at each start than it gives back to short queries.

    Raises:
        ConfigError: `heap` is not a size of at least 512m.
    """
    megabytes = total // _MB
    most = _asked(heap) if heap else _between(megabytes // 8, HEAP_FLOOR, HEAP_CAP)
    return Fit(
        heap=most,
        heap_start=256,
        page_cache=_between(megabytes // 32, CACHE_FLOOR, CACHE_CAP),
        # A transaction over its limit fails alone; without one it takes the server's heap.
        transaction=_between(most // 2, 256, 1024),
        transactions=most * 7 // 10,
        optimise=cores > 2,
    )


def _asked(heap: str) -> int:
    match = _HEAP.fullmatch(heap.strip())
    size = int(match[1]) * (1024 if match[2] in "gG" else 1) if match else 0
    if size < HEAP_FLOOR:
        raise ConfigError(f"MKG_HEAP={heap} is not a size of at least {HEAP_FLOOR}m, such as 1g")
    return size


def _between(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def machine() -> tuple[int, int]:
    """(bytes of memory, cores) that this process may use."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(total, _group_limit(Path.read_text) or total), _cores()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _group_limit(read: Callable[[Path], str]) -> int | None:
    """What a container is allowed; None without a limit."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = read(Path("/sys/fs/cgroup", name)).strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdecimal():
            return int(text)
    return None
