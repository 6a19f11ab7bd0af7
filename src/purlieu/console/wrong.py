"""What is shown when something is wrong: a page, or a problem in JSON, that says what it is and what to do about it.

One table of what can be wrong. A traceback goes to the log of the console and nowhere else.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from purlieu.console.parts import NotThere, Preparing
from purlieu.console.show import page, tongue_of
from purlieu.errors import PurlieuError, StoreError
from purlieu.sentence import Sentence, said

LOG: Final = logging.getLogger(__name__)


class Wrong(NamedTuple):
    """What is wrong, what to do about it, and the status that says so to a program."""

    title: Sentence
    remedy: Sentence
    status: int
    again_seconds: int = 0


_UNAVAILABLE: Final = HTTPStatus.SERVICE_UNAVAILABLE
TABLE: Final = {
    "session": Wrong(
        Sentence("Please open the address that was printed"),
        Sentence(
            "purlieu serve prints an address with a key in it, new at each start. Open that one: without the key "
            "nobody gets in, not even from this machine."
        ),
        HTTPStatus.FORBIDDEN,
    ),
    "host": Wrong(
        Sentence("This name does not lead here"),
        Sentence(
            "The console answers only under the names that it was started with. Open the address that purlieu serve "
            "printed, or allow the name with --allow-host."
        ),
        HTTPStatus.MISDIRECTED_REQUEST,
    ),
    "origin": Wrong(
        Sentence("This was asked for by another site"),
        Sentence("Another page sent this request. Nothing was changed. Open the console by its own address."),
        HTTPStatus.FORBIDDEN,
    ),
    "viewer": Wrong(
        Sentence("You may look, but change nothing"),
        Sentence("You came in as a viewer. Nothing was changed. Sign out, and sign in with the password of an owner."),
        HTTPStatus.FORBIDDEN,
    ),
    "token": Wrong(
        Sentence("This token lets nobody in"),
        Sentence("The token is wrong, or it is for reading and the request changes something."),
        HTTPStatus.UNAUTHORIZED,
    ),
    "throttled": Wrong(
        Sentence("Too many wrong tokens"),
        Sentence("Too many wrong passwords. Wait a minute and try again."),
        HTTPStatus.TOO_MANY_REQUESTS,
        60,
    ),
    "not_found": Wrong(
        Sentence("There is no such page"),
        Sentence("The run, crawl or page is not in this store, or is not any more. Begin at the list of crawls."),
        HTTPStatus.NOT_FOUND,
    ),
    "request": Wrong(
        Sentence("This was not understood"),
        Sentence("Go back, load the page anew and try again."),
        HTTPStatus.BAD_REQUEST,
    ),
    "busy": Wrong(
        Sentence("The store is in use"),
        Sentence("Another program holds it at this moment. Wait a little and load the page anew; nothing was changed."),
        _UNAVAILABLE,
        5,
    ),
    "schema": Wrong(
        Sentence("The store was written by another version"),
        Sentence(
            "A newer Purlieu wrote this store. Start the console of that version, or name another store with --store."
        ),
        _UNAVAILABLE,
    ),
    "damaged": Wrong(
        Sentence("The store is damaged"),
        Sentence("purlieu store repair saves what can be read into a new file. Stop the console first."),
        _UNAVAILABLE,
    ),
    "missing": Wrong(
        Sentence("The store is gone"),
        Sentence("Its file was moved or deleted. Bring it back, or start the console with another store."),
        _UNAVAILABLE,
    ),
    "full": Wrong(
        Sentence("The disk is full"),
        Sentence("Free some space and try again. Nothing that is stored is lost."),
        HTTPStatus.INSUFFICIENT_STORAGE,
    ),
    "readonly": Wrong(
        Sentence("The store cannot be written"),
        Sentence("Its file or folder is read-only. Make it writable, or start the console with another store."),
        _UNAVAILABLE,
    ),
    "disk": Wrong(
        Sentence("The disk gave an error"),
        Sentence("Check the disk and its free space, and try again. Nothing that is stored is lost."),
        _UNAVAILABLE,
    ),
    "memory": Wrong(
        Sentence("There is no memory left"),
        Sentence("End other programs and try again. Nothing that is stored is lost."),
        _UNAVAILABLE,
        30,
    ),
    "file": Wrong(
        Sentence("A file or folder cannot be used"),
        Sentence("Check that it exists and that the console may write there. Nothing was changed."),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    ),
    "fault": Wrong(
        Sentence("This cannot be shown"), Sentence("What stands in the way is told below."), HTTPStatus.CONFLICT
    ),
    "crash": Wrong(
        Sentence("A fault of ours"),
        Sentence(
            "The console could not make this page. What happened stands in the log of purlieu serve; crawls go on by "
            "themselves."
        ),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    ),
}
"""By code; the codes of a store's faults are those of ``errors.StoreError``."""


def refused(request: Request, status: int, code: str) -> Response:
    """Return the page of the door: ``code`` is host, origin, session, viewer, token or throttled."""
    return answer(request, code, status=status)


def problem(code: str, title: str, detail: str, status: int, **more: Any) -> JSONResponse:
    """Return a problem in JSON (RFC 9457) with its code, and whatever else a program can use."""
    told = {"type": "about:blank", "title": title, "status": int(status), "detail": detail, "code": code, **more}
    return JSONResponse(told, status, media_type="application/problem+json")


def answer(request: Request, code: str, why: str = "", *, status: int = 0) -> Response:
    """Return the page of a fault, or under ``/api`` the problem in JSON (RFC 9457); ``why`` is its own sentence."""
    wrong = TABLE[code]
    status = status or wrong.status
    language, say = tongue_of(request)
    made: Response
    if request.url.path.startswith("/api"):
        made = problem(code, said(wrong.title, say), said(why, say) or said(wrong.remedy, say), status)
    else:
        made = page(request, "error.html", status, code=code, wrong=wrong, why=why)
    made.headers["Content-Language"] = language
    if wrong.again_seconds:
        made.headers["Retry-After"] = str(wrong.again_seconds)
    if status == HTTPStatus.UNAUTHORIZED:
        made.headers["WWW-Authenticate"] = "Bearer"
    return made


def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    return answer(request, "not_found" if status == HTTPStatus.NOT_FOUND else "request", status=status)


def _not_there(request: Request, _: Exception) -> Response:
    return answer(request, "not_found")


def _preparing(request: Request, _: Exception) -> Response:
    made = (
        JSONResponse({"code": "preparing"}, HTTPStatus.ACCEPTED)
        if request.url.path.startswith("/api")
        else page(request, "preparing.html", HTTPStatus.ACCEPTED)
    )
    made.headers["Retry-After"] = "2"
    return made


def _fault(request: Request, error: Exception) -> Response:
    LOG.warning("%s: %s", request.url.path, error)
    code = error.code if isinstance(error, StoreError) else "fault"
    why = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return answer(request, code if code in TABLE else "fault", why)


def _file(request: Request, error: Exception) -> Response:
    LOG.warning("%s: %s", request.url.path, error)
    return answer(request, "file", str(error))


def _crash(request: Request, error: Exception) -> Response:
    """Tell that it is our fault, and nothing of how: the traceback goes to the log of the console."""
    LOG.error("%s", request.url.path, exc_info=error)
    return answer(request, "crash")


HANDLERS: Final[dict[Any, Any]] = {
    HTTPException: _http,
    NotThere: _not_there,
    Preparing: _preparing,
    PurlieuError: _fault,
    OSError: _file,
    Exception: _crash,
}
"""What answers when a page raises."""
