"""Checking any sitemap: one that is fetched or one that is sent, with its problems, and how its pages ended in a run.

The checks are those of ``purlieu sitemap check``. Bounded in files, entries and time; an address of a private network
is only asked where whoever starts the console allows that (R-5.1).
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import python_multipart  # noqa: F401 - what reads the forms that files are sent with
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from purlieu import settings
from purlieu.console import action
from purlieu.console.audit import audit
from purlieu.console.parts import Parts, parts_of, reading
from purlieu.console.show import page, tongue_of
from purlieu.crawl.looking import looking
from purlieu.crawl.sitemap_walk import SitemapWalk, WalkRules
from purlieu.errors import PurlieuError, UrlError
from purlieu.sentence import Say, Sentence, said
from purlieu.sitemap import LIMIT_BYTES, Entry
from purlieu.sitemap.inspection import Inspection
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import parse
from purlieu.value import dataclass, field

MOST_FILES: Final = 100
MOST_PROBLEMS: Final = 1_000
MOST_ENTRIES: Final = 100_000
MOST_LISTED: Final = 200
MOST_SECONDS: Final = 180.0
_PIECE: Final = 65_536
_MOST_TEXT: Final = 2_000
NOTHING = Sentence("Write the whole address of a sitemap, with http:// or https://, or choose a file.")
TOO_LARGE = Sentence("The file is larger than a sitemap may be (50 MB).")
TOO_LONG = Sentence("It took more than three minutes; what was read until then is shown.")


@dataclass(slots=True)
class Fate:
    """A page of the sitemap and how it ended in the run; ``ending`` is "" for one that the run has not met."""

    url: str
    ending: str
    status: int | None


@dataclass(slots=True)
class Checked:
    """What was found. ``fates`` counts by ending (kind.reason), ``listed`` are the first that are not fetched pages."""

    name: str
    run: int | None
    is_strict: bool
    files: list[Inspection] = field(default_factory=list)
    untold: int = 0
    entries: int = 0
    unread: int = 0
    fates: Counter[str] = field(default_factory=Counter)
    listed: list[Fate] = field(default_factory=list)
    why: str = ""

    @property
    def is_lenient_valid(self) -> bool:
        """Whether the lenient reading lost nothing."""
        return bool(self.files) and all(one.is_valid for one in self.files)

    @property
    def is_strictly_valid(self) -> bool:
        """Whether nothing at all is wrong."""
        return bool(self.files) and all(one.is_strictly_valid for one in self.files)

    def discard(self) -> None:
        """Give nothing back: it is all in memory."""

    def facts(self, say: Say) -> dict[str, Any]:
        """Return it as values, with the names of ``purlieu sitemap check --json``; sentences as ``say`` says them."""
        return {
            "sitemap": self.name,
            "valid": self.is_strictly_valid if self.is_strict else self.is_lenient_valid,
            "lenient": self.is_lenient_valid,
            "strict": self.is_strictly_valid,
            "entries": self.entries,
            "problems": [
                {"file": one.url, "line": each.line, "kind": each.kind, "sentence": said(each.sentence, say)}
                for one in self.files
                for each in one.problems
            ],
            "problems_not_listed": self.untold,
            "files": [
                {
                    "file": one.url,
                    "kind": one.kind,
                    "entries": one.entries,
                    "bytes": one.size_bytes,
                    "valid": one.is_valid,
                }
                for one in self.files
            ],
            "run": self.run,
            "fates": dict(self.fates),
            "why": said(self.why, say),
        }


def routes() -> list[Route]:
    """Return the addresses of checking sitemaps."""
    return [
        Route("/sitemaps", show),
        Route("/sitemaps/check", check, methods=["POST"]),
        Route("/sitemaps/checks/{job}", checked),
    ]


def show(request: Request) -> Response:
    """Show the form."""
    return _form(request, {"url": request.query_params.get("url", ""), "run": request.query_params.get("run", "")})


async def check(request: Request) -> Response:
    """Begin to check what was typed or sent."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length[:12]) > LIMIT_BYTES + _PIECE:
        return action.no(request, TOO_LARGE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    async with request.form(max_files=1, max_fields=20) as form:
        return await _begun(request, form)


async def _begun(request: Request, form: FormData) -> Response:
    if not action.is_key(request, _text(form, "form_key")):
        return action.no(request, action.FORM, HTTPStatus.FORBIDDEN)
    given = {name: _text(form, name) for name in ("url", "place", "run", "strict", "limits")}
    sent = form.get("file")
    with reading(request) as reader:
        run = reader.run(int(given["run"])) if given["run"].isdecimal() and len(given["run"]) < 18 else None
    run = None if run is None or run.pruned_at is not None else run
    parts = parts_of(request)
    rules = WalkRules(strict=given["strict"] == "on", limit_2007=given["limits"] == "2007", most_files=MOST_FILES)
    if isinstance(sent, UploadFile) and sent.size:
        name = sent.filename or "sitemap.xml"
        folder = Path(tempfile.mkdtemp(prefix="purlieu-sent-"))
        await asyncio.to_thread(_saved, sent, folder / "sitemap")
        place = _web(given["place"])
        job = parts.jobs.begin(lambda: _of_file(parts, folder, name[:_MOST_TEXT], place, rules, run))
    elif url := _web(given["url"]):
        name = url
        job = parts.jobs.begin(lambda: _of_url(parts, url, rules, run))
    else:
        return _form(request, given, NOTHING, HTTPStatus.BAD_REQUEST)
    audit(request, "sitemap_check", {"sitemap": name[:_MOST_TEXT]})
    return RedirectResponse(f"/sitemaps/checks/{job}", HTTPStatus.SEE_OTHER)


def checked(request: Request) -> Response:
    """Show what was found."""
    done: Checked = parts_of(request).jobs.result(request.path_params["job"], Checked)
    with reading(request) as reader:
        run = reader.run(done.run) if done.run else None
    fates = sorted(done.fates.items(), key=lambda one: -one[1])
    return page(request, "sitemap_checked.html", done=done, run=run, fates=fates, job=request.path_params["job"])


def facts(request: Request) -> Any:
    """Return what was found as values, in the language of the request."""
    done: Checked = parts_of(request).jobs.result(request.path_params["job"], Checked)
    return done.facts(tongue_of(request)[1])


def _form(request: Request, given: dict[str, str], wrong: str = "", status: int = HTTPStatus.OK) -> Response:
    with reading(request) as reader:
        runs = [run for run in reader.runs() if run.pruned_at is None][:MOST_LISTED]
    return page(request, "sitemap_check.html", status, given=given, runs=runs, wrong=wrong)


# -- what is done ------------------------------------------------------------------------------------------------------


def _of_url(parts: Parts, url: str, rules: WalkRules, run: RunRow | None) -> Checked:
    return asyncio.run(_looked(parts, lambda walk: walk.of_url(url), url, rules, run))


def _of_file(parts: Parts, folder: Path, name: str, place: str, rules: WalkRules, run: RunRow | None) -> Checked:
    """Check a file that was sent; it is thrown away. Its children are asked for by their addresses."""

    def pieces() -> Iterator[bytes]:
        with (folder / "sitemap").open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece

    try:
        return asyncio.run(_looked(parts, lambda walk: walk.of_bytes(pieces, name, place or None), name, rules, run))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _looked(
    parts: Parts, look: Callable[[SitemapWalk], AsyncGenerator[Inspection]], name: str, rules: WalkRules,
    run: RunRow | None,
) -> Checked:  # fmt: skip
    done = Checked(name, run.id if run else None, rules.strict)
    locs: dict[str, None] = {}

    def keep(_: str, entry: Entry) -> None:
        if len(locs) < MOST_ENTRIES:
            locs[entry.loc[:_MOST_TEXT]] = None

    made = settings.of({"fetch": {"public_only": not parts.terms.private}})
    rules = WalkRules(rules.strict, rules.limit_2007, rules.most_files, keep if run else None)

    async def read() -> None:
        async with looking(made, rules) as walk, aclosing(look(walk)) as found:
            async for one in found:
                _take(done, one)

    try:
        await asyncio.wait_for(read(), MOST_SECONDS)
    except TimeoutError:
        done.why = TOO_LONG
    except PurlieuError as error:
        done.why = str(error)
    if run:
        await asyncio.to_thread(_fates, parts, run, done, list(locs))
        done.unread = max(done.entries - len(locs), 0) if len(locs) >= MOST_ENTRIES else 0
    return done


def _take(done: Checked, one: Inspection) -> None:
    """Add a file, with as many of its problems as there is room for."""
    room = max(MOST_PROBLEMS - sum(len(each.problems) for each in done.files), 0)
    done.untold += max(len(one.problems) - room, 0)
    done.entries += one.entries
    one.outside = []
    one.is_faulty, one.lost = not one.is_strictly_valid, not one.is_valid
    one.problems = one.problems[:room]
    done.files.append(one)


def _fates(parts: Parts, run: RunRow, done: Checked, locs: list[str]) -> None:
    """Tell how each address ended in a run."""
    database = SqliteDatabase.reader(parts.store)
    try:
        reader = Reader(database)
        for loc in locs:
            href = loc
            with suppress(UrlError):
                href = parse(loc).href
            row = reader.found(run, href)
            ending = f"{row.kind}.{row.reason}" if row else ""
            done.fates[ending] += 1
            if ending not in {"fetched.ok", "unchanged.not_modified"} and len(done.listed) < MOST_LISTED:
                done.listed.append(Fate(loc, ending, row.status if row else None))
    finally:
        database.close()


def _saved(sent: UploadFile, path: Path) -> None:
    with path.open("wb") as file:
        shutil.copyfileobj(sent.file, file)


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip()[:_MOST_TEXT] if isinstance(value, str) else ""


def _web(text: str) -> str:
    """Return the serialised address of the web that was typed, "" for what is none."""
    with suppress(UrlError):
        url = parse(text)
        if url.scheme in {"http", "https"} and url.host:
            return url.href
    return ""
