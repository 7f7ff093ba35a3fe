"""Commands for the query contract: check, catalog, lock."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from mkg.bundle import Runner
from mkg.bundle import catalog as catalogs
from mkg.bundle.findings import Finding
from mkg.bundle.language import Analysis, LanguageAway
from mkg.bundle.loader import Bundle
from mkg.bundle.rules_server import Facts, Index
from mkg.errors import BundleError, Refused

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def check(
    offline_only: Annotated[
        bool, typer.Option("--offline", help="Without a server: the rules A1 to A10.")
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Lay out the files as the formatter does, then check.")
    ] = False,
    previous: Annotated[
        Path | None,
        typer.Option(
            "--previous", help="The cypher folder of an earlier release: does it still run?"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every shipped query against its contract."""
    import mkg
    from mkg.bundle import check as rules
    from mkg.bundle import load_bundle
    from mkg.bundle.model import load_model
    from mkg.db import connect
    from mkg.settings import load_settings

    if previous is not None:
        _tell(*_outlived(previous), as_json=as_json)
        return
    bundle = load_bundle()
    bind_all()
    if fix:
        bundle = _laid_out(bundle)
    found = rules.offline(bundle, Path(mkg.__file__).parent)
    analyses = _analysed(bundle)
    if analyses is not None:
        found += rules.by_language(bundle, analyses, load_model())
    if not offline_only:
        with connect(load_settings(), caller="check", notifications=True) as run:
            found += rules.online(bundle, run, facts(run), load_model())
    where = "offline" if offline_only else "offline and on the server"
    _tell(found, f"{len(bundle.queries)} queries checked {where}", as_json=as_json)


def _tell(found: list[Finding], what: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(f) for f in found], indent=2))
    else:
        for finding in found:
            typer.echo(str(finding))
        typer.echo(f"{what}, {len(found)} finding(s)")
    if found:
        raise BundleError(f"{len(found)} rule(s) of the query contract are broken")


def _outlived(folder: Path) -> tuple[list[Finding], str]:
    """What the schema of the server breaks for the bundle in a folder."""
    from mkg.bundle import check as rules
    from mkg.bundle.loader import read_bundle
    from mkg.db import connect
    from mkg.settings import load_settings

    bundle = read_bundle(folder, folder.parent / "gds")
    with connect(load_settings(), caller="check", notifications=True) as run:
        found = rules.outlived(bundle, run, facts(run))
    return found, f"{len(bundle.queries)} queries of {bundle.version} tried on this schema"


def facts(run: Runner) -> Facts:
    """What a server has, as the rules need it."""
    from mkg.migrate.schema import schema_constraints, schema_indexes

    guards = {constraint.name for constraint in schema_constraints(run)}
    return Facts(
        catalogs.ask(run),
        {
            i.name: Index(
                i.type, i.state, tuple(i.labels or ()), tuple(i.properties or ()), i.name in guards
            )
            for i in schema_indexes(run)
        },
    )


def _analysed(bundle: Bundle) -> dict[str, Analysis] | None:
    from mkg.bundle import check as rules
    from mkg.bundle.model import load_model

    try:
        return rules.analysed(bundle, load_model())
    except LanguageAway as away:
        left_out = ", ".join(rules.LANGUAGE_RULES)
        typer.echo(f"not checked here: {left_out} ({away})", err=True)
        return None


def _laid_out(bundle: Bundle) -> Bundle:
    from mkg.bundle.files import root
    from mkg.bundle.loader import read_bundle
    from mkg.bundle.rules_language import fixed

    analyses = _analysed(bundle)
    if analyses is None:
        raise Refused("the formatter is not here, so nothing was laid out")
    for name in fixed(bundle.queries, analyses):
        typer.echo(f"laid out {name}", err=True)
    return read_bundle(root("cypher"), root("gds"))


def bind_all() -> None:
    """Import every module that may bind a stub."""
    import importlib
    import pkgutil

    import mkg

    for module in pkgutil.walk_packages(mkg.__path__, "mkg."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def catalog(
    write: Annotated[
        Path | None, typer.Option("--write", help="A file to write instead of printing.")
    ] = None,
) -> None:
    """Print the procedures and functions of the server, as the contract keeps them."""
    from mkg.db import connect
    from mkg.settings import load_settings

    with connect(load_settings(), caller="catalog") as run:
        asked = catalogs.ask(run)
    if write is None:
        typer.echo(catalogs.text(asked), nl=False)
        return
    write.write_text(catalogs.text(asked), encoding="utf-8")
    typer.echo(
        f"{write}: {len(asked.procedures)} procedures, {len(asked.functions)} functions", err=True
    )


def lock(
    released: Annotated[
        bool, typer.Option("--release", help="What stands now is what a release promises.")
    ] = False,
) -> None:
    """Write the lock of the bundle again and tell which version its changes demand."""
    from mkg.bundle import load_bundle
    from mkg.bundle import lock as locks
    from mkg.bundle.check import lock_path

    path = lock_path()
    if not (path.parents[1] / "pyproject.toml").is_file():
        raise Refused("the lock is written in a checkout, not in an installed package")
    bundle = load_bundle()
    now = locks.locked(bundle, locks.read(path) if path.exists() else None)
    least, changed = locks.least(now), locks.changes(now)
    for change in changed:
        typer.echo(str(change))
    since = "nothing is released yet" if now.released is None else f"since {now.released}"
    typer.echo(f"{since}: {len(changed)} change(s), version {least} or higher is demanded")
    path.write_text(locks.text(now), encoding="utf-8")
    short = [f for f in locks.locking(bundle, path) if f.query == "bundle.toml"]
    if short:
        raise BundleError(f"raise version in cypher/bundle.toml: {short[0].message}")
    if released:
        path.write_text(locks.text(locks.release(now)), encoding="utf-8")
        typer.echo(f"{now.version} is the release that later changes are measured by")
