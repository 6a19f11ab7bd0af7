"""The house keeps its shape: import directions, doors, few inputs, pure nouns, every public name explained.

Reads the source as a syntax tree, so an import counts wherever it stands: inside a function, under
``TYPE_CHECKING``, or as a relative one. The rules are house.md, section 1.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).resolve().parent.parent / "src" / "purlieu"

NOUN_FLOORS: Final = (
    (
        "errors",
        "outcome",
        "url",
        "domain",
        "verdict",
        "landing",
        "finding",
        "difference",
        "pattern",
        "normalise",
        "sentence",
        "jsonl",
        "value",
        "named",
        "late",
        "digest",
        "native",
        "query",
        "feed",
    ),
    (
        "scope",
        "robots",
        "sitemap",
        "response",
        "page",
        "likeness",
        "candidate",
        "politeness",
        "conduct",
        "trap",
        "revisit",
        "schedule",
        "suspicion",
        "audit",
        "extraction",
    ),
    ("settings", "decide", "admission", "timetable"),
    ("judgement", "row"),
)
FLOOR_OF: Final = {noun: floor for floor, nouns in enumerate(NOUN_FLOORS) for noun in nouns}
MAY_IMPORT: Final = {
    "fetch": set(),
    "store": set(),
    "adopt": set(),
    "archive": set(),
    "document": set(),
    "crawl": {"fetch", "store", "archive", "document"},
    "report": {"store"},
    "testing": {"crawl", "fetch", "store"},
    "console": {"report", "store", "adopt", "crawl"},
    "cli": {"fetch", "store", "adopt", "document", "crawl", "report", "testing", "console"},
    "__main__": {"cli"},
    "__init__": {"crawl"},  # the package's own face: purlieu.Crawl
}
"""Which rooms a room may import; nouns are open to all of them."""

DOORS: Final = {
    "pycurl": ("fetch.http",),
    "apsw": ("store.sqlite",),
    "sqlite3": (),
    "psycopg": ("store.postgres",),
    "pyarrow": ("report.ledger", "report.text"),
    "pypdfium2": ("document.pdf",),
    "re2": ("pattern",),
    "regex": ("pattern",),
    "rensa": ("likeness",),
    "ray": ("crawl.cluster",),
    "typer": ("cli",),
    "click": ("cli",),
    "rich": ("cli",),
    "argparse": ("cli",),
    "cronsim": ("schedule",),
    "starlette": ("console",),
    "jinja2": ("console", "report.audit_files"),
    "uvicorn": ("console",),
    "argon2": ("console",),
    "warcio": ("archive",),
    "resiliparse": ("page.content", "page.login_form"),
    "spnego": ("fetch.ntlm",),
    "time": ("crawl.clock", "testing"),  # testing serves slow pages on real sockets
    "random": (),
}
"""One door per outside thing: the only modules (and what lies in them) that may import it."""

DISTRIBUTIONS: Final = {
    "url": "url-py", "ada_url": "ada-url", "re2": "google-re2", "yaml": "pyyaml", "argon2": "argon2-cffi",
    "python_multipart": "python-multipart", "spnego": "pyspnego",
}  # fmt: skip
"""Distributions that are not named as what is imported from them."""

IMPURE: Final = {"asyncio", "logging", "time", "random", "secrets", "socket", "subprocess", "threading", "uuid"}
CLOCK_CALLS: Final = {"now", "utcnow", "today"}
MOST_INPUTS: Final = 7

MODULES: Final = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"), str(path))
    for path in sorted((*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")))  # what is compiled, by its types
}
NOUN_MODULES: Final = [module for module in MODULES if module.partition(".")[0] in FLOOR_OF]


def room_of(module: str) -> str:
    """Return the first part of a module's name below the package."""
    return module.partition(".")[0]


def resolved(module: str, node: ast.ImportFrom) -> str:
    """Return the absolute dotted name that a ``from`` import reads from."""
    if not node.level:
        return node.module or ""
    package = ["purlieu", *module.split(".")][: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def imports(module: str) -> list[tuple[int, str]]:
    """Return (line, absolute dotted name) of everything a module imports, wherever it stands in the file."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolved(module, node)
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


def own_imports(module: str) -> list[tuple[int, str]]:
    """Return (line, module below the package) of the package's own modules that a module imports."""
    found = []
    for line, name in imports(module):
        if name == "purlieu" or name.startswith("purlieu."):
            parts = name.split(".")[1:]
            while parts and ".".join(parts) not in MODULES and ".".join([*parts, "__init__"]) not in MODULES:
                parts.pop()
            inner = ".".join(parts)
            found.append((line, inner if inner in MODULES else ".".join([*parts, "__init__"])))
    return found


def is_public(module: str) -> bool:
    """Say whether a user or another room may import the module (no part of its name is private)."""
    return not any(part.startswith("_") and not part.startswith("__") for part in module.split("."))


def public_definitions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Return the public functions and classes of a module, and the public methods of those classes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = []
    bodies: list[list[ast.stmt]] = [tree.body]
    while bodies:
        for node in bodies.pop():
            if isinstance(node, kinds) and not node.name.startswith("_"):
                found.append(node)
                if isinstance(node, ast.ClassDef):
                    bodies.append(node.body)
    return found


def inputs(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many arguments a function takes, ``self`` and ``cls`` left out."""
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in {"self", "cls"}])


def test_every_module_has_a_room() -> None:
    """A module at the top is a noun on a known floor or a known room; a new one is added to the table first."""
    unknown = {room_of(module) for module in MODULES} - set(FLOOR_OF) - set(MAY_IMPORT)
    assert unknown == set()


@pytest.mark.parametrize("module", NOUN_MODULES)
def test_a_noun_imports_no_room_and_no_higher_noun(module: str) -> None:
    """Nouns stand on a ladder: a noun imports nouns of its own floor or below, and never a room that acts."""
    floor = FLOOR_OF[room_of(module)]
    wrong = [
        f"{module}:{line} imports {target}"
        for line, target in own_imports(module)
        if FLOOR_OF.get(room_of(target), len(NOUN_FLOORS)) > floor
    ]
    assert wrong == []


@pytest.mark.parametrize("module", [module for module in MODULES if room_of(module) in MAY_IMPORT])
def test_a_room_imports_only_what_lies_below(module: str) -> None:
    """Imports point down only, and rooms on one floor do not know each other."""
    room = room_of(module)
    allowed = MAY_IMPORT[room] | set(FLOOR_OF) | {room, "__init__"}
    wrong = [
        f"{module}:{line} imports {target}" for line, target in own_imports(module) if room_of(target) not in allowed
    ]
    assert wrong == []


def test_no_import_cycle() -> None:
    """No two modules import each other, directly or round a corner, type-only imports included."""
    graph = {
        module: {target for _, target in own_imports(module) if target not in {module, "__init__"}}
        for module in MODULES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("thing", DOORS)
def test_one_door_per_outside_thing(thing: str) -> None:
    """Each outside thing is imported only through its door."""
    doors = DOORS[thing]
    wrong = [
        f"{module}:{line} imports {name}"
        for module in MODULES
        if not any(module == door or module.startswith(f"{door}.") for door in doors)
        for line, name in imports(module)
        if name == thing or name.startswith(f"{thing}.")
    ]
    assert wrong == []


@pytest.mark.parametrize("module", NOUN_MODULES)
def test_a_noun_is_pure(module: str) -> None:
    """A noun has no async, opens nothing, logs nothing, reads no clock and throws no dice."""
    wrong = [f"{module}:{line} imports {name}" for line, name in imports(module) if name.partition(".")[0] in IMPURE]
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await):
            wrong.append(f"{module}:{node.lineno} is async")
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in {"open", "print", "input"}:
                wrong.append(f"{module}:{node.lineno} calls {called.id}")
            elif isinstance(called, ast.Attribute) and called.attr in CLOCK_CALLS:
                wrong.append(f"{module}:{node.lineno} asks for the time: {ast.unparse(called)}")
    assert wrong == []


@pytest.mark.parametrize("module", MODULES)
def test_a_constructor_takes_at_most_seven_inputs(module: str) -> None:
    """What needs more than seven inputs knows too much; a dataclass is a value and has as many fields as its row."""
    wrong = [
        f"{module}:{node.lineno} takes {inputs(node)}"
        for node in ast.walk(MODULES[module])
        if isinstance(node, ast.FunctionDef) and node.name == "__init__" and inputs(node) > MOST_INPUTS
    ]
    assert wrong == []


@pytest.mark.parametrize("module", [module for module in MODULES if is_public(module)])
def test_every_public_name_has_a_docstring(module: str) -> None:
    """A module, and every public class, function and method in it, says what it is."""
    tree = MODULES[module]
    wrong = [] if ast.get_docstring(tree) else [f"{module} has no docstring"]
    wrong += [
        f"{module}:{node.lineno} {node.name} has no docstring"
        for node in public_definitions(tree)
        if not ast.get_docstring(node)
    ]
    assert wrong == []


def test_what_is_imported_is_declared() -> None:
    """The dependencies in pyproject.toml are exactly what the package imports, no more and no less."""
    project = tomllib.loads((SOURCE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    declared = {re.split(r"[^A-Za-z0-9-]", dependency)[0] for dependency in (*project["dependencies"], *extras)}
    tops = {name.partition(".")[0] for module in MODULES for _, name in imports(module)}
    foreign = tops - sys.stdlib_module_names - {"purlieu"}
    assert {DISTRIBUTIONS.get(name, name) for name in foreign} == declared


def test_sql_is_written_only_in_sql_files() -> None:
    """No statement is put together in Python: SQL text lives in ``store/*.sql``, by name."""
    openings = ("SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "CREATE TABLE ", "WITH RECURSIVE ")
    wrong = [
        f"{module}:{node.lineno} {node.value.strip()[:40]!r}"
        for module, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lstrip().startswith(openings)
    ]
    assert wrong == []


def test_no_name_says_nothing() -> None:
    """A room or module has a name of its own; nothing is called utils, core or the like."""
    empty = {"utils", "util", "core", "base", "common", "manager", "engine", "handler", "context", "helpers", "misc"}
    assert [module for module in MODULES if empty & set(module.split("."))] == []
