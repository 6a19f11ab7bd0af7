"""A page as a search engine is told of it: flat fields, so that no page can upset an index's mapping.

The names are our own, or those of the records of the Endeca Web Crawler (EN-73).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from purlieu.store.feed import FeedRow
from purlieu.url import host_of

_HEADERS: Final = {
    "accept-ranges": "Endeca.Web.Accept-Ranges",
    "connection": "Endeca.Web.Connection",
    "content-type": "Endeca.Web.Content-Type",
    "etag": "Endeca.Web.ETag",
    "content-length": "Endeca.Web.HTTP.Content-Length",
    "last-modified": "Endeca.Web.Last-Modified",
}


def own(row: FeedRow, ident: str, _seeds: Sequence[str] = ()) -> dict[str, Any]:
    """Return a page under our own names; what may have any shape is JSON in a text."""
    changed = datetime.fromtimestamp(row.changed_at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "id": ident, "url": row.url, "host": host_of(row.url), "title": row.title, "language": row.language,
        "description": row.description, "headings": row.headings, "text": row.text, "breadcrumbs": row.breadcrumbs,
        "open_graph": json.dumps(row.open_graph, ensure_ascii=False),
        "json_ld": json.dumps(row.json_ld, ensure_ascii=False),
        "content_type": row.content_type, "last_modified": row.last_modified, "depth": row.depth,
        "changed_at": changed, "author": row.author, "anchors": row.anchors,
    }  # fmt: skip


def endeca(row: FeedRow, ident: str, seeds: Sequence[str] = ()) -> dict[str, Any]:
    """Return a page under the names of EN-73, with what has none there under our own.

    What a page's answer did not say is left out; the seed is told where the crawl has one alone.
    """
    told: dict[str, Any] = {"id": ident, "Endeca.SourceType": "Web", "Endeca.Id": row.url, "Endeca.Web.URL": row.url}
    told["Endeca.Web.Host"] = host_of(row.url)
    for line in row.headers.split("\n"):
        name, _, value = line.partition(":")
        field = _HEADERS.get(name.strip().lower())
        if field:
            told.setdefault(field, value.strip())
    told |= {"Endeca.Web.HTTP.Status": row.status, "Endeca.Document.Text": row.text}
    if len(seeds) == 1:
        told["Endeca.Web.SeedUrl"] = seeds[0]
    if row.via:
        told["Endeca.Web.LinkedFromUrl"] = row.via
    if row.anchors:
        told["Endeca.Web.LinkedFromUrl.LinkText"] = row.anchors
    if row.description:
        told["Endeca.Web.HTMLMetaTag.description"] = row.description
    told |= {f"Endeca.Web.HTMLMetaTag.og:{name}": value for name, value in row.open_graph.items()}
    return told | {
        "title": row.title, "language": row.language, "headings": row.headings, "breadcrumbs": row.breadcrumbs,
        "author": row.author,
    }  # fmt: skip


NAMES: Final[Mapping[str, Callable[[FeedRow, str, Sequence[str]], dict[str, Any]]]] = {"own": own, "endeca": endeca}
"""Every form of a document by the name that ``--field-names`` takes."""
