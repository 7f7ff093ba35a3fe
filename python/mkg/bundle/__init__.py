"""The Cypher bundle: files, headers, typed stubs and their checks."""

from mkg.bundle.header import CypherType, Field, QuerySpec
from mkg.bundle.loader import Bundle, load_bundle, spec
from mkg.bundle.stub import Runner, Store, cypher

__all__ = [
    "Bundle",
    "CypherType",
    "Field",
    "QuerySpec",
    "Runner",
    "Store",
    "cypher",
    "load_bundle",
    "spec",
]
