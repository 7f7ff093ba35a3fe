"""Fetching: verified, resumed, offline when the cache is warm."""

import errno
import shutil
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from mkg.errors import LocalDbError
from mkg.localdb import fetch
from mkg.localdb.bar import download_bar
from tests.localdb.small import CONTENTS, Repository, content, small_lock
from tests.support.requirement import requirement

SERVER = "server-1.0.jar"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Retries follow each other at once."""
    monkeypatch.setattr(fetch.random, "uniform", lambda _low, _high: 0.0)


def _whole(home: Path) -> bool:
    return all((home / j.folder / j.name).read_bytes() == content(j) for j in small_lock().jars)


@requirement("NEO-20")
def test_a_cold_cache_is_filled_and_a_warm_one_asks_for_nothing(tmp_path):
    first, second = Repository(), Repository()
    home = fetch.ensure(tmp_path, small_lock(), source=first)
    assert _whole(home)
    assert sorted(first.asked) == sorted(jar.name for jar in small_lock().jars)
    assert fetch.ensure(tmp_path, small_lock(), source=second) == home
    assert second.asked == []


@requirement("NEO-20")
def test_a_jar_that_arrives_damaged_is_fetched_again_once(tmp_path):
    damaged = b"x" * len(CONTENTS["lib org.example:server:1.0"])
    repository = Repository({SERVER: [damaged]})
    assert _whole(fetch.ensure(tmp_path, small_lock(), source=repository))
    assert Counter(repository.asked)[SERVER] == 2


@requirement("NEO-20")
@pytest.mark.parametrize("answer", [b"x" * 4000, b"cut off", b"", b"x" * 9999])
def test_a_jar_that_arrives_damaged_twice_is_refused_by_name(tmp_path, answer):
    repository = Repository({SERVER: [answer, answer]})
    with pytest.raises(LocalDbError, match=r"server-1\.0\.jar arrived twice .* mkg db up"):
        fetch.ensure(tmp_path, small_lock(), source=repository)
    assert not [path for path in tmp_path.rglob("*") if SERVER in path.name]


def test_a_half_file_in_the_cache_is_fetched_again(tmp_path):
    home = fetch.ensure(tmp_path, small_lock(), source=Repository())
    (cached,) = (tmp_path / "jars").rglob(SERVER)
    cached.write_bytes(cached.read_bytes()[:100])
    repository = Repository()
    assert _whole(fetch.ensure(tmp_path, small_lock(), source=repository))
    assert repository.asked == [SERVER]
    assert _whole(home)


def test_damage_that_keeps_the_size_is_found_by_a_thorough_look_only(tmp_path):
    fetch.ensure(tmp_path, small_lock(), source=Repository())
    (cached,) = (tmp_path / "jars").rglob(SERVER)
    cached.write_bytes(b"y" * cached.stat().st_size)
    repository = Repository()
    fetch.ensure(tmp_path, small_lock(), source=repository)
    assert repository.asked == []
    assert _whole(fetch.ensure(tmp_path, small_lock(), source=repository, thorough=True))
    assert repository.asked == [SERVER]


def test_a_broken_connection_is_tried_again_and_what_arrived_is_kept(tmp_path):
    gone = requests.ConnectionError("reset")
    repository = Repository({SERVER: [gone, gone, gone]})
    assert _whole(fetch.ensure(tmp_path, small_lock(), source=repository))
    assert Counter(repository.asked)[SERVER] == 4


def test_without_a_network_the_error_says_what_to_do_and_the_rest_is_kept(tmp_path):
    lost = Repository({SERVER: [requests.ConnectionError("no route")] * 4})
    with pytest.raises(LocalDbError, match=r"server-1\.0\.jar could not be fetched in 4 tries"):
        fetch.ensure(tmp_path, small_lock(), source=lost)
    repository = Repository()
    assert _whole(fetch.ensure(tmp_path, small_lock(), source=repository))
    assert SERVER in repository.asked
    assert len(repository.asked) + len({*lost.asked} - {SERVER}) >= 3


def test_a_full_disk_is_said_at_once(tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    repository = Repository({SERVER: [full]})
    with pytest.raises(LocalDbError, match=r"No space left on device.*MKG_CACHE"):
        fetch.ensure(tmp_path, small_lock(), source=repository)
    assert Counter(repository.asked)[SERVER] == 1


def test_a_jar_that_the_repository_lacks_is_not_asked_for_again(tmp_path):
    repository = Repository({SERVER: [FileNotFoundError("HTTP 404")]})
    with pytest.raises(LocalDbError, match="not in the repository"):
        fetch.ensure(tmp_path, small_lock(), source=repository)
    assert Counter(repository.asked)[SERVER] == 1


def test_a_distribution_shares_the_bytes_of_the_cache(tmp_path):
    home = fetch.ensure(tmp_path, small_lock(), source=Repository())
    (cached,) = (tmp_path / "jars").rglob(SERVER)
    assert cached.samefile(home / "lib" / SERVER)


def test_a_file_system_without_links_gets_copies(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(fetch.os, "link", refuse)
    home = fetch.ensure(tmp_path, small_lock(), source=Repository())
    assert _whole(home)
    assert (home / "lib" / SERVER).stat().st_nlink == 1


def test_a_stranger_in_the_plugin_folder_is_removed(tmp_path):
    home = fetch.ensure(tmp_path, small_lock(), source=Repository())
    (home / "plugins" / "planted.jar").write_bytes(b"x")
    (home / "plugins" / "folder").mkdir()
    fetch.ensure(tmp_path, small_lock(), source=Repository())
    assert [path.name for path in (home / "plugins").iterdir()] == ["procedures-3.0.jar"]


def test_a_distribution_that_lost_a_file_gets_it_back_from_the_cache(tmp_path):
    home = fetch.ensure(tmp_path, small_lock(), source=Repository())
    shutil.rmtree(home / "ext")
    repository = Repository()
    assert _whole(fetch.ensure(tmp_path, small_lock(), source=repository))
    assert repository.asked == []


def test_the_bar_hears_every_byte_that_is_kept(tmp_path):
    heard: list[int] = []
    guard = threading.Lock()

    def announce(jars: int, size: int):
        assert (jars, size) == (3, small_lock().total)

        def advance(step: int) -> None:
            with guard:
                heard.append(step)

        return advance

    repository = Repository({SERVER: [b"x" * 9999, requests.ConnectionError("reset")]})
    fetch.ensure(tmp_path, small_lock(), source=repository, announce=announce)
    assert sum(heard) == small_lock().total


def test_without_a_terminal_the_progress_is_a_few_plain_lines(tmp_path, capsys):
    told: list[str] = []
    with download_bar(told.append) as announce:
        fetch.ensure(tmp_path, small_lock(), source=Repository(), announce=announce)
    assert told[0].startswith("fetching Neo4j, GDS and APOC: 3 jars")
    assert [line.split()[0] for line in told[1:]] == ["25", "50", "75", "100"]
    assert capsys.readouterr() == ("", "")


def test_jars_come_over_few_connections_and_nothing_is_printed(tmp_path, capfd):
    server, opened = _http_repository()
    with server:
        source = fetch.repository(f"http://127.0.0.1:{server.server_address[1]}")
        assert _whole(fetch.ensure(tmp_path, small_lock(), source=source))
        again = [b"".join(source(jar)) for jar in small_lock().jars]
        server.shutdown()
    assert again == [content(jar) for jar in small_lock().jars]
    assert len(opened) <= 4
    assert capfd.readouterr() == ("", "")


def test_a_missing_file_of_a_repository_is_told_apart_from_a_broken_one(tmp_path):
    server, _ = _http_repository(status=404)
    with server:
        source = fetch.repository(f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(LocalDbError, match="not in the repository"):
            fetch.ensure(tmp_path, small_lock(), source=source)
        server.shutdown()


def _http_repository(status: int = 200) -> tuple[ThreadingHTTPServer, list[object]]:
    jars = {
        f"/{j.group.replace('.', '/')}/{j.artifact}/{j.version}/{j.name}": content(j)
        for j in small_lock().jars
    }
    opened: list[object] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            opened.append(self.client_address)
            super().setup()

        def do_GET(self) -> None:
            body = jars[self.path] if status == 200 else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server, opened
