"""The seam to the web: one request in, one response or failure out, both values."""

from __future__ import annotations

from typing import Protocol

from purlieu.response import Failure, Request, Response


class Fetcher(Protocol):
    """Whatever can ask the web for one hop. Redirects are not followed; nothing is raised for what the web does."""

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop and return what came back or why nothing did."""
        ...

    async def close(self) -> None:
        """Release connections; requests in flight are dropped."""
        ...
