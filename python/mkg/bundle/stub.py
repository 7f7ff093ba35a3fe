"""Typed stubs: `@cypher("slug.verb")` binds a function to its query and checks it at import.

Source: style 4.6. The body of a stub stays `...`; parameters are keyword-only and equal the header;
the fields of the row class equal the columns.
"""

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from mkg.bundle.header import CypherType, QuerySpec
from mkg.bundle.loader import spec
from mkg.errors import BindingError, RowShapeError

F = TypeVar("F", bound=Callable[..., Any])
Row = dict[str, Any]
BOUND: dict[str, str] = {}
"""Query name -> module that binds it; A5 asks for exactly one."""


class Runner(Protocol):
    """Runs bundle queries; `mkg.db.Neo4jRunner` is the only one that knows the driver."""

    def fetch(self, query: QuerySpec, params: Mapping[str, Any]) -> list[Row]: ...


class Store(Runner, Protocol):
    """A runner that can also put several queries in one transaction."""

    def in_one(self, work: Any, *, name: str) -> Any: ...


_PYTHON: dict[str, tuple[type, ...]] = {
    "STRING": (str,),
    "INTEGER": (int,),
    "FLOAT": (float, int),
    "BOOLEAN": (bool,),
    "ZONED DATETIME": (datetime,),
    "MAP": (dict,),
    "ANY": (object,),
}


def cypher(name: str) -> Callable[[F], F]:
    """Bind a stub to a query of the bundle.

    Raises:
        BindingError: name, parameters, types, columns or cardinality differ from the header.
    """

    def bind(stub: F) -> F:
        query = spec(name)
        where = f"{stub.__module__}.{stub.__qualname__}"
        hints = typing.get_type_hints(stub)
        _check_params(query, stub, hints, where)
        row = _check_result(query, hints.get("return"), where)
        if BOUND.setdefault(name, where) != where:
            raise BindingError(f"{name} is bound by {BOUND[name]} and by {where}")

        def call(run: Runner, **params: Any) -> Any:
            return _shape(query, row, run.fetch(query, params))

        call.__name__ = stub.__name__
        call.__qualname__ = stub.__qualname__
        call.__module__ = stub.__module__
        call.__doc__ = stub.__doc__ or query.why
        call.__wrapped__ = stub  # type: ignore[attr-defined]
        return typing.cast(F, call)

    return bind


def _check_params(
    query: QuerySpec, stub: Callable[..., Any], hints: dict[str, Any], where: str
) -> None:
    if stub.__name__.rstrip("_") != query.name.rsplit(".", 1)[1]:
        raise BindingError(f"{where}: a stub of {query.name} must carry the query's last name")
    parameters = list(inspect.signature(stub).parameters.values())[1:]
    if any(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in parameters):
        raise BindingError(f"{where}: parameters of a stub are keyword-only")
    given, declared = [p.name for p in parameters], [p.name for p in query.params]
    if given != declared:
        raise BindingError(f"{where}: parameters {given} differ from the header's {declared}")
    for parameter in query.params:
        _check_type(hints[parameter.name], parameter.type, f"{where}({parameter.name})")


def _check_result(query: QuerySpec, hint: Any, where: str) -> type | None:
    """The row class of a stub; None for a query that returns nothing."""
    if query.card == "none":
        if hint is not type(None):
            raise BindingError(f"{where}: {query.name} returns nothing, annotate -> None")
        return None
    row = _row_class(query, hint, where)
    fields = [field.name for field in dataclasses.fields(row)]
    columns = [column.name for column in query.returns]
    if fields != columns:
        raise BindingError(f"{where}: fields {fields} differ from the columns {columns}")
    hints = typing.get_type_hints(row)
    for column in query.returns:
        _check_type(hints[column.name], column.type, f"{row.__name__}.{column.name}")
    return row


def _row_class(query: QuerySpec, hint: Any, where: str) -> type:
    expected = {"many": "list[Row]", "one": "Row", "maybe": "Row | None"}[query.card]
    candidate: Any = hint
    if query.card == "many":
        candidate = typing.get_args(hint)[0] if typing.get_origin(hint) is list else None
    elif query.card == "maybe":
        options = [arg for arg in typing.get_args(hint) if arg is not type(None)]
        optional = type(None) in typing.get_args(hint)
        candidate = options[0] if optional and len(options) == 1 else None
    if not (isinstance(candidate, type) and dataclasses.is_dataclass(candidate)):
        raise BindingError(f"{where}: @card {query.card} wants -> {expected} with a dataclass")
    return candidate


def _check_type(hint: Any, declared: CypherType, where: str) -> None:
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    if declared.nullable != (type(None) in options):
        raise BindingError(f"{where}: the header says {declared}, the annotation {hint}")
    plain = [option for option in options if option is not type(None)]
    if declared.name == "ANY":
        return
    if declared.name == "LIST":
        if not any(typing.get_origin(o) in (list, Sequence, tuple) or o is list for o in plain):
            raise BindingError(f"{where}: the header says {declared}, the annotation {hint}")
        return
    allowed = _PYTHON[declared.name]
    for option in plain:
        base = typing.get_origin(option) or option
        if not (isinstance(base, type) and (base in allowed or issubclass(base, allowed))):
            raise BindingError(f"{where}: the header says {declared}, the annotation {hint}")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _shape(query: QuerySpec, row: type | None, rows: list[Row]) -> Any:
    if row is None:
        return None
    made = [_make(query, row, values) for values in rows]
    if query.card == "many":
        return made
    if len(made) > 1 or (query.card == "one" and not made):
        raise RowShapeError(
            f"{query.name} promised {query.card} row and gave {len(made)}", query=query.name
        )
    return made[0] if made else None


def _make(query: QuerySpec, row: type, values: Row) -> Any:
    if list(values) != [column.name for column in query.returns]:
        raise RowShapeError(
            f"{query.name} gave columns {list(values)}, its header declares others",
            query=query.name,
        )
    for column in query.returns:
        value = values[column.name]
        if value is None:
            if not column.type.nullable:
                raise RowShapeError(
                    f"{query.name}.{column.name} is null, the header says {column.type}",
                    query=query.name,
                )
            continue
        expected = (list,) if column.type.name == "LIST" else _PYTHON.get(column.type.name)
        if expected and not isinstance(value, expected):
            raise RowShapeError(
                f"{query.name}.{column.name} is {type(value).__name__}, "
                f"the header says {column.type}",
                query=query.name,
            )
    return row(**values)
