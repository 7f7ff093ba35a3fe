"""`mkg bench`: measurements that anyone can repeat, on a store of their own."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mkg.errors import ModelUnavailable

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner

app = typer.Typer(no_args_is_help=True, help="Measure the memory, on a store of its own.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Mine = Annotated[
    bool, typer.Option("--into-my-store", help="Use your store instead of the bench's own.")
]


@app.command()
def recall(
    dataset: Annotated[Path, typer.Option(help="Labelled dialogues (LoCoMo's JSON).")],
    conversations: Annotated[int, typer.Option(min=1, help="Only the first so many.")] = 10,
    ablate: Annotated[bool, typer.Option(help="Also with each piece taken out.")] = True,
    into_my_store: Mine = False,
    as_json: Json = False,
) -> None:
    """Import labelled dialogues, ask their questions, and count how much evidence is found."""
    from mkg import embed
    from mkg.bench import labelled
    from mkg.bench import recall as bench
    from mkg.settings import load_settings

    sets = labelled.load(dataset)[:conversations]
    embedder = embed.load(load_settings())
    if embedder is None:
        raise ModelUnavailable("the recall bench compares vectors too; unset EMBEDDING_MODEL=none")
    with _store(into_my_store) as run:
        found = bench.bench(
            run, embedder, sets, prefix="bench/recall", ablate=ablate, progress=_tell
        )
    typer.echo(json.dumps(found, indent=2) if as_json else table(found))


@app.command()
def silence(as_json: Json = False) -> None:
    """Count lines told where nothing bears on the prompt, and prompts that were told too little."""
    import dataclasses

    from mkg import embed
    from mkg.bench import silence as bench
    from mkg.settings import load_settings

    embedder = embed.load(load_settings())
    rows = [
        {"by": each.model if each else "words alone", "part": part, **dataclasses.asdict(rates)}
        for each in ([embedder, None] if embedder else [None])
        for part in bench.SPLITS
        for rates in bench.measure(each, part)
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    names = ("by", "part", "family", "prompts", "false_injection", "miss", "beside")
    typer.echo("| " + " | ".join(name.replace("_", " ") for name in names) + " |")
    typer.echo("|" + "---|" * len(names))
    for row in rows:
        cells = ["-" if row[name] is None else str(row[name]) for name in names]
        typer.echo("| " + " | ".join(cells) + " |")


def table(found: dict[str, Any]) -> str:
    """The report as Markdown."""
    columns = ["recall@5", "recall@10", "recall@20", "any@10", "mrr"]
    columns += ["multi-hop", "temporal", "open", "single"]
    lines = [
        f"query {found['query']}, body {found['body_sha256'][:12]}, "
        f"{found['questions']} questions; by category at 10",
        "",
        "| system | " + " | ".join(columns) + " | untuned @10 |",
        "|---|" + "---|" * (len(columns) + 1),
    ]
    for name, row in found["systems"].items():
        untuned = found["untuned"].get(name, {}).get("recall@10")
        cells = [f"{row[column]:.3f}" for column in columns]
        cells.append(f"{untuned:.3f}" if untuned is not None else "-")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    low, high = found["interval_at_10"]
    gain, speed = found["gain_over_best_baseline"], found["ms_per_question"]
    lines += [
        "",
        f"recall@10 as shipped: 95% interval {low:.3f} to {high:.3f}; "
        f"over {gain['over']}: {gain['mean']:+.3f} "
        f"({gain['interval'][0]:+.3f} to {gain['interval'][1]:+.3f}, paired)",
        f"one question: {speed['median']} ms median, {speed['p95']} ms p95, embedding apart",
    ]
    return "\n".join(lines)


@contextmanager
def _store(mine: bool) -> Generator["Neo4jRunner"]:
    """A runner on a fresh managed store that is stopped afterwards, or on the user's own."""
    from mkg import localdb
    from mkg.cli.own_store import own_store
    from mkg.db import connect
    from mkg.settings import load_settings, subprocess_env

    settings = load_settings()
    if mine:
        with connect(settings, caller="bench") as run:
            yield run
        return
    settings = own_store(settings, "bench")
    localdb.reset(settings)
    localdb.up(settings, _tell, env=subprocess_env())
    try:
        with connect(settings, caller="bench") as run:
            yield run
    finally:
        localdb.down(settings)


def _tell(text: str) -> None:
    typer.echo(text, err=True)
