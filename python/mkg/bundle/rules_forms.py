"""A10: forms that do not run everywhere on the floor, or fail there only with data.

Read from the text, so that they are found without a server (NEO-121, NEO-133).
"""

import re
from collections.abc import Iterator

from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.rules_text import code_only

_NAMES = {
    r"gds\.(?:alpha\.|beta\.(?!graphSage|pipeline))[\w.]*": "is of a tier that gets removed",
    r"db\.index\.vector\.query\w*": "cannot filter inside the index; write SEARCH",
    r"apoc\.cypher\.\w+": "runs a text; a statement is a file",
}
_CALL = re.compile(r"\b(gds(?:\.\w+)+)\s*\(")
_ALONE = re.compile(r"gds\.graph\.(?:project|drop)\b")
_SEARCH = re.compile(r"\bSEARCH\s+(\w+)\s+IN\s*(?=\()", re.IGNORECASE)
_INDEX = re.compile(r"\bVECTOR\s+INDEX\s+(\w+)", re.IGNORECASE)
_FILTER = re.compile(r"\bWHERE\b(.*?)(?:\bLIMIT\b|$)", re.IGNORECASE | re.DOTALL)
_NOT_PORTABLE = re.compile(r"\b(?:IN|OR|XOR|NOT|STARTS|ENDS|CONTAINS|IS)\b|<>|=~", re.IGNORECASE)
_FULLTEXT = re.compile(r"\bdb\.index\.fulltext\.query\w+\s*(?=\()")


def forms(query: QuerySpec) -> Iterator[Finding]:
    """Every form of one query that the contract refuses."""
    body = code_only(query.body)
    for rule in (_named, _gds, _fulltext, _searches):
        for message in rule(body):
            yield Finding("A10", query.name, message)


def _named(body: str) -> Iterator[str]:
    for pattern, why in _NAMES.items():
        for match in re.finditer(rf"\b{pattern}", body):
            yield f"{match[0]} {why}"


def _gds(body: str) -> Iterator[str]:
    called = [match[1] for match in _CALL.finditer(body)]
    for name in called:
        if _ALONE.match(name) and len(called) > 1:
            yield f"{name} shares its file with another call; project, read and drop apart"


def _fulltext(body: str) -> Iterator[str]:
    for match in _FULLTEXT.finditer(body):
        if not re.search(r"\blimit\s*:", _bracket(body, match.end())):
            yield "a full-text call without a limit reads every hit"


def _searches(body: str) -> Iterator[str]:
    names = {match[1] for match in _INDEX.finditer(body)}
    if len(names) > 1:
        yield f"{' and '.join(sorted(names))} are searched in one file; one index, one file"
    for match in _SEARCH.finditer(body):
        inside = _bracket(body, match.end())
        if not re.search(r"\bLIMIT\b", inside, re.IGNORECASE):
            yield f"SEARCH {match[1]} has no LIMIT"
        found = _FILTER.search(inside)
        if found is None:
            continue
        for word in _NOT_PORTABLE.finditer(found[1]):
            yield f"SEARCH {match[1]} filters with {word[0]}; only AND of equality and range runs"
        # The server fails with 50N00 where the name of a filtered SEARCH is declared again.
        again = rf"(?<!\w)[(\[]\s*{match[1]}\b(?!\.)|\bAS\s+{match[1]}\b|\b{match[1]}\s+IN\s+(?!\()"
        if len(re.findall(again, body)) > 1:
            yield f"{match[1]} is declared again beside its filtered SEARCH"


def _bracket(body: str, start: int) -> str:
    """What stands between the bracket at `start` and the one that closes it."""
    depth = 0
    for place in range(start, len(body)):
        depth += {"(": 1, ")": -1}.get(body[place], 0)
        if depth == 0:
            return body[start + 1 : place]
    return body[start + 1 :]
