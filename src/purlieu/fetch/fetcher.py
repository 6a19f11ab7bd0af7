"""The seam to the web: one request in, one response or failure out, both values."""

from __future__ import annotations

from typing import Protocol

from purlieu.response import Failure, Request, Response


class Fetcher(Protocol):
    """Whatever can ask the web for one hop. Redirects are not followed; nothing is raised for what the web does."""

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop and return what came back or why nothing did."""
        ...

    async def address_of(self, host: str) -> str:
        """Return the IP address that a host's name leads to, the first by text of several; "" when it leads nowhere."""
        ...

    async def close(self) -> None:
        """Release connections; requests in flight are dropped."""
        ...
