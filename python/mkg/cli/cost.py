"""`mkg cost`: what models took, by day and task, and how much of today's allowance is left."""

import dataclasses
import datetime as dt
import json
from typing import Annotated

import typer


def cost(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How many days to show.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what models took on these days, and the cap that stops them."""
    from mkg import db
    from mkg.llm.meter import model_usage, today
    from mkg.settings import load_settings

    settings = load_settings()
    first = dt.date.fromisoformat(today()) - dt.timedelta(days=days - 1)
    with db.connect(settings, caller="cost") as run:
        rows = model_usage(run, since=first.isoformat())
    cap = {"tokens": settings.llm.daily_tokens, "usd": settings.llm.daily_usd}
    total = next((r for r in rows if r.day == today() and r.task == "*"), None)
    taken = {
        "tokens": total.input_tokens + total.output_tokens + total.reserved if total else 0,
        "usd": round(total.cost_usd + total.reserved_usd, 6) if total else 0.0,
    }
    if as_json:
        told = [dataclasses.asdict(r) for r in rows]
        typer.echo(json.dumps({"cap": cap, "today": taken, "rows": told}, indent=2))
        return
    typer.echo(
        f"today: {taken['tokens']} of {cap['tokens']} tokens, "
        f"{taken['usd']:.4f} of {cap['usd']:.2f} dollars; at either end no model is asked"
    )
    for row in rows:
        name = "all" if row.task == "*" else f"{row.task} {row.model}"
        held = f", {row.reserved} reserved" if row.reserved else ""
        typer.echo(
            f"{row.day}  {name:40} {row.calls} call(s), {row.failed} failed, "
            f"{row.input_tokens} + {row.output_tokens} tokens, {row.cost_usd:.4f} dollars{held}"
        )
    if not rows:
        typer.echo(f"no model was asked since {first.isoformat()}")
