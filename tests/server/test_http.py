"""The real process on loopback: both eras of client are served, everybody else is turned away."""

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from mkg.cli import serve as command
from mkg.errors import ConfigError
from mkg.server import http
from mkg.server.memory import TOOLS
from tests.conftest import Server
from tests.server.asking import ERAS
from tests.server.listening import HELLO, Listening, listening
from tests.support.requirement import requirement

LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """One without a database, for all requests that never come so far."""
    home = tmp_path_factory.mktemp("served")
    folder = home / ".config" / "meta-knowledge-graph"
    folder.mkdir(parents=True, mode=0o700)
    (folder / ".env").touch(mode=0o600)
    (folder / ".env").write_text("NEO4J_URI=bolt://127.0.0.1:1\nNEO4J_PASSWORD=not-a-default-1\n")
    env = {"HOME": str(home), "MKG_HOME": str(home / "mkg"), "MKG_CONFIG_DIR": str(folder)}
    with listening(home, env) as found:
        yield found


@requirement("CL-30", "CL-31", "MEM-W28")
@pytest.mark.parametrize("era", ERAS)
def test_a_client_of_either_era_sees_the_tools_of_stdio_without_the_raw_one(served, era):
    async def go() -> tuple[list[str], bool, str]:
        async with served.client(era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("neo4j_get_schema", {})
            return names, found.is_error, found.structured_content["error"]

    names, failed, text = anyio.run(go)
    assert sorted([*names, "neo4j_read_cypher"]) == sorted(tool.name for tool in TOOLS)
    # It started without a database, and says so only to who asks for something.
    assert failed and text == "memory is unreachable: run `mkg db up`"


@requirement("ENC-W113")
@pytest.mark.parametrize("era", ERAS)
def test_a_client_with_another_token_gets_nowhere(served, era):
    async def go() -> None:
        async with served.client(era, "x" * 43) as client:
            await client.list_tools()

    with pytest.raises(BaseExceptionGroup) as caught:
        anyio.run(go)
    assert caught.value


@requirement("CL-31")
def test_a_client_of_either_era_is_answered_over_http_from_a_real_store(server: Server, own_home):
    server.write_user_file(own_home)

    async def go(found: Listening, era: str) -> bool:
        async with found.client(era) as client:
            return (await client.call_tool("neo4j_get_schema", {})).is_error

    with listening(own_home, {}) as found:
        assert [anyio.run(go, found, era) for era in ERAS] == [False, False]


GOOD: list[dict[str, str | None]] = [
    {},
    {"Host": "localhost:PORT"},
    {"Origin": "http://127.0.0.1:PORT"},
    {"Origin": "http://localhost:PORT"},
    {"Authorization": "bearer TOKEN"},
    {"X-Forwarded-Host": "evil.test", "X-Forwarded-For": "10.0.0.1"},
    {"Content-Type": "application/json; charset=utf-8"},
]
HOSTILE: list[tuple[int, dict[str, str | None]]] = [
    (421, {"Host": "evil.test"}),
    (421, {"Host": "evil.test:PORT"}),
    (421, {"Host": "127.0.0.1.evil.test:PORT"}),
    (421, {"Host": "127.0.0.1"}),
    (421, {"Host": "127.0.0.1:1"}),
    (421, {"Host": "LOCALHOST:PORT"}),
    (421, {"Host": "localhost.:PORT"}),
    (421, {"Host": "[::1]:PORT"}),
    (421, {"Host": "[::ffff:127.0.0.1]:PORT"}),
    (421, {"Host": "0.0.0.0:PORT"}),
    (421, {"Host": "user@127.0.0.1:PORT"}),
    (421, {"Host": "evil.test", "X-Forwarded-Host": "127.0.0.1:PORT"}),
    (421, {"Host": "evil.test", "Origin": "https://evil.test", "Authorization": None}),
    (403, {"Origin": "https://evil.test"}),
    (403, {"Origin": "null"}),
    (403, {"Origin": ""}),
    (403, {"Origin": "http://127.0.0.1:1"}),
    (403, {"Origin": "https://127.0.0.1:PORT"}),
    (403, {"Origin": "http://127.0.0.1:PORT.evil.test"}),
    (401, {"Authorization": None}),
    (401, {"Authorization": ""}),
    (401, {"Authorization": "Bearer"}),
    (401, {"Authorization": "Bearer x"}),
    (401, {"Authorization": "Bearer TOKENx"}),
    (401, {"Authorization": "Basic TOKEN"}),
    (401, {"Authorization": "TOKEN"}),
    (401, {"Authorization": None, "Cookie": "token=TOKEN"}),
    (415, {"Content-Type": "text/plain"}),
    (415, {"Content-Type": None}),
]


def _filled(served: Listening, changed: dict[str, str | None]) -> dict[str, str]:
    headers = served.headers()
    for name, value in changed.items():
        headers.pop(name, None)
        if value is not None:
            headers[name] = value.replace("PORT", str(served.port)).replace("TOKEN", served.token)
    return headers


@requirement("B85", "SEC-50", "MEM-W28", "ENC-W85")
def test_what_a_client_of_this_machine_sends_is_answered(served):
    for changed in GOOD:
        status, headers, body = served.request(_filled(served, changed))
        assert status == 200, (changed, body)
        assert json.loads(body)["result"]["serverInfo"]["name"] == "meta-knowledge-graph"
        assert not [name for name in headers if name.startswith("access-control")]
        assert "mcp-session-id" not in headers and "server" not in headers


@requirement("B85", "SEC-50", "MEM-W28", "SEC-54", "SEC-11", "ENC-W113")
@pytest.mark.parametrize(("status", "changed"), HOSTILE)
def test_what_a_rebinding_page_or_another_user_sends_is_turned_away(served, status, changed):
    found, headers, body = served.request(_filled(served, changed))
    assert found == status
    assert not [name for name in headers if name.startswith("access-control")]
    assert served.token.encode() not in body and b"evil" not in body
    assert list(json.loads(body)) == ["error"]


@requirement("SEC-50")
def test_a_missing_host_and_two_hosts_are_turned_away(served):
    hosts = ("", f"Host: 127.0.0.1:{served.port}\r\nHost: evil.test\r\n")
    for number, host in enumerate(hosts):
        with socket.create_connection(("127.0.0.1", served.port), timeout=5) as link:
            head = f"POST /mcp/ HTTP/1.1\r\n{host}Authorization: Bearer {served.token}\r\n"
            link.sendall(f"{head}Content-Length: 2\r\n\r\n{{}}".encode())
            answer = link.recv(65536)
        assert answer.split()[1] in {b"400", b"421"}, (number, answer)


@requirement("B85")
def test_methods_paths_batches_and_garbage_are_errors_and_the_server_goes_on(served):
    for method in ("GET", "DELETE", "PUT", "OPTIONS", "HEAD"):
        assert served.request(served.headers(), b"", method=method)[0] == 405
    assert served.request(_filled(served, {"Authorization": None}), b"", method="OPTIONS")[0] == 401
    for path in ("/", "/mcp/../etc/passwd", "/mcp/x", "/health", "//mcp/"):
        assert served.request(served.headers(), path=path)[0] == 404
    assert served.request(served.headers(), path="/mcp")[0] == 200
    deep = b"[" * 100_000 + b"]" * 100_000
    for body in ([HELLO, LIST], [], b"no json", b"\xff\xfe", b"", b"[1,2", deep):
        status, _, text = served.request(served.headers(), body)
        assert status in {400, 415} and b"Traceback" not in text, (body[:20], status, text)
    assert served.request(served.headers())[0] == 200


@requirement("B85")
def test_a_big_body_is_refused_before_it_is_read_and_a_large_one_is_not(served):
    limit = http.Limits().body_bytes
    padded = json.dumps({**HELLO, "x": "y" * (limit - 400)}).encode()
    assert len(padded) < limit and served.request(served.headers(), padded)[0] == 200
    big = served.headers(Content_Length=str(limit + 1))
    assert served.request(big, b"")[0] == 413
    assert served.request(served.headers(Content_Length="9" * 400), b"")[0] in {400, 413}


@requirement("SEC-51", "B85", "ENC-W91")
def test_it_listens_on_loopback_only_and_no_option_changes_that(served):
    # Linux routes all of 127/8 to this machine: a listener on every address would answer here.
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", served.port), timeout=2)
    with pytest.raises(OSError):
        socket.create_connection(("::1", served.port), timeout=2)
    assert http.HOST == "127.0.0.1"


@requirement("SEC-54")
def test_the_token_stands_in_a_private_file_and_in_no_argument_or_environment(served):
    folder = Path(f"/proc/{served.process.pid}")
    if not folder.exists():
        pytest.skip("this system has no /proc")
    for name in ("cmdline", "environ"):
        assert served.token.encode() not in (folder / name).read_bytes()


def test_a_second_start_on_a_taken_port_says_so(own_home):
    with http.listen(0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} on 127.0.0.1.*another.*--port"):
            command.serve(over_http=True, port=port)
    with http.listen(port) as again:
        assert again.getsockname() == ("127.0.0.1", port)
    with pytest.raises(ConfigError, match="--port goes with --http"):
        command.serve(port=1)


def test_a_signal_ends_it_and_the_call_at_hand_is_answered(own_home):
    with socket.socket() as silent:
        # Accepts a connection and says nothing: a call into this store waits until it is let go.
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(5)
        folder = own_home / ".config" / "meta-knowledge-graph"
        folder.mkdir(parents=True, mode=0o700)
        (folder / ".env").touch(mode=0o600)
        store = f"NEO4J_URI=bolt://127.0.0.1:{silent.getsockname()[1]}"
        (folder / ".env").write_text(f"{store}\nNEO4J_PASSWORD=not-a-default-1\n")
        with listening(own_home, {}) as found:
            answers: list[tuple[int, dict[str, str], bytes]] = []
            call = {
                **LIST,
                "method": "tools/call",
                "params": {"name": "neo4j_get_schema", "arguments": {}},
            }
            headers = found.headers(MCP_Protocol_Version="2025-06-18")
            asking = threading.Thread(target=lambda: answers.append(found.request(headers, call)))
            asking.start()
            link, _ = silent.accept()
            found.process.send_signal(signal.SIGTERM)
            silent.close()
            link.close()
            asking.join(timeout=5)
            assert found.process.wait(timeout=5) == 0
    ((status, _, body),) = answers
    assert status == 200 and json.loads(body)["result"]["structuredContent"]["status"] == "error"


@requirement("SEC-58")
def test_the_token_is_made_once_and_a_file_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "mkg" / "http.token"
    made = http.token(path)
    assert len(made) == 43 and path.stat().st_mode & 0o777 == 0o600
    assert http.token(path) == made
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="nobody else may read"):
        http.token(path)
    path.chmod(0o600)
    path.write_text("short\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds no token"):
        http.token(path)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="cannot be read safely"):
        http.token(path)
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(ConfigError, match="a file of your own"):
        http.token(path)
