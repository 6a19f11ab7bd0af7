"""Making sitemaps: profiles chosen, kept and removed; the files, to download or in the allowed folder (IB-6).

What goes in, and in which words, is said by ``report``, as ``purlieu sitemap build`` has it.
"""

from __future__ import annotations

import asyncio
import gzip
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from purlieu import settings
from purlieu.console import action, tree
from purlieu.console.audit import audit
from purlieu.console.parts import NotThere, Parts, parts_of, reading, run_of
from purlieu.console.show import page
from purlieu.console.speech import language_of
from purlieu.errors import Mistake, PurlieuError, SettingsError
from purlieu.report import sitemap_files, sitemap_profiles
from purlieu.report.pruning import refuse
from purlieu.report.sitemap_writing import Built, How
from purlieu.sentence import Sentence
from purlieu.settings import PUBLIC, ProfileSettings
from purlieu.settings.profile import LASTMODS, LIMITS
from purlieu.sitemap.choose import sentence
from purlieu.store import crawls
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase
from purlieu.value import dataclass, field

NO_FOLDER = Sentence(
    "Whoever starts the console allows a folder for sitemaps with --sitemap-folder. None is allowed now."
)
CHANGED = Sentence("The settings of this crawl were changed meanwhile, and nothing was saved. Load the page anew.")
_LISTS: Final = ("sections", "include", "exclude", "priority")
_TRUTHS: Final = tuple(one.name for one in fields(ProfileSettings) if isinstance(getattr(PUBLIC, one.name), bool))
_TEXTS: Final = ("name", "robot", "location", "file", "limits", "lastmod")


@dataclass(slots=True)
class Made:
    """What came of making a sitemap: what was built, or why it was not. ``folder`` is thrown away with it."""

    run: int
    profile: str
    folder: Path
    is_written: bool
    built: Built | None = None
    why: str = ""
    mistakes: tuple[Mistake, ...] = field(default=())

    def discard(self) -> None:
        """Throw the files away that were made for a download."""
        shutil.rmtree(self.folder, ignore_errors=True)


def routes() -> list[Route]:
    """Return the addresses of making sitemaps."""
    return [
        Route("/runs/{run:int}/sitemap", show),
        Route("/runs/{run:int}/sitemap/make", make, methods=["POST"]),
        Route("/runs/{run:int}/sitemap/made/{job}", made),
        Route("/runs/{run:int}/sitemap/made/{job}/file", file),
        Route("/runs/{run:int}/sitemap/made/{job}/left-out", left_out),
    ]


def show(request: Request) -> Response:
    """Show a profile as a form: the one that the query names, with the sections that the tree was filtered by."""
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
        profiles = sitemap_profiles.of_run(reader, run)
    name = request.query_params.get("profile", PUBLIC.name)
    if name not in profiles:
        raise NotThere(name)
    profile = profiles[name]
    if "filter" in request.query_params or "parts" in request.query_params:
        profile = tree.view_of(request).chosen(profile)
    return _form(request, run, _values(profile), profiles)


async def make(request: Request) -> Response:
    """Make the sitemap of a profile, keep the profile, or remove it, as the button says."""
    if refusal := await action.refused(request):
        return refusal
    form = await action.form_of(request)
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
        profiles = sitemap_profiles.of_run(reader, run)
    what = form.get("what", "")
    if what == "remove":
        return await _keep(request, run, form.get("name", ""), None)
    values = _given(form)
    try:
        profile = settings.of({"sitemap": {"profile": [values]}}).sitemap.profiles[0]
    except SettingsError as error:
        return _form(request, run, values, profiles, error.mistakes, HTTPStatus.BAD_REQUEST)
    if what == "keep":
        return await _keep(request, run, profile.name, profile)
    parts = parts_of(request)
    if what == "write" and not parts.terms.sitemap_folder:
        return action.no(request, NO_FOLDER, HTTPStatus.FORBIDDEN)
    is_written = what == "write"
    audit(
        request,
        "sitemap_write" if is_written else "sitemap_make",
        {"run": run.id, "crawl": run.crawl, "profile": profile.name},
    )
    language = language_of(request)
    job = parts.jobs.begin(lambda: _made(parts, run, profile, language, is_written=is_written))
    return RedirectResponse(f"/runs/{run.id}/sitemap/made/{job}", HTTPStatus.SEE_OTHER)


def made(request: Request) -> Response:
    """Show what was made: numbers, files, and what was left out, by reason."""
    with reading(request) as reader:
        run = run_of(reader, request)
    done = _job(request)
    language = language_of(request)
    left = sorted(done.built.left_out.items(), key=lambda one: (-one[1], one[0])) if done.built else []
    return page(
        request, "sitemap_made.html", HTTPStatus.OK if done.built else HTTPStatus.CONFLICT, run=run, made=done,
        job=request.path_params["job"], left=[(reason, count, sentence(reason, language)) for reason, count in left],
    )  # fmt: skip


def facts(request: Request) -> Any:
    """Return the profiles of a run's crawl by name, as values."""
    with reading(request) as reader:
        found = sitemap_profiles.of_run(reader, refuse(run_of(reader, request)))
    return [_values(profile) for profile in found.values()]


def file(request: Request) -> Response:
    """Send the sitemap: the file by itself where there is one, else all of them and their index in one archive."""
    done = _job(request)
    if done.built is None or not done.built.entries or done.is_written:
        raise NotThere("")
    name = "sitemap" if done.profile == PUBLIC.name else f"sitemap-{done.profile}"
    path = done.folder / "sent"
    if len(done.built.files) == 2:  # the one file, and an index that would name it alone
        return FileResponse(path, filename=f"{name}.xml", media_type="application/xml")
    return FileResponse(path, filename=f"{name}.zip", media_type="application/zip")


def left_out(request: Request) -> Response:
    """Send the list of all that was left out, each with its reason."""
    done = _job(request)
    path = done.folder / "left-out.csv"
    if not path.is_file():
        raise NotThere("")
    return FileResponse(path, filename=f"sitemap-{done.profile}-left-out.csv", media_type="text/csv; charset=utf-8")


def _job(request: Request) -> Made:
    done: Made = parts_of(request).jobs.result(request.path_params["job"], Made)
    if done.run != request.path_params["run"]:
        raise NotThere("")
    return done


def _made(parts: Parts, run: RunRow, profile: ProfileSettings, language: str, *, is_written: bool) -> Made:
    done = Made(run.id, profile.name, Path(tempfile.mkdtemp(prefix="purlieu-sitemap-")), is_written)
    database = SqliteDatabase.reader(parts.store)
    try:
        place = Path(parts.terms.sitemap_folder) if is_written else done.folder / "files"
        how = How(parts.clock.now(), left_out=done.folder / "left-out.csv", language=language)
        done.built = sitemap_files.build(Reader(database), run, profile, place, how)
        if done.built.entries and not is_written:
            _pack(done, done.built)
    except SettingsError as error:
        done.mistakes = error.mistakes
    except (PurlieuError, OSError) as error:
        done.why = str(error)
    finally:
        database.close()
    return done


def _pack(done: Made, built: Built) -> None:
    """Make the one file that is sent."""
    folder, sent = done.folder / "files", done.folder / "sent"
    if len(built.files) == 2:
        only = folder / built.files[0]
        with gzip.open(only) if only.suffix == ".gz" else only.open("rb") as source, sent.open("wb") as out:
            shutil.copyfileobj(source, out)
    else:
        with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in built.files:
                archive.write(folder / name, name)
    shutil.rmtree(folder)


async def _keep(request: Request, run: RunRow, name: str, profile: ProfileSettings | None) -> Response:
    """Keep a profile in the settings of the crawl, or remove it from them."""
    parts = parts_of(request)
    with reading(request) as reader:
        kept = reader.kept_settings(run.crawl)
        text = kept.toml if kept else reader.config(run)
        number = reader.crawl_number(run.crawl)
    if number is None:
        raise NotThere(run.crawl)
    try:
        after = sitemap_profiles.text_with(text, profile) if profile else sitemap_profiles.text_without(text, name)
    except SettingsError as error:
        with reading(request) as reader:
            profiles = sitemap_profiles.of_run(reader, run)
        return _form(request, run, _values(profile or PUBLIC), profiles, error.mistakes, HTTPStatus.CONFLICT)
    audit(
        request,
        "profile_keep" if profile else "profile_remove",
        {"crawl": run.crawl, "profile": name},
        before=text,
        after=after,
    )

    def write() -> bool:
        database = SqliteDatabase.beside(parts.store)
        try:
            return crawls.keep(database, number, after, kept.hash if kept else "")
        finally:
            database.close()

    if not await asyncio.to_thread(write):
        return action.no(request, CHANGED)
    return RedirectResponse(f"/runs/{run.id}/sitemap?profile={name if profile else PUBLIC.name}", HTTPStatus.SEE_OTHER)


def _form(
    request: Request, run: RunRow, values: Mapping[str, Any], profiles: Mapping[str, ProfileSettings],
    mistakes: tuple[Mistake, ...] = (), status: int = HTTPStatus.OK,
) -> Response:  # fmt: skip
    return page(
        request, "sitemap_make.html", status, run=run, values=values, profiles=sorted(profiles), mistakes=mistakes,
        limits=LIMITS, lastmods=LASTMODS, folder=parts_of(request).terms.sitemap_folder,
        is_kept=values["name"] in profiles and values["name"] != PUBLIC.name,
    )  # fmt: skip


def _values(profile: ProfileSettings) -> dict[str, Any]:
    return {one.name: getattr(profile, one.name) for one in fields(ProfileSettings)}


def _given(form: Mapping[str, str]) -> dict[str, Any]:
    """Return what a form says, as the table of a profile."""
    found: dict[str, Any] = {name: form.get(name, "").strip() for name in _TEXTS}
    found |= {name: form.get(name) == "on" for name in _TRUTHS}
    found |= {name: [line.strip() for line in form.get(name, "").splitlines() if line.strip()] for name in _LISTS}
    usual = _values(PUBLIC)
    return {name: value if value != "" else usual[name] for name, value in found.items()}
