"""The local model with its weights as they are stored: eight-bit integers, also while it runs.

The package's graph turns each weight into a float before it multiplies, so the runtime keeps four
bytes where one was stored and reads them all for every prompt. The same weights, multiplied as
integers, take half the time and a quarter of the memory. The other factor is rounded to eight bits
as well, token by token, so that a text's vector does not depend on its neighbours in a batch.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from operator import mul
from pathlib import Path
from typing import Any

_CONTRIB = "com.microsoft"
_OPSET = 18
# Queries, keys and values decide who is near whom: their tokens are rounded in blocks of this many.
_BLOCK = 128
_FINE = ".attention.self."
# GELU is never below -0.17: sixteen of the 256 steps are enough for what lies under zero.
_GELU, _GELU_LEAST, _GELU_ZERO = "gelu", 0.17, 16
_FLOAT, _INT8 = 1, 3
# Older processors add pairs of products in too few bits: what comes out is compared with what the
# package's own graph gives for these texts.
PROBES = (
    "The billing service listens on port 7101.",
    "On which port do I reach the billing service?",
    "Tests are started with make check before every commit.",
    "We moved the database from MySQL to Postgres in spring.",
    "Der Kater schläft auf der warmen Fensterbank; 数据库迁移 🙂 `pnpm run build -F web`",
)
_COSINES = (0.802, 0.068, 0.067, 0.079, 0.030, 0.074, 0.063, 0.109, 0.141, 0.017)
_TOLERANCE = 0.03


def faithful(vectors: Sequence[Sequence[float]]) -> bool:
    """Whether the vectors of `PROBES` stand to each other as those of the package's graph do."""
    found = [sum(map(mul, one, other)) for one, other in combinations(vectors, 2)]
    return all(abs(a - b) < _TOLERANCE for a, b in zip(found, _COSINES, strict=True))


def integer_model(path: Path) -> bytes:
    """The model at `path` as ONNX bytes in which no stored weight becomes a float.

    Raises:
        ImportError: the package `onnx` is not installed.
        ValueError: the file has no stored weights, or is built in another way.
    """
    onnx: Any = import_module("onnx")
    helpers: Any = import_module("onnx.helper")
    model = onnx.load(str(path))
    _Rewriting(model.graph, helpers, import_module("onnx.numpy_helper")).run()
    # What is not the standard's own is the runtime's, and present in every build of it.
    model.opset_import[0].version = _OPSET
    model.opset_import.append(helpers.make_opsetid(_CONTRIB, 1))
    return model.SerializeToString()


@dataclass(frozen=True, slots=True)
class _Weight:
    """Stored integers, their scales (one a column or one a row), and their names in the graph."""

    integers: Any
    scales: Any
    name: str
    scale_name: str


@dataclass(slots=True)
class _Rewriting:
    graph: Any
    helpers: Any
    arrays: Any
    _nodes: list[Any] = field(default_factory=list[Any])
    _added: list[Any] = field(default_factory=list[Any])
    _gone: set[int] = field(default_factory=set[int])

    def run(self) -> None:
        """Replace every product and every look-up of a stored weight; raise where none is."""
        stored = {tensor.name: tensor for tensor in self.graph.initializer}
        maker = {name: node for node in self.graph.node for name in node.output}
        user = {name: node for node in self.graph.node for name in node.input}
        self._constants()
        for node in self.graph.node:
            weight = self._weight(node, stored, maker)
            if weight is None:
                self._nodes.append(node)
            elif node.op_type == "Gather":
                self._looked_up(node, weight)
            elif _FINE in user[node.output[0]].input[1]:
                self._in_blocks(node, weight)
            else:
                self._in_rows(node, weight)
        if not self._gone:
            raise ValueError("no stored weights")
        kept = [node for node in self._nodes if id(node) not in self._gone]
        used = {name for node in kept for name in node.input}
        tensors = [t for t in [*stored.values(), *self._added] if t.name in used]
        for items, now in ((self.graph.node, kept), (self.graph.initializer, tensors)):
            del items[:]
            items.extend(now)

    def _weight(self, node: Any, stored: dict[str, Any], maker: dict[str, Any]) -> _Weight | None:
        """The weight that a product or a look-up takes, if it is made of stored integers."""
        place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        scaled = None if place is None else maker.get(node.input[place])
        if scaled is None or scaled.op_type != "Mul" or scaled.input[1] not in stored:
            return None
        cast = maker.get(scaled.input[0])
        if cast is None or cast.op_type != "Cast" or cast.input[0] not in stored:
            return None
        integers, scales = stored[cast.input[0]], stored[scaled.input[1]]
        if integers.data_type != _INT8:
            return None
        self._gone |= {id(cast), id(scaled)}
        return _Weight(
            self.arrays.to_array(integers),
            self.arrays.to_array(scales),
            integers.name,
            scales.name,
        )

    def _constants(self) -> None:
        import numpy as np

        self._constant("one", np.array(1, np.float32))
        self._constant("last_axis", np.array([-1], np.int64))
        for name, zero, least in (("both", 128, 1e-6), (_GELU, _GELU_ZERO, _GELU_LEAST)):
            self._constant(f"{name}.zero", np.array(zero, np.uint8))
            self._constant(f"{name}.part", np.array(1 / (255 - zero), np.float32))
            self._constant(f"{name}.least", np.array(least / zero, np.float32))

    def _constant(self, name: str, value: Any) -> str:
        self._added.append(self.arrays.from_array(value, f"mkg.{name}"))
        return f"mkg.{name}"

    def _node(self, kind: str, inputs: Iterable[str], output: str, **attributes: Any) -> str:
        self._nodes.append(self.helpers.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _looked_up(self, node: Any, weight: _Weight) -> None:
        """Take the rows that are asked for, and only then make floats of them."""
        name, places = weight.name, node.input[1]
        rows = self._node("Gather", [name, places], f"{name}.rows")
        scales = self._node("Gather", [weight.scale_name, places], f"{name}.scales")
        floats = self._node("Cast", [rows], f"{name}.floats", to=_FLOAT)
        self._node("Mul", [floats, scales], node.output[0])

    def _in_blocks(self, node: Any, weight: _Weight) -> None:
        import numpy as np

        depth, width = weight.integers.shape
        blocks = depth // _BLOCK
        packed = (weight.integers.T.astype(np.int16) + 128).astype(np.uint8)
        of_block = np.repeat(weight.scales.astype(np.float32).ravel(), blocks)
        self._node(
            "MatMulNBits",
            [
                node.input[0],
                self._constant(f"{weight.name}.blocks", packed.reshape(width, blocks, _BLOCK)),
                self._constant(f"{weight.name}.of_block", of_block),
            ],
            node.output[0],
            domain=_CONTRIB,
            K=depth,
            N=width,
            bits=8,
            block_size=_BLOCK,
            accuracy_level=4,
        )

    def _in_rows(self, node: Any, weight: _Weight) -> None:
        """Round each token to 256 steps of its own size, multiply integers, scale back."""
        given, name = node.input[0], weight.name
        side = _GELU if given.startswith(_GELU) else "both"
        size = given if side == _GELU else self._node("Abs", [given], f"{name}.size")
        most = self._node("ReduceMax", [size, "mkg.last_axis"], f"{name}.most", keepdims=1)
        part = self._node("Mul", [most, f"mkg.{side}.part"], f"{name}.part")
        step = self._node("Max", [part, f"mkg.{side}.least"], f"{name}.step")
        zero = f"mkg.{side}.zero"
        steps = self._node("Div", [given, step], f"{name}.steps")
        rounded = self._node("QuantizeLinear", [steps, "mkg.one", zero], f"{name}.rounded")
        product = self._node("MatMulInteger", [rounded, name, zero], f"{name}.product")
        floats = self._node("Cast", [product], f"{name}.floats", to=_FLOAT)
        scaled = self._node("Mul", [floats, weight.scale_name], f"{name}.scaled")
        self._node("Mul", [scaled, step], node.output[0])
