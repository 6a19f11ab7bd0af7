"""``purlieu scope leaktest``: an owner's settings tried on a site that tempts out of scope.

Serves the leak kit on loopback, crawls it, and tells what was asked for although nothing allows it. What a leak is
is ``purlieu.testing.leak``'s to say.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from purlieu import settings
from purlieu.cli import config
from purlieu.cli.words import safe
from purlieu.settings import Settings
from purlieu.testing.leak import Leak, LeakSite, crawled, rounds
from purlieu.value import replace

_SHOWN = 40


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu scope leaktest`` and return 0, or 1 when anything has leaked; raises SettingsError."""
    made = _settings(arguments)
    return tell([_crawled(made, site) for site in rounds(made)], as_json=arguments.json)


def tell(found: list[tuple[LeakSite, list[Leak]]], *, as_json: bool) -> int:
    """Print what the rounds gave and return the exit status."""
    if as_json:
        sys.stdout.write(json.dumps(_facts(found), ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found))
    return 1 if any(leaks for _, leaks in found) else 0


def _settings(arguments: argparse.Namespace) -> Settings:
    """Return the settings of the file, or the defaults, in the mode that was typed."""
    mode = arguments.scope
    text = config.read(arguments.config) if arguments.config else ""
    made = settings.read(text, path=arguments.config, overrides={"scope.mode": mode})
    return replace(made, sites=tuple(replace(site, mode=mode) for site in made.sites)) if mode else made


def _crawled(made: Settings, site: LeakSite) -> tuple[LeakSite, list[Leak]]:
    with tempfile.TemporaryDirectory(prefix="purlieu-leaktest-") as folder, site:
        return site, asyncio.run(crawled(made, site, str(Path(folder, "leaktest.db"))))


def _facts(found: list[tuple[LeakSite, list[Leak]]]) -> dict[str, object]:
    """Return everything as one object."""
    told = [
        {"start": site.url, "requests": len(site.log), "hosts": site.hosts, "leaks": [asdict(leak) for leak in leaks]}
        for site, leaks in found
    ]
    return {
        "requests": sum(len(site.log) for site, _ in found),
        "leaks": sum(len(leaks) for _, leaks in found),
        "rounds": told,
    }


def _lines(found: list[tuple[LeakSite, list[Leak]]]) -> Iterator[str]:
    """Yield what was asked, by round and host, each leak, and the sum."""
    for site, leaks in found:
        yield f"{safe(site.url)}: {len(site.log):,} requests"
        hosts = sorted(site.hosts.items(), key=lambda item: (-item[1], item[0]))
        yield from (f"  {count:>7,}  {safe(host)}" for host, count in hosts[:_SHOWN])
        if len(hosts) > _SHOWN:
            yield f"           and {len(hosts) - _SHOWN:,} more hosts"
        yield from (f"  LEAK {safe(leak.url)} ({leak.times}x): {safe(leak.why)}" for leak in leaks)
    count = sum(len(leaks) for _, leaks in found)
    yield f"{count:,} leaks." if count else "No leaks: every request was in scope, or one that a rule grants."
