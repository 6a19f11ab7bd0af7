"""The entrance: what was typed to a command, what went wrong to an exit status (R-8.2).

Imports only what the command needs.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from purlieu.errors import Mistake

INTERRUPTED = 130
_DONE_BY = {
    "keep": ("schedule", "keep"),
    "report": ("view", "run"),
    "runs": ("report", "runs"),
    "scope leaktest": ("leaktest", "run"),
    "sitemap build": ("sitemap_build", "run"),
    "sitemap check": ("sitemap_look", "run"),
    "sitemap diff": ("sitemap_diff", "run"),
    "sitemap tree": ("sitemap_tree", "run"),
    "store prune": ("prune", "run"),
}
"""The module and function of each command that is not ``run`` of the module of its name."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = sys.argv[1:] if words is None else words
    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us (>&-)
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a URL or title never breaks a terminal of another encoding
    try:
        return _version() if list(words) == ["--version"] else _told(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone, as with `purlieu runs | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def entrance() -> None:
    """Run what was typed and end the process.

    Python would at last take every module apart, 50 million instructions; it is left standing instead. What is
    registered first is called last: threads have ended by then, and whatever else had to be done at the end is done.
    """
    status: object = 1  # of an exception that nobody expected

    def leave() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # whoever read our output has gone
                stream.flush()
        os._exit(status if isinstance(status, int) else 1)

    atexit.register(leave)
    gc.disable()  # nothing of what a start makes is garbage; ``_run`` lets it be looked for again
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    sys.exit(status)


def _version() -> int:
    from purlieu import __version__
    from purlieu.native import scanner_name

    sys.stdout.write(f"purlieu {__version__}\npage scanner: {scanner_name()}\n")
    sys.stdout.flush()  # so that a reader who has gone is met here
    return 0


def _told(words: Sequence[str]) -> int:
    """Run the command; tell the owner's mistakes (status 2) and the machine's faults (1) as sentences."""
    from purlieu.errors import NothingToResume, PurlieuError, SchemaMismatch, SettingsError, StoreBusy

    try:
        return _run(words)
    except SettingsError as error:
        told = [_in_language(mistake, words) for mistake in error.mistakes]
        status = 2
    except (NothingToResume, StoreBusy, SchemaMismatch) as error:  # another store, or another moment, would do
        told, status = [str(error)], 2
    except PurlieuError as error:
        told, status = [str(error)], 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        told, status = [f"{error}; check the disk and the rights of files and folders"], 1
    sys.stdout.flush()
    sys.stderr.writelines(f"purlieu: {line}\n" for line in told)
    return status


def _in_language(mistake: Mistake, words: Sequence[str]) -> str:
    """Return a mistake with its remedy in the language of the typed ``--lang``, however far the options were read."""
    from dataclasses import replace
    from itertools import pairwise

    from purlieu.cli.words import tongue
    from purlieu.sentence import said, speaker

    line = " ".join(words).replace("--lang=", "--lang ").split()
    wanted = [word for option, word in pairwise(line) if option == "--lang"]
    return str(replace(mistake, remedy=said(mistake.remedy, speaker(tongue(wanted[-1] if wanted else None)))))


def _run(words: Sequence[str]) -> int:
    from purlieu.cli import options

    arguments = options.parse(words)
    if arguments.command == "crawl":
        from purlieu.cli import crawl

        return crawl.run(arguments, words)
    gc.enable()
    if arguments.command == "completion":
        from purlieu.cli import completion

        sys.stdout.write(completion.script(arguments.shell))
        return 0
    typed = f"{arguments.command} {getattr(arguments, 'what', '')}".strip()
    module, function = _DONE_BY.get(typed) or _DONE_BY.get(arguments.command) or (arguments.command, "run")
    return int(getattr(import_module(f"purlieu.cli.{module}"), function)(arguments))
