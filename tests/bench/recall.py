"""W2: recall at the prompt over the size of the store and the share of it that is in scope."""

from collections.abc import Callable, Sequence

from mkg import lexical
from mkg.bundle import spec
from mkg.db import Neo4jRunner
from mkg.embed import LocalMiniLM
from mkg.features.learnings import retrieval
from tests.bench import statements, stock, world
from tests.bench.measure import interleaved, ratio, slope, spread
from tests.bench.report import Report, Row

SCANS = ("AllNodesScan", "NodeByLabelScan")
LIMIT = 8


def measure(
    run: Neo4jRunner, *, sizes: Sequence[int], rounds: int, say: Callable[[str], None]
) -> Report:
    """Time the fused statement, its two index calls alone, and look at its plan, at each size."""
    model = LocalMiniLM()
    asked = [retrieval.prepare(text, model) for text in world.questions(64)]
    rows: list[Row] = []
    notes: list[str] = []
    fused: dict[str, dict[int, list[float]]] = {}
    for size in sizes:
        say(f"{size} learnings")
        world.wipe(run)
        stock.fill(run, model, size, owner="project:rest")
        for percent in (100, 10, 1):
            owner = f"project:share-{percent}"
            statements.run(
                run,
                "learnings_own",
                mode="auto",
                percent=percent,
                owner_key=owner,
                owner_token=lexical.owner_token(owner),
            )
            say(f"{size} learnings, {percent} % in scope: {rounds} rounds")
            times = interleaved(_cases(run, asked, owner), rounds=rounds, warm=25)
            fused.setdefault(f"{percent} %", {})[size] = times["fused"]
            slower = max(times["vector"], times["text"], key=lambda row: sorted(row)[len(row) // 2])
            bar = 2.0 if size == stock.EMBEDDED else None
            what = f"fused against the slower index call, {size:,} learnings, {percent} % in scope"
            rows.append(Row(what, ratio(times["fused"], slower), bar))
            told = ", ".join(f"{name} {spread(row)}" for name, row in times.items())
            notes.append(f"ms at {size:,}, {percent} % in scope, median / p95: {told}")
        scans = _scans(run, asked[0])
        notes.append(
            f"plan at {size:,}: " + (", ".join(scans) or "no scan of all nodes or a label")
        )
        if scans:
            raise AssertionError(f"learnings.recall scans at {size}: {scans}")
    if len(sizes) > 1:
        rows += [
            Row(
                f"exponent over {sizes[0]:,} to {sizes[-1]:,} learnings, {share} in scope",
                slope(times),
                0.25,
            )
            for share, times in fused.items()
        ]
    return Report("recall", rows, rounds, notes)


def _cases(
    run: Neo4jRunner, asked: Sequence[retrieval.Query], owner: str
) -> dict[str, Callable[[int], object]]:
    project = owner.removeprefix("project:")

    def at(number: int) -> retrieval.Query:
        return asked[number % len(asked)]

    def alone(name: str) -> Callable[[int], object]:
        def once(number: int) -> object:
            query = at(number)
            return statements.run(
                run,
                name,
                mode="read",
                owner_key=owner,
                terms=lexical.lucene(query.terms, lexical.owner_token(owner)),
                vector=query.vector,
                model=query.model,
                pool=retrieval.POOL,
                limit=LIMIT,
            )

        return once

    return {
        "fused": lambda number: retrieval.at_prompt(
            run, at(number), project_id=project, session_id=None, excluded=[], limit=LIMIT
        ),
        "vector": alone("vector_alone"),
        "text": alone("text_alone"),
    }


def _scans(run: Neo4jRunner, query: retrieval.Query) -> list[str]:
    statement = spec("learnings.recall")
    params = {name: None for name in (p.name for p in statement.params)}
    params |= {"vector": query.vector, "terms": "x", "pool": 10, "limit": 5, "excluded": []}
    found = run.explain(statement.text, params)
    return [name for name, _ in found.operators if name in SCANS]
