"""Texts of the self-test, from the data file beside this one."""

import tomllib
from importlib.resources import files

_DATA = tomllib.loads(
    files("mkg.features.reader").joinpath("probes.toml").read_text(encoding="utf-8")
)
ALLOWED: dict[str, str] = _DATA["allowed"]
REFUSED: dict[str, str] = _DATA["refused"]
FOREIGN: dict[str, str] = _DATA["foreign"]
WRITES: dict[str, str] = _DATA["writes"]
