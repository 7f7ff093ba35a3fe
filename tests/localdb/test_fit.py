"""Sizes for machines of several sizes."""

from pathlib import Path

import pytest

from mkg.errors import ConfigError
from mkg.localdb.fit import Fit, _group_limit, fit, machine
from tests.support.requirement import requirement

GB = 1 << 30


@requirement("NEO-131")
@pytest.mark.parametrize(
    ("gigabytes", "heap", "page_cache"),
    [(1, 512, 64), (2, 512, 64), (4, 512, 128), (8, 1024, 256), (24, 3072, 512), (512, 4096, 512)],
)
def test_heap_and_page_cache_grow_with_the_machine_between_floor_and_cap(
    gigabytes, heap, page_cache
):
    found = fit(gigabytes * GB, 4)
    assert (found.heap, found.page_cache) == (heap, page_cache)


@requirement("NEO-131")
def test_what_a_transaction_may_take_stays_below_the_heap():
    for gigabytes in (1, 8, 64):
        found = fit(gigabytes * GB, 4)
        assert found.transaction <= found.transactions < found.heap


def test_the_users_heap_wins_and_the_rest_follows_it():
    assert fit(8 * GB, 2, "2g") == Fit(2048, 256, 256, 1024, 1433, optimise=False)
    assert fit(8 * GB, 2, "768M").heap == 768


@requirement("NEO-131")
@pytest.mark.parametrize("heap", ["511m", "256m", "1", "1t", "-1g", "1.5g", "lots", "1g;x"])
def test_a_heap_that_is_too_small_or_no_size_is_refused(heap):
    with pytest.raises(ConfigError, match="at least 512m"):
        fit(8 * GB, 2, heap)


def test_the_optimising_compiler_is_left_out_on_two_cores():
    assert not fit(8 * GB, 1).optimise
    assert not fit(8 * GB, 2).optimise
    assert fit(8 * GB, 3).optimise


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"memory.max": "2147483648\n"}, 2147483648),
        ({"memory.max": "max\n"}, None),
        ({"memory.limit_in_bytes": "1073741824\n"}, 1073741824),
        ({}, None),
    ],
)
def test_a_containers_limit_counts(files, limit):
    def read(path: Path) -> str:
        try:
            return files[path.name]
        except KeyError:
            raise FileNotFoundError(path) from None

    assert _group_limit(read) == limit


def test_this_machine_has_memory_and_cores():
    memory, cores = machine()
    assert memory > 100 << 20
    assert cores >= 1
