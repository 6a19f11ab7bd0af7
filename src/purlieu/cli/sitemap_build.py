"""``purlieu sitemap build``: what was typed to sitemap files, a robots.txt and, on request, requests.

Builds the parts; the files are made by ``purlieu.report``, and what is left out is decided by ``purlieu.sitemap``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from purlieu import __version__, settings
from purlieu.cli import config
from purlieu.cli.report import opened, run_named
from purlieu.cli.summary import table
from purlieu.cli.words import Say, safe, speaker
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.report.sitemap_writing import Built, How
from purlieu.report.submission import Told, put_key, submit
from purlieu.report.whole_file import replacing
from purlieu.response import Request
from purlieu.settings import PUBLIC, ProfileSettings, Settings
from purlieu.settings.check import check
from purlieu.settings.fact import Key
from purlieu.sitemap import announce
from purlieu.sitemap.choose import sentence
from purlieu.value import dataclass, replace

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Done:
    """What was made, where its list of left-out pages is, and what others said of it."""

    built: Built
    left_out: Path
    told: tuple[Told, ...] = ()


def run(arguments: argparse.Namespace) -> int:
    """Make the files; 1 when no page went in or a submission was not taken. Raises SettingsError and StoreError."""
    _check(arguments)
    built, left_out = _made(arguments)
    if built.entries and arguments.robots and arguments.robots != "-":
        _name_in(Path(arguments.robots), built)
    requests = list(_requests(arguments, built)) if built.entries else []
    told = asyncio.run(_submitted(arguments, requests)) if requests else []
    done = _Done(built, left_out, tuple(told))
    if arguments.json:
        sys.stdout.write(json.dumps(_facts(done), ensure_ascii=False) + "\n")
    else:
        for line in _lines(done, arguments.lang):
            sys.stdout.write(f"{line}\n")
        if built.entries and arguments.robots == "-":
            sys.stdout.writelines(f"Sitemap: {href}\n" for href in built.indexes)
    return 0 if built.entries and all(one.is_taken for one in told) else 1


def _check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError with all that is wrong in what was typed."""
    wrong = []
    sources = [name for name in ("run", "from_files", "from_list") if getattr(arguments, name)]
    if len(sources) != 1:
        wrong.append(Mistake("RUN", "", "name one source: a run, --from-files DIR, or --from-list FILE"))
    if arguments.from_files and not arguments.base:
        wrong.append(Mistake("--base", "", "write the URL under which the folder's files are served"))
    for option in ("base", "indexnow"):
        if value := getattr(arguments, option):
            wrong += [Mistake(f"--{option}", value, one.remedy) for one in check(value, "str", Key("", form="url"))[1]]
    for address in arguments.ping or ():
        plain = address.replace("{sitemap}", "x")
        wrong += [Mistake("--ping", address, one.remedy) for one in check(plain, "str", Key("", form="url"))[1]]
    if arguments.indexnow and not announce.INDEXNOW_KEY.fullmatch(arguments.key or ""):
        wrong.append(Mistake("--key", arguments.key or "", "write your key: 8 to 128 letters, digits and hyphens"))
    if wrong:
        raise SettingsError(tuple(wrong))


def _made(arguments: argparse.Namespace) -> tuple[Built, Path]:
    """Make the files, and return what was made with the path of the list of what was left out."""
    name = "sitemap" if arguments.profile == PUBLIC.name else f"sitemap-{arguments.profile}"
    given = config.of_file(arguments.config) if arguments.config else None
    how = How(
        RealClock().now(),
        location=arguments.base or "",
        language=arguments.lang,
        keep=arguments.keep,
        tracks=bool(arguments.indexnow),
    )
    if arguments.run:
        from purlieu.report import sitemap_files

        with opened(arguments.store) as reader:
            row = run_named(reader, arguments.run, arguments.store)
            profile = _profile(given, arguments) if given else sitemap_files.profile_of(reader, row, arguments.profile)
            profile = replace(profile, with_login=profile.with_login or arguments.with_doors)
            # The stored settings have their secrets masked, so they are no settings any more.
            output = str(tomllib.loads(reader.config(row) or "").get("output", Settings().output))
            top = Path(settings.result_folder(Settings(output=output), row.crawl, row.id)).parent
            folder, left_out = _places(arguments, top, name)
            return sitemap_files.build(reader, row, profile, folder, replace(how, left_out=left_out)), left_out
    profile = _profile(given or Settings(), arguments)
    folder, left_out = _places(arguments, Path((given or Settings()).output), name)
    how = replace(how, left_out=left_out)
    if arguments.from_files:
        from purlieu.report import sitemap_folder

        return sitemap_folder.build(Path(arguments.from_files), profile, folder, how), left_out
    from purlieu.report import sitemap_list

    return sitemap_list.build([Path(one) for one in arguments.from_list], profile, folder, how), left_out


def _places(arguments: argparse.Namespace, top: Path, name: str) -> tuple[Path, Path]:
    """Return where the files go and where the list of what is left out does: never into the folder that is served."""
    folder = Path(arguments.output) if arguments.output else top / name
    return folder, Path(arguments.left_out) if arguments.left_out else top / f"{name}-left-out.csv"


def _profile(made: Settings, arguments: argparse.Namespace) -> ProfileSettings:
    """Return the profile of the settings; ``public`` is always there."""
    profiles = {PUBLIC.name: PUBLIC} | {profile.name: profile for profile in made.sitemap.profiles}
    if arguments.profile not in profiles:
        remedy = f"there is no such profile; write one of: {', '.join(sorted(profiles))}"
        raise SettingsError((Mistake("--profile", arguments.profile, remedy),))
    return profiles[arguments.profile]


def _name_in(path: Path, built: Built) -> None:
    """Name the sitemap in a robots.txt, which is left alone when it does so already."""
    body = path.read_bytes() if path.exists() else b""
    gone = [built.location + name for name in built.removed]
    after = announce.robots_txt(body, built.indexes, gone)
    if after != body:
        with replacing(path) as file:
            file.write(after)


def _requests(arguments: argparse.Namespace, built: Built) -> Iterator[Request]:
    """Yield what the owner wants to be asked: pings, then IndexNow."""
    for address in arguments.ping or ():
        for href in built.indexes:
            yield announce.ping(address, href)
    if arguments.indexnow and built.moved:
        key_file = built.location + put_key(built.folder, arguments.key)
        yield from announce.indexnow(arguments.indexnow, arguments.key, key_file, built.moved)


async def _submitted(arguments: argparse.Namespace, requests: list[Request]) -> list[Told]:
    from purlieu.fetch import secret
    from purlieu.fetch.http import HttpFetcher

    made = config.of_file(arguments.config) if arguments.config else Settings()
    resolved = secret.resolved(made, RealClock().now())
    agent = made.fetch.user_agent or f"Purlieu/{__version__}"
    fetcher = HttpFetcher(resolved.fetch, resolved.origins, resolved.hosts, agent, RealClock().now)
    try:
        return await submit(fetcher.fetch, requests)
    finally:
        await fetcher.close()


def _facts(done: _Done) -> dict[str, object]:
    built = done.built
    return {
        "folder": str(built.folder),
        "sitemaps": list(built.indexes),
        "files": list(built.files),
        "changed": list(built.changed),
        "removed": list(built.removed),
        "entries": built.entries,
        "kept": built.kept,
        "left_out": dict(built.left_out),
        "left_out_list": str(done.left_out),
        "problems": list(built.problems),
        "submitted": [{"url": one.url, "status": one.status, "taken": one.is_taken} for one in done.told],
    }


def _lines(done: _Done, language: str) -> Iterator[str]:
    built, say = done.built, speaker(language)
    if not built.entries:
        yield say(
            "No pages are available: nothing was written, and what stands in {folder} stays.", folder=built.folder
        )
    else:
        yield say("{entries} pages in {files} files in {folder}", entries=f"{built.entries:,}",
                  files=f"{len(built.files):,}", folder=built.folder)  # fmt: skip
        yield from _more(built, say)
    if built.left_out:
        yield ""
        yield say("Left out; {path} lists them all", path=done.left_out)
        ranked = sorted(built.left_out.items(), key=lambda item: (-item[1], item[0]))
        yield from table((reason, f"{count:,}", sentence(reason, language)) for reason, count in ranked)
    for problem in built.problems[:_SHOWN]:
        yield say("In the former files: {problem}", problem=safe(problem))
    for one in done.told:
        yield f"{safe(one.url)}: {one.status or safe(one.detail)}"


def _more(built: Built, say: Say) -> Iterator[str]:
    if built.kept:
        yield say("{kept} of them stay from the former files: the run did not visit them", kept=f"{built.kept:,}")
    if not built.changed:
        yield say("Nothing has changed, so no file was touched")
    yield from (f"  {href}" for href in built.indexes)
