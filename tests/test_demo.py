"""The demo on a session of somebody's own: a drawn statement comes back, a near miss does not."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.family import draw
from tests.conftest import Live, shared_cache


def line(kind: str, text: str, **more: str) -> str:
    base = {"type": kind, "sessionId": "drawn-session", "cwd": "/nowhere/shop", "uuid": text[:9]}
    return json.dumps({**base, **more, "message": {"role": kind, "content": text}})


@pytest.mark.timeout(240)
def test_a_drawn_statement_is_told_in_the_second_session_and_a_near_miss_is_not(
    live: Live, own_home: Path, tmp_path: Path
) -> None:
    seed = int(os.environ.get("MKG_SEED") or random.SystemRandom().randrange(10**6))
    print(f"MKG_SEED={seed}")
    drawn = draw(seed)
    transcript = tmp_path / "session.jsonl"
    lines = [
        line("user", drawn.near_miss, promptId="p1"),
        line("assistant", "That would be possible."),
        line("user", drawn.statement, promptId="p2"),
        line("assistant", "Noted."),
    ]
    transcript.write_text("\n".join(lines) + "\n", encoding="utf-8")
    live.server.write_user_file(own_home)
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(own_home),
        "MKG_CACHE": str(shared_cache()),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    words = ["demo", "--transcript", str(transcript), "--ask", drawn.question, "--into-my-store"]
    done = subprocess.run(
        [sys.executable, "-m", "mkg", *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=220,
    )
    subprocess.run([sys.executable, "-m", "mkg", "worker", "stop"], env=env, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.split("what the client is given at UserPromptSubmit:")[1].split("5. why")[0]
    assert drawn.tool in told
    assert drawn.missed not in told
    assert drawn.statement[:20] in done.stdout.split("5. why")[1]
