"""The reference pages of the documentation, made from the tables that the program itself reads.

Gives texts by file name; writes nothing (``scripts/docs`` does).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any, Final

from purlieu.cli.argument import Argument, Command
from purlieu.cli.options import COMMANDS, every_command
from purlieu.outcome import KINDS, LANGUAGES, MF3_MESSAGES, REASONS, Reason, words_of
from purlieu.settings.fact import META, Key
from purlieu.settings.key import Settings
from purlieu.settings.tree import LISTS, SECTIONS, known, written
from purlieu.sitemap.choose import REASONS as LEFT_OUT

_MADE: Final = "<!-- Made by scripts/docs; change the source instead: {source} -->"
_TYPES: Final = {
    "bool": "true or false",
    "int": "whole number",
    "int | str": "whole number",
    "float": "number",
    "str": "text",
    "tuple[str, ...]": "list of texts",
    "tuple[tuple[str, str], ...]": "table of texts",
}
_MF3: Final = {"ok": "true", "landing": "by where the redirects end", "": "none"}
_STATUSES: Final = (
    ("0", "Done; also when a limit ended the run."),
    ("1", "No page ended fetched, unchanged or redirected; or the books do not balance; or the machine failed."),
    ("2", "The settings, or what was typed, are wrong; each mistake is told with what to write instead."),
    ("3", "Done, but the result looks suspicious; only with `--strict`."),
    ("130", "Stopped by Ctrl-C or a termination signal; `--resume` goes on."),
)


def pages() -> dict[str, str]:
    """Return the text of every reference page by its file name."""
    made = {
        "settings.md": _settings(),
        "command-line.md": _command_line(),
        "outcomes.md": _outcomes(),
        "sitemap.md": _left_out(),
    }
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def _settings() -> Iterator[str]:
    yield _MADE.format(source="src/purlieu/settings/key.py and belonging.py")
    yield "# Settings"
    yield ""
    yield "A crawl is described by one TOML file: `purlieu crawl -c purlieu.toml`."
    yield "Every key may be left out."
    yield "Options of the command line stand over the file."
    yield "A key that does not exist is refused, and all mistakes are told in one go: `purlieu config check`."
    yield ""
    yield '- A span of time is a number of seconds, or has its unit: `"250 ms"`, `"90 s"`, `"5 min"`, `"2 h"`, `"1 d"`.'
    yield '- A size is a number of bytes, or has its unit: `"64 KiB"`, `"10 MiB"`, `"1 GiB"`, `"50 MB"`.'
    yield "- `env:NAME` for a password, a token, the value of a header or field, the proxy or the webhook takes the"
    yield "  environment variable NAME at the start; `file:PATH` takes the one line of a file, and"
    yield "  `keyring:SERVICE/USER` what the system's keyring has (`pip install purlieu[keyring]`)."
    yield "  Secrets written out in the file work too, with a warning; neither `purlieu config show` nor the store ever"
    yield "  holds them."
    yield ""
    yield "## At the top of the file"
    yield from _table(Settings, "")
    for name, kind in SECTIONS.items():
        yield from ("", f"## `[{name}]`")
        yield from _table(kind, name)
    for name, (_, kind) in LISTS.items():
        yield from ("", f"## `[[{name}]]`")
        yield from _table(kind, name)
        if name == "origin":
            yield from ("", "```toml", "[[origin]]", 'origin = "https://intra.example.com"', 'user = "crawler"')
            yield from ('password = "env:CRAWLER_PASSWORD"', 'headers = { X-Purpose = "search" }', "```")


def _table(kind: type, table: str) -> Iterator[str]:
    yield ""
    yield " ".join((kind.__doc__ or "").split())
    yield ""
    yield "| key | value | default | what it says |"
    yield "|---|---|---|---|"
    for field in fields(kind):
        if META in field.metadata and not known(field).table:
            key = known(field)
            told = f"{key.doc}{_option(table, field)}"
            yield f"| `{field.name}` | {_value(field, key)} | {_default(field, key)} | {told} |"


def _value(field: Field[Any], key: Key) -> str:
    told = _TYPES[str(field.type).removesuffix(" | None")]
    told = {"seconds": "span of time", "bytes": "size"}.get(key.unit, told)
    if key.choices:
        several = "any of " if "tuple" in str(field.type) else ""
        return several + ", ".join(f"`{choice}`" for choice in key.choices)
    if key.least is not None:
        told += f", {key.least:,} to {key.most:,}" if key.most is not None else f", at least {key.least:,}"
    also = f'`"{key.also}"`' if isinstance(key.also, str) else key.also
    return told if key.also is None else f"{told}, or {also}"


def _default(field: Field[Any], key: Key) -> str:
    if key.needed:
        return "needed"
    if key.unset:
        return key.unset
    return f"`{written({} if 'tuple[tuple' in str(field.type) else field.default)}`"


def _option(table: str, field: Field[Any]) -> str:
    dotted = f"{table}.{field.name}" if table else field.name
    flags = [argument.names[-1] for argument in COMMANDS[0].arguments if argument.key == dotted]
    return f" Option: `{flags[0]}`." if flags else ""


def _command_line() -> Iterator[str]:
    yield _MADE.format(source="src/purlieu/cli/options.py")
    yield "# Command line"
    yield ""
    yield "`python -m purlieu` is the same as `purlieu`."
    yield "`purlieu --version` prints the version and by what pages are read (`C`, or the slower `Python`)."
    yield "`--help` after any command prints what may follow it."
    for typed, command in every_command():
        yield from ("", f"{'##' if ' ' not in typed else '###'} `purlieu {typed}`", "")
        yield f"{command.help[0].upper()}{command.help[1:]}."
        yield from _arguments(command)
    yield from ("", "## Exit status", "", "| status | what it means |", "|---|---|")
    yield from (f"| {status} | {told} |" for status, told in _STATUSES)


def _arguments(command: Command) -> Iterator[str]:
    if command.arguments:
        yield from ("", "| what is typed | what it says |", "|---|---|")
    for argument in command.arguments:
        key = f" Setting: `{argument.key}`." if argument.key else ""
        yield f"| {_typed(argument)} | {argument.help[0].upper()}{argument.help[1:]}.{key} |"


def _typed(argument: Argument) -> str:
    if not argument.names[0].startswith("-"):
        return f"`{argument.metavar}{'...' if argument.kind == 'rest' else ''}`"
    value = f" {argument.metavar}" if argument.metavar else ""
    return ", ".join(f"`{name}{value}`" for name in argument.names)


def _outcomes() -> Iterator[str]:
    yield _MADE.format(source="src/purlieu/outcome.py")
    yield "# Outcomes"
    yield ""
    yield "Every URL of a run ends in exactly one of these, `kind.reason`."
    yield 'A URL that is "asked again" gets further tries before it counts as ended (`politeness.retries`).'
    yield 'One that counts "against the host" helps to give the host up (`politeness.give_up_after`).'
    yield "The MF3.0 column tells its row in `crawl_result_detail.csv`: `true`, the code of its message, or none."
    for kind in KINDS:
        reasons = [reason for reason in REASONS.values() if reason.kind == kind]
        yield from ("", f"## {kind}", "", "| outcome | what it means | MF3.0 | asked again | against the host |")
        yield "|---|---|---|---|---|"
        yield from map(_outcome, reasons)
    yield from ("", "## Messages of MF3.0", "", "| code | message |", "|---|---|")
    yield from (f"| {code} | `{message}` |" for code, message in MF3_MESSAGES.items())
    for language, heading in zip(LANGUAGES[1:], ("日本語", "简体中文"), strict=True):
        yield from ("", f"## {heading}", "", "| | | |", "|---|---|---|")
        yield from (
            f"| `{name}` | {words_of(reason.code, language)} | {reason.sentence(language)} |"
            for name, reason in REASONS.items()
        )


def _left_out() -> Iterator[str]:
    yield _MADE.format(source="src/purlieu/sitemap/choose.py")
    yield "# Left out of a sitemap"
    yield ""
    yield "`purlieu sitemap build` lists every page that it leaves out, with one of these reasons."
    for place, heading in enumerate(("", "日本語", "简体中文")):
        yield from ("", *([f"## {heading}", ""] if heading else []), "| reason | what it means |", "|---|---|")
        yield from (f"| `{reason}` | {sentences[place]} |" for reason, sentences in LEFT_OUT.items())


def _outcome(reason: Reason) -> str:
    again, against = ("yes" if is_so else "no" for is_so in (reason.retried, reason.against_host))
    return f"| `{reason.name}` | {reason.sentence()} | {_MF3.get(reason.mf3, reason.mf3)} | {again} | {against} |"
