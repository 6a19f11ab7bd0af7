"""A sitemap made known to others, because the owner asked for it: IndexNow, or an address to ping (SM-45, SM-78).

Asks one request after the other through whatever the caller hands over. What is asked is made by ``sitemap.announce``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from purlieu.report.whole_file import replacing
from purlieu.response import Failure, Request, Response


class Told(NamedTuple):
    """What one request came to. ``is_taken``: the other side has received it, which is not to say that it likes it."""

    url: str
    status: int | None
    detail: str
    is_taken: bool


async def submit(ask: Callable[[Request], Awaitable[Response | Failure]], requests: Iterable[Request]) -> list[Told]:
    """Ask them in turn; an address that does not take one is asked no more, since the rest would fare no better."""
    answers: list[Told] = []
    for request in requests:
        address = request.url.partition("?")[0]
        if any(not one.is_taken and one.url.partition("?")[0] == address for one in answers):
            continue
        answer = await ask(request)
        if isinstance(answer, Failure):
            answers.append(Told(request.url, None, answer.detail, is_taken=False))
        else:
            answers.append(Told(request.url, answer.status, answer.reason, is_taken=answer.status // 100 == 2))
    return answers


def put_key(folder: Path, key: str) -> str:
    """Write the file that proves to IndexNow whose site it is, if it is not there, and return its name."""
    path = folder / f"{key}.txt"
    if not path.is_file() or path.read_text(encoding="ascii", errors="replace") != key:
        with replacing(path) as file:
            file.write(key.encode())
    return path.name
