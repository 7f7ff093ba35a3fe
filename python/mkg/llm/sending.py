"""One call of one model, by one of two routes: the process with litellm, or the user's `claude`."""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from mkg.json_shape import as_object
from mkg.llm.choice import CLI, Ready
from mkg.settings import subprocess_env

LONGEST = 64_000
START_SECONDS = 60.0
IDLE_SECONDS = 120.0
GUARD = "MKG_IN_EXTRACTION"
Kind = Literal["busy", "timeout", "broken", "refused", "long"]
Message = dict[str, str]
# All that a program of others needs to run and to find its way out; keys are handed over by call.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class Text:
    """What a model said, and what it took; `usd` is None where the route does not tell."""

    text: str
    cut: bool
    input_tokens: int
    output_tokens: int
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no text: `busy`, `timeout` and `broken` may pass, `refused` does not.

    `long` is a refusal of a request that is more than the model can take in.
    `reason` is a class or a status, never a text of the other side. `after` is how long the other
    side asks us to wait.
    """

    kind: Kind
    reason: str
    after: float | None = None


class Route(Protocol):
    """A way to a model."""

    def price(self, model: Ready) -> tuple[float, float] | None: ...

    def send(
        self, model: Ready, messages: Sequence[Message], *, most: int, timeout: float
    ) -> Text | Fault: ...

    def close(self) -> None: ...


class LiteLLM:
    """The process with litellm: started when it is needed, ended when it is idle or too slow."""

    def __init__(self, *, local_only: bool = False, idle: float = IDLE_SECONDS) -> None:
        self._local_only = local_only
        self._idle = idle
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._used = 0.0
        self._closed = False
        self._prices: dict[str, tuple[float, float] | None] = {}

    def price(self, model: Ready) -> tuple[float, float] | None:
        """Dollars a million tokens, in and out; None where nobody knows."""
        if model.model not in self._prices:
            answer = self._asked({"op": "price", "model": model.model}, START_SECONDS)
            if isinstance(answer, Fault):
                return None
            found = answer.get("price")
            self._prices[model.model] = (float(found[0]), float(found[1])) if found else None
        return self._prices[model.model]

    def send(
        self, model: Ready, messages: Sequence[Message], *, most: int, timeout: float
    ) -> Text | Fault:
        """One request, never repeated here."""
        answer = self._asked(
            {
                "op": "complete",
                "model": model.model,
                "base": model.base,
                "key": model.key,
                "token": model.token,
                "messages": list(messages),
                "max_tokens": most,
                "timeout": timeout,
            },
            timeout + 5.0,
        )
        if isinstance(answer, Fault):
            return answer
        if "failure" in answer:
            said = answer.get("status") or answer.get("kind")
            return Fault(answer["failure"], f"{model.model}: {said}", answer.get("after"))
        return Text(answer["text"], answer["cut"], answer["input_tokens"], answer["output_tokens"])

    def close(self) -> None:
        """End the process for good, also in the middle of a request."""
        self._closed = True
        process = self._process
        if process is not None:
            # Whoever waits for an answer holds the lock, and now gets the end of the pipe.
            process.kill()
        with self._lock:
            self._end()

    def _asked(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any] | Fault:
        with self._lock:
            if self._closed:
                return Fault("refused", "the model process is being ended")
            fresh = self._process is None or self._process.poll() is not None
            until = time.monotonic() + timeout + (START_SECONDS if fresh else 0.0)
            try:
                process = self._running()
                assert process.stdin is not None
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                line = _line(process, until)
                answer = as_object(json.loads(line)) if line else None
            except (OSError, ValueError) as error:
                self._end()
                return Fault("broken", f"the model process: {type(error).__name__}")
            if answer is None:
                kind: Kind = "timeout" if time.monotonic() >= until else "broken"
                self._end()
                return Fault(kind, "the model process gave no answer")
            self._used = time.monotonic()
            return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        env = {k: v for k, v in subprocess_env().items() if k in _KEPT}
        if not self._local_only:
            env |= {k: v for k, v in subprocess_env().items() if k in _PROXIES}
        env |= {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            GUARD: "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mkg.llm.litellm_job"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd=tempfile.gettempdir(),
        )
        self._used = time.monotonic()
        threading.Thread(
            target=self._watch, args=(self._process,), daemon=True, name="model idle"
        ).start()
        return self._process

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """End an idle process: it holds hundreds of megabytes."""
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(self._idle, 5.0))
                return
            with self._lock:
                if self._process is not process:
                    return
                if time.monotonic() - self._used > self._idle:
                    self._end()
                    return

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class ClaudeCli:
    """The user's own `claude -p`: no tools, no hooks, no servers, no session left behind.

    Its events are nobody's session: the guard variable makes every launcher below it silent.
    """

    def price(self, model: Ready) -> tuple[float, float] | None:
        """Nobody knows what a subscription's call costs before it is made."""
        return None

    def send(
        self, model: Ready, messages: Sequence[Message], *, most: int, timeout: float
    ) -> Text | Fault:
        """One run of the program, in a folder that is gone afterwards."""
        told = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
        given = "\n\n".join(m["content"] for m in messages if m["role"] != "system")
        words = ["claude", "-p", "--output-format", "json", "--system-prompt", told]
        words += ["--tools", "", "--strict-mcp-config", "--no-session-persistence"]
        words += ["--settings", json.dumps({"disableAllHooks": True})]
        words += ["--model", model.model] if model.model else []
        with tempfile.TemporaryDirectory(prefix="mkg-claude-") as folder:
            try:
                done = subprocess.run(
                    words,
                    input=given.encode("utf-8", "replace"),
                    capture_output=True,
                    timeout=timeout,
                    check=False,
                    cwd=folder,
                    env=_claude_env(),
                )
            except subprocess.TimeoutExpired:
                return Fault("timeout", f"{CLI}: no answer within {timeout:g} s")
            except OSError as error:
                return Fault("refused", f"{CLI}: {type(error).__name__}")
        return _claude_said(done.returncode, done.stdout)

    def close(self) -> None:
        """Nothing is kept running."""


def _claude_env() -> dict[str, str]:
    """The user's environment without what would choose another account or nest the session."""
    dropped = ("ANTHROPIC_", "CLAUDECODE", "CLAUDE_CODE_", "CLAUDE_PROJECT_", "NEO4J_")
    kept = {k: v for k, v in subprocess_env().items() if not k.startswith(dropped)}
    return {**kept, GUARD: "1"}


def _claude_said(code: int, output: bytes) -> Text | Fault:
    try:
        answer = as_object(json.loads(output[: 4 * LONGEST]))
    except ValueError:
        return Fault("broken", f"{CLI}: no JSON came back (exit {code})")
    if code != 0 or answer.get("is_error"):
        status = answer.get("api_error_status")
        passing = status is None or status == 429 or int(status) >= 500
        return Fault("busy" if passing else "refused", f"{CLI}: {status or f'exit {code}'}")
    text, usage = str(answer.get("result") or ""), as_object(answer.get("usage") or {})
    taken = sum(
        int(usage.get(name) or 0)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    usd = answer.get("total_cost_usd")
    return Text(
        text[:LONGEST],
        len(text) > LONGEST,
        taken,
        int(usage.get("output_tokens") or 0),
        float(usd) if isinstance(usd, int | float) else None,
    )


def _line(process: subprocess.Popen[bytes], until: float) -> bytes:
    """One line of the process, or nothing when it ends or the time is over."""
    assert process.stdout is not None
    read = bytearray()
    number = process.stdout.fileno()
    while (left := until - time.monotonic()) > 0:
        ready, _, _ = select.select([number], [], [], left)
        if not ready:
            break
        piece = os.read(number, 65536)
        if not piece:
            break
        read += piece
        if read.endswith(b"\n"):
            return bytes(read)
    return b""
