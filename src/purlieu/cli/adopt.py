"""``purlieu adopt``, and ``purlieu crawl --endeca`` and ``--benjamin``: other systems' configurations as settings.

Reads what was typed and writes what was adopted; what a configuration means is
``purlieu.adopt``'s.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from purlieu.adopt import Adopted
from purlieu.cli.words import safe
from purlieu.errors import Mistake, SettingsError


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu adopt`` and return the exit status; raises SettingsError with every mistake."""
    adopted = _endeca(arguments) if arguments.what == "endeca" else _benjamin(arguments.file, strict=arguments.strict)
    if arguments.json:
        facts = {name: getattr(adopted, name) for name in ("toml", "carried", "not_carried", "warnings")}
        sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
        return 0
    if arguments.output:
        _write(arguments.output, adopted.toml)
    else:
        sys.stdout.write(adopted.toml)
        sys.stdout.flush()
    _tell(adopted)
    return 0


def for_crawl(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the settings' text for ``purlieu crawl``, and where it comes from; tells what it could not take along."""
    given = [flag for flag in ("endeca", "benjamin", "config", "demo") if getattr(arguments, flag)]
    if len(given) > 1:
        remedy = f"leave --{given[0]} or --{given[1]} out: each brings all the settings"
        raise SettingsError((Mistake(f"--{given[0]}", str(getattr(arguments, given[0])), remedy),))
    if arguments.benjamin:
        adopted, source = _benjamin(arguments.benjamin), arguments.benjamin
    else:
        from purlieu.adopt import endeca, endeca_file

        defaults = Path(arguments.endeca_defaults) if arguments.endeca_defaults else None
        urls = [url for url in arguments.urls if not endeca_file.seed_fault(url)]  # the others are told as URLs later
        depth = _whole("--max-depth", arguments.max_depth, [])  # what is no number is told with the settings
        adopted = endeca.read(Path(arguments.endeca), seeds=urls, defaults=defaults, depth=depth)
        source = arguments.endeca
    if not arguments.quiet:
        _tell(adopted)
    return adopted.toml, source


def _endeca(arguments: argparse.Namespace) -> Adopted:
    """Read a configuration folder; what was typed wrong is told with what stands wrong in it."""
    from purlieu.adopt import endeca

    wrong: list[Mistake] = []
    depth, limit = (_whole(f"--{name}", getattr(arguments, name), wrong) for name in ("depth", "limit"))
    defaults = Path(arguments.defaults) if arguments.defaults else None
    try:
        adopted = endeca.read(
            Path(arguments.folder), seeds=arguments.seed or (), defaults=defaults, depth=depth, limit=limit
        )
    except SettingsError as error:
        raise SettingsError((*wrong, *error.mistakes)) from None
    if wrong:
        raise SettingsError(tuple(wrong))
    return adopted


def _benjamin(path: str, *, strict: bool = False) -> Adopted:
    from purlieu.adopt import benjamin
    from purlieu.cli import config

    text = sys.stdin.read() if path == "-" else config.text_of(path, "FILE", "give the path of a TaskConfig, or -")
    return benjamin.read(text, source="stdin" if path == "-" else path, strict=strict)


def _whole(flag: str, text: str | None, wrong: list[Mistake]) -> int | None:
    """Return the number that was typed; None for none, and for what is noted as wrong."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        wrong.append(Mistake(flag, text, "write a whole number of at least 0"))
        return None
    return int(text)


def _write(path: str, text: str) -> None:
    """Write a new file; one that is there is the owner's and stays."""
    try:
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SettingsError((Mistake("--output", path, "there is such a file already; give another name"),)) from None


def _tell(adopted: Adopted) -> None:
    """Tell on stderr what the owner should know and what was left out."""
    sys.stderr.writelines(f"purlieu: {safe(text)}\n" for text in adopted.warnings)
    for name, value, why in adopted.not_carried:
        shown = " ".join(value.split())[:80]
        told = f'{name} = "{shown}"' if value else name
        sys.stderr.write(f"purlieu: not carried over: {safe(told)}: {safe(why)}\n")
