"""Downloads: the result file of a crawl's latest run, and every format of a run's ledger, by number and name alone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from purlieu.console.parts import NotThere, crawl_of, parts_of, reading, run_of
from purlieu.console.show import page
from purlieu.console.speech import language_of
from purlieu.report import FILES, crawl_result, write
from purlieu.report.pruning import refuse
from purlieu.store.reader import RunRow


def latest(request: Request) -> Response:
    """Send the result file of a crawl's latest run, or say why there is none; never an older one (MF-30, MF-53)."""
    with reading(request) as reader:
        last = reader.latest(crawl_of(reader, request))
    if last is None:
        raise NotThere("")
    return _file(request, last, "crawl_result")


def one(request: Request) -> Response:
    """Send one of a run's files."""
    name = request.path_params["name"]
    with reading(request) as reader:
        run = run_of(reader, request)
    if name not in FILES:
        raise NotThere(name)
    return _file(request, run, name)


def _file(request: Request, run: RunRow, name: str) -> Response:
    parts = parts_of(request)
    now = parts.clock.now()
    if name == "crawl_result":
        with reading(request) as reader:
            absent = crawl_result.available(run, now, crawl_result.kept_days(reader, run))
        if absent is not None:
            return page(request, "refused.html", 409, why=absent.sentence(language_of(request)))
    else:
        refuse(run)
    folder = Path(tempfile.mkdtemp(prefix="purlieu-"))
    try:
        made = write(parts.store, run.id, folder, [name], language_of(request), now=now)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    given = FILES[name] if name == "crawl_result" else f"run-{run.id}-{FILES[name]}"
    return FileResponse(made[0], filename=given, background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True))
