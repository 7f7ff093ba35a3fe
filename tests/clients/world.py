"""One user's machine for a test with real clients: HOME, project folder, store, scripted model."""

import contextlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.kit import clients
from tests.clients.kit.stub_model import StubModel, text_of

TOOL = "mcp__plugin_mkg_mkg"
# What a terminal has beside the user's own: how to get at the package registries from here.
TERMINAL = {"PATH", "HOME", "TMPDIR", "LANG", "MKG_CACHE"}
NETWORK = {"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}
NETWORK |= {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
OK = [{"then": {"text": "All right."}}]


@dataclass(frozen=True, slots=True)
class Run:
    """What one headless prompt did: the client's result and what reached the model."""

    result: clients.Result
    bodies: list[dict[str, Any]]

    @property
    def notices(self) -> list[str]:
        """Every line that our hooks asked the client to show to the user."""
        answers = [json.loads(x) for x in self.answers() if x.strip()]
        return [a["systemMessage"] for a in answers if "systemMessage" in a]

    def answers(self, event: str | None = None) -> list[str]:
        """stdout of our hooks, in order (the client reports none for SessionEnd)."""
        found = self.result.find(subtype="hook_response")
        return [x["stdout"] for x in found if event in (None, x["hook_event"])]

    def context(self, event: str) -> str:
        """The context that our hooks added at one event, as the model got it."""
        label = f"{event} hook additional context: "
        texts = [text_of(m["content"]) for b in self.bodies for m in b["messages"]]
        marked = [t for t in texts if label in t]
        if not marked:
            return ""
        rest = marked[0].split(label, 1)[1]
        return re.split(r"\n\w+(?::\w+)? hook additional context: ", rest)[0]

    @property
    def seen(self) -> str:
        """All text of all requests."""
        return text_of(self.bodies)


@dataclass(slots=True)
class World:
    """A user with a HOME of their own; `run` is one prompt in one project folder."""

    program: str
    folder: Path
    plugin: Path | None
    cache: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The user's HOME."""
        return self.folder / "home"

    @property
    def project(self) -> Path:
        """The folder that the client is started in."""
        return self.folder / "orders"

    @property
    def state(self) -> Path:
        """Where the product keeps this user's state."""
        return self.home / ".local" / "share" / "meta-knowledge-graph"

    def client(self, url: str) -> clients.Claude:
        """The client of this user, talking to a scripted model."""
        env = {"MKG_CACHE": str(self.cache), **self.env}
        return clients.Claude(self.program, str(self.home), url, cwd=str(self.project), env=env)

    def run(self, prompt: str, rules: list[dict[str, Any]] | None = None, **options: Any) -> Run:
        """One headless prompt with our plugin."""
        plugin = {"plugin_dir": str(self.plugin)} if self.plugin else {}
        with StubModel(rules or OK) as stub:
            options = {"allowed": ("Bash", TOOL), **plugin, **options}
            result = self.client(stub.url).run(prompt, timeout=60, **options)
            return Run(result, stub.bodies())

    def ask(self, prompt: str, rules: list[dict[str, Any]] | None = None) -> Run:
        """A prompt in a new session; asked again when a slow machine got the honest line instead.

        The memory has 2 s. Where it does not answer in time it must say so: a session with neither
        an answer nor the line is returned at once.
        """
        for _ in range(4):
            run = self.run(prompt, rules)
            if not any("in time" in line for line in run.notices):
                break
        return run

    def claude(self, *args: str) -> subprocess.CompletedProcess[str]:
        """A management command of the client."""
        env = self.client("http://127.0.0.1:9").env
        return subprocess.run(
            [self.program, *args],
            env=env,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def mkg(self, *args: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """A command of the product in this user's terminal."""
        own = self.client("http://127.0.0.1:9").env
        env = {k: v for k, v in os.environ.items() if k in NETWORK}
        env |= {k: v for k, v in own.items() if k in TERMINAL}
        return subprocess.run(
            [sys.executable, "-m", "mkg", *args],
            env={**env, **self.env},
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def hook(self, launcher: Path, event: str, payload: object) -> subprocess.CompletedProcess[str]:
        """One event as the client hands it to the launcher."""
        env = self.client("http://127.0.0.1:9").env
        return subprocess.run(
            ["python3", "-I", "-S", str(launcher), "claude", event],
            input=json.dumps(payload),
            env=env,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=30,
        )

    def drain(self) -> None:
        """Wait until everything that was captured is stored and worked on."""
        done = self.mkg("worker", "drain", "--timeout", "60")
        assert done.returncode == 0, done.stdout + done.stderr

    def close(self) -> None:
        """End the worker that the hooks started."""
        if self.state.exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.mkg("worker", "stop", timeout=30)
