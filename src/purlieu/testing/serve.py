"""Serves a folder on loopback as a plain web server would: for tests and trials that crawl a document root.

Knows index files, content types, validators (ETag, Last-Modified, 304) and the redirect of a folder to its slash. Reads
nothing outside the folder.
"""

from __future__ import annotations

import asyncio
import mimetypes
import os
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from purlieu.testing.loopback import Loopback, Received, message

TEXT_TYPES: Final = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".js": "application/javascript",
    ".md": "text/markdown",
    ".rst": "text/plain",
}


class ServedFolder(Loopback):
    """A context manager that serves a folder; ``url`` is its root.

    ``headers`` are added to every answer; ``charset`` (such as ``utf-8``) is named with HTML when given.
    """

    def __init__(self, folder: Path | str, *, charset: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Serve this folder; ``with`` starts it."""
        super().__init__(self._serve_file)
        self._root = Path(folder).resolve()
        self._charset = charset
        self._headers = dict(headers or {})

    @property
    def url(self) -> str:
        """Return the root."""
        return f"{self.origin}/"

    async def _serve_file(self, received: Received, out: asyncio.StreamWriter) -> bool:
        out.write(self._answer_for(received))
        return received.headers.get("connection", "").lower() != "close"

    def _answer_for(self, received: Received) -> bytes:
        with_body = received.method != "HEAD"
        if received.method not in {"GET", "HEAD"}:
            return message(b"<title>No</title>", status=405, headers={"Allow": "GET, HEAD"})
        found = self._file(received)
        if isinstance(found, bytes):
            return found
        path, facts, body = found
        headers = {
            **self._headers,
            "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
            "ETag": f'"{int(facts.st_mtime):x}-{facts.st_size:x}"',
        }
        if _unchanged(received, headers):
            return message(status=304, headers=headers)
        return message(body, headers={**headers, "Content-Type": self._type(path)}, with_body=with_body)

    def _file(self, received: Received) -> tuple[Path, os.stat_result, bytes] | bytes:
        """Return the file asked for with its facts and bytes, or the answer when there is none."""
        missing = message(b"<title>404</title>", status=404, headers=self._headers, with_body=received.method != "HEAD")
        try:
            path = (self._root / unquote(received.path).lstrip("/")).resolve()
            if not path.is_relative_to(self._root):
                return missing
            if path.is_dir():
                if not received.path.endswith("/"):
                    return message(status=301, headers={**self._headers, "Location": f"{received.path}/"})
                path /= "index.html"
            return path, path.stat(), path.read_bytes()
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return missing

    def _type(self, path: Path) -> str:
        ending = path.suffix.lower()
        kind = TEXT_TYPES.get(ending) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return f"{kind}; charset={self._charset}" if self._charset and kind == "text/html" else kind


def _unchanged(received: Received, headers: Mapping[str, str]) -> bool:
    """If-None-Match counts, and only without it If-Modified-Since (RFC 9110, section 13.2.2)."""
    asked = received.headers.get("if-none-match")
    if asked is not None:
        return asked.strip() == "*" or headers["ETag"] in {tag.strip().removeprefix("W/") for tag in asked.split(",")}
    return received.headers.get("if-modified-since") == headers["Last-Modified"]
