"""What a text says is in a checkout: files, folders, commands of the project, flags of those.

A name that the text speaks against ("never with deploy.sh", "src/old/ was removed") may be gone,
and one that is made ("writes dist/app.js") may not be there yet: the first is left alone, the
second is never called gone.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["file", "folder", "make", "script", "just", "task", "poe", "entry", "flag"]
COMMANDS: frozenset[Kind] = frozenset({"make", "script", "just", "task", "poe"})

_PATH = re.compile(
    r"(?<![\w/~$:.@-])(?:\./)?(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7}(?![\w/(+])"
)
_FOLDER = re.compile(r"(?<![\w/~$:.@-])(?:\./)?(?:[\w.@-]+/)+(?=[\s`'\",;)]|\.?$)")
_SPAN = re.compile(r"`([^`\n]{1,300})`")
_AT, _END = r"(?:^|[\s;&|])", r"(?=$|[\s;&|])"
# Between backticks only: "make sure" and "just run it" are no commands.
_RUNNERS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "make",
        re.compile(_AT + r"make (?:[A-Z]\w*=\S+ )*([a-z](?:[\w.-]*\w)?)" + _END),
    ),
    ("just", re.compile(_AT + r"just ([a-z](?:[\w-]*\w)?)" + _END)),
    ("task", re.compile(_AT + r"(?:go-)?task ([a-z](?:[\w:-]*\w)?)" + _END)),
    ("poe", re.compile(_AT + r"(?:poe|poethepoet) ([a-z](?:[\w-]*\w)?)" + _END)),
    (
        "entry",
        re.compile(_AT + r"(?:uv|poetry|pdm|hatch|rye) run ([a-z](?:[\w-]*\w)?)" + _END),
    ),
)
_SCRIPT = re.compile(r"\b(?:npm|pnpm|yarn|bun) run ([\w:.-]*\w)|\b(?:npm|pnpm|yarn) (test)\b")
_AGAINST = re.compile(
    r"\b(?:not|no|never|don't|dont|without|instead|old|former|removed|deleted|dropped|gone|replaced"
    r"|avoid|renamed|moved|used to|nicht|kein\w*|nie|ohne|statt|alte\w*)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"^[`'\"]*,?(?: \w+){0,2}? (?:(?:is|are|was|were|has been|have been|got)(?: now| all)*"
    r" (?:gone|removed|deleted|dropped|renamed|replaced|moved|no more|no longer)"
    r"|no longer exists?|does(?:n't| not) exist|went away|wurde\w* \w*(?:entfernt|geloscht))\b",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\b(?:write|create|generat|produc|emit|output|build|render|download|copie|copy|cop[iy]|put"
    r"|sav|stor|add|new|land|schreib|erzeug|ignor)\w*\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.!?]\s|\bbut\b|\baber\b")
# A host or a version looks like a file with an ending.
_NOT_FILES = re.compile(
    r"\.(?:com|org|net|io|dev|test|example|local|git)$|^\w+\.\w+\.\w+$|^(?:e\.g|i\.e)"
)
_HOST = re.compile(r"^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|test|example|local|de|eu|ai)/")
_LIBRARY = re.compile(r"^[A-Z][a-z]+\.js$|^(?:node|next|vue|nuxt|three|express|d3)\.js$", re.I)
_ENDINGS = frozenset(
    [
        "py",
        "pyi",
        "js",
        "jsx",
        "ts",
        "tsx",
        "mjs",
        "cjs",
        "json",
        "jsonc",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "env",
        "lock",
        "md",
        "rst",
        "txt",
        "sh",
        "bash",
        "zsh",
        "fish",
        "ps1",
        "bat",
        "cmd",
        "sql",
        "cypher",
        "go",
        "rs",
        "java",
        "kt",
        "kts",
        "scala",
        "rb",
        "php",
        "c",
        "h",
        "cc",
        "cpp",
        "hpp",
        "cs",
        "swift",
        "dart",
        "ex",
        "exs",
        "erl",
        "hs",
        "lua",
        "pl",
        "r",
        "jl",
        "html",
        "css",
        "scss",
        "sass",
        "less",
        "vue",
        "svelte",
        "xml",
        "proto",
        "graphql",
        "gradle",
        "properties",
        "tf",
        "tfvars",
        "hcl",
        "mk",
        "cmake",
        "nix",
        "csv",
        "tsv",
        "ipynb",
    ]
)
_FLAG = re.compile(r"^--[a-z][\w-]{1,40}(?==|$)")
_INTERPRETERS = re.compile(
    r"^(?:python\d?(?:\.\d+)?|node|deno|bun|bash|sh|zsh|ruby|perl|uv|poetry|pdm|hatch|rye|run|env"
    r"|sudo|[A-Z]\w*=\S*)$"
)
_WORD = re.compile(r"^[a-z][\w-]*\w$")
_MOST = 20


@dataclass(frozen=True, slots=True)
class Named:
    """One thing in a text that a checkout can show; `of` is the command that a flag belongs to."""

    kind: Kind
    name: str
    of: str = ""
    made: bool = False

    @property
    def known(self) -> bool:
        """Whether this can only be a file's name, by its ending."""
        return self.name.rpartition(".")[2].lower() in _ENDINGS


def named(text: str) -> tuple[Named, ...]:
    """What a text says is there, without what it speaks against."""
    found: dict[tuple[Kind, str, str], Named] = {}

    def note(kind: Kind, name: str, start: int, end: int, of: str = "") -> None:
        before = _CLAUSE.split(text[:start])[-1]
        if _AGAINST.search(before) or _ENDED.search(text[end : end + 80]):
            return
        made = bool(_MADE.search(before)) and kind in {"file", "folder"}
        found.setdefault((kind, name, of), Named(kind, name, of, made))

    for span in _SPAN.finditer(text):
        at = span.start(1)
        for kind, pattern in _RUNNERS:
            for match in pattern.finditer(span[1]):
                note(kind, match[1], at + match.start(), at + match.end())
        head, flags = _flags(span[1])
        if head and _is_entry(head):
            note("entry", head, at, span.end(1))
        for flag in flags:
            note("flag", flag, at, span.end(1), of=head)
    for match in _SCRIPT.finditer(text):
        note("script", match[1] or match[2], match.start(), match.end())
    for match in _PATH.finditer(text):
        name = match[0].removeprefix("./")
        if not (_NOT_FILES.search(name) or _HOST.search(name) or _LIBRARY.search(name)):
            note("file", name, match.start(), match.end())
    for match in _FOLDER.finditer(text):
        name = match[0].removeprefix("./")
        if not _HOST.search(name):
            note("folder", name, match.start(), match.end())
    return tuple(found.values())[:_MOST]


def _flags(span: str) -> tuple[str, list[str]]:
    """The command of a code span that may be the project's own, and the flags it is given."""
    words = span.split()
    while words and _INTERPRETERS.match(words[0]):
        words = words[1:]
    if not words:
        return "", []
    head = words[0].removeprefix("./")
    if not (_WORD.match(head) or _PATH.fullmatch(head)):
        return "", []
    flags: list[str] = []
    for word in words[1:]:
        if word in {"|", "&&", ";", "||", ">", "--"}:
            break
        if _FLAG.match(word):
            flags.append(word.partition("=")[0])
    return head, flags


def _is_entry(head: str) -> bool:
    """Whether a word may be a command that the project installs: nothing says so but its list."""
    return bool(_WORD.match(head)) and head not in {
        "make", "just", "task", "poe", "npm", "pnpm", "yarn", "bun", "git", "npx", "docker"
    }  # fmt: skip
