"""The columns of the ledger: names, types, meanings, and the row in that order.

The reference page is made from this table. Columns are only ever added, at the end.
"""

# ruff: noqa: E501  # one column, one row: a table is read across
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from purlieu.report.destination import Destinations
from purlieu.row import iso8601
from purlieu.settings.door import door_of
from purlieu.store.database import Row
from purlieu.store.reader import Reader, RunRow
from purlieu.url import origin_of
from purlieu.value import dataclass

LEDGER_SCHEMA: Final = 1
"""Version of the columns: the number in the column ``schema`` and in the Parquet file's metadata."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``type`` is text, integer, number, truth, time (a text: ISO 8601, UTC, milliseconds) or json.

    What is json is an object in JSON lines, and its text in the other forms.
    """

    name: str
    type: str
    meaning: str


COLUMNS: Final = tuple(
    Column(*row)
    for row in (
        ("run", "integer", "Number of the run."),
        ("url", "text", "The URL, serialised by the WHATWG standard, without fragment. A URL that was too long is stored cut."),
        ("purpose", "text", "What it is fetched for: `page`, `robots` or `sitemap`; `check`: it was only asked whether it is there. A URL with two purposes has two rows."),
        ("kind", "text", "How it ended; see the table of outcomes. `due` while the run goes on."),
        ("reason", "text", "Why, within the kind."),
        ("status", "integer", "HTTP status of the last response; empty when there was none."),
        ("last_url", "text", "Where it finally leads: redirects followed, then the canonical if it is in range. Empty when nothing was asked."),
        ("redirect_to", "text", "Target of its own redirect or refresh, one step."),
        ("canonical", "text", "Canonical URL that the page names, in range or not."),
        ("content_type", "text", "Content-Type header as received."),
        ("title", "text", "Title of an HTML page."),
        ("lang", "text", "Language that the page names."),
        ("depth", "integer", "Fewest links from a seed; a sitemap entry has 1."),
        ("via", "text", "Page on which it was found first by depth, then by address; empty for a seed."),
        ("found_by", "text", "How it was found: seed, sitemap, link, redirect, refresh, canonical, robots, owner, or as what it is embedded: style, script, image, media."),
        ("site", "integer", "Index of the first site that accepts it; empty for a grant and for a refused URL."),
        ("rule", "text", "Rule that let it in or kept it out, or that ended it."),
        ("attempts", "integer", "Requests sent for it."),
        ("fetched_at", "time", "When its last response began."),
        ("bytes", "integer", "Size of the body, decoded."),
        ("seconds", "number", "From the start of the request to the last byte, to the millisecond."),
        ("indexable", "truth", "Whether a fetched page may be searched; empty for all else."),
        ("index_reason", "text", "Why it may not: noindex, canonical, empty and so on."),
        ("last_modified", "text", "Last-Modified header as received."),
        ("etag", "text", "ETag header as received."),
        ("digest", "text", "Digest of the page's main content; equal digests mean equal content."),
        ("in_sitemap", "truth", "Whether a sitemap of the run names it."),
        ("address", "text", "IP address that answered."),
        ("version", "text", "Version of Purlieu that ran."),
        ("hops", "integer", "Fewest redirects on the way to it."),
        ("nofollow", "truth", "Whether every link to it asks not to be followed."),
        ("detail", "text", "What more is known of the ending, such as an error's text."),
        ("host", "text", "Its host without port; empty for what has none."),
        ("ended_at", "time", "When its ending was written; empty for endings that follow from the run or host as a whole."),
        ("schema", "integer", "Version of these columns."),
        ("door", "text", "The credentials that it was asked for with: basic, digest, bearer, ntlm, negotiate, certificate, cookies, headers, login, several with commas; empty for none. Such a page is not public."),
        ("extracted", "json", "What the owner's function took out of the page; empty where there is none."),
    )
)  # fmt: skip
NAMES: Final = tuple(column.name for column in COLUMNS)

_AT = {name: place for place, name in enumerate(NAMES)}
TRUTHS: Final = tuple(_AT[column.name] for column in COLUMNS if column.type == "truth")
OBJECTS: Final = tuple(_AT[column.name] for column in COLUMNS if column.type == "json")
_TIMES = tuple(_AT[column.name] for column in COLUMNS if column.type == "time")
_LAST_URL = _AT["last_url"]
_DECIDING = tuple(_AT[name] for name in ("url", "purpose", "kind", "redirect_to", "canonical", "attempts"))
_STATUS, _KIND, _DOOR = _AT["status"], _AT["kind"], _AT["door"]


def rows(reader: Reader, run: RunRow) -> Iterator[Row]:
    """Yield a run's ledger in the order of ``COLUMNS``, by host name, purpose and url; what is empty is None."""
    destinations = Destinations(reader, run)
    last_url = destinations.of_ledger_row
    url, purpose, kind, redirect_to, canonical, attempts = _DECIDING
    doors = doors_of(reader, run)
    for stored in reader.ledger(run):
        row = [*stored[:-1], LEDGER_SCHEMA, None, stored[-1]]
        if doors and (row[_STATUS] is not None or row[_KIND] == "unchanged"):
            row[_DOOR] = doors.get(origin_of(row[url])) or None
        for place in TRUTHS:
            if row[place] is not None:
                row[place] = bool(row[place])
        for place in _TIMES:
            if row[place] is not None:
                row[place] = iso8601(row[place])
        row[_LAST_URL] = last_url(row[url], row[purpose], row[kind], row[redirect_to], row[canonical], row[attempts])
        yield tuple(row)


def tree_of(reader: Reader, run: RunRow) -> dict[str, Any]:
    """Return the settings of a run as tables: secrets are masked there, so they cannot be read as settings."""
    import tomllib  # 8 million instructions that the end of a crawl can do without

    try:
        return tomllib.loads(reader.config(run))
    except tomllib.TOMLDecodeError:
        return {}


def doors_of(reader: Reader, run: RunRow) -> dict[str, str]:
    """Return what a run's credentials for each origin were, where there are any: its pages are not public."""
    found = {str(table.get("origin", "")): door_of(table) for table in tree_of(reader, run).get("origin", [])}
    return {origin: door for origin, door in found.items() if door}


def as_markdown() -> str:
    """Return the table of columns for the reference page."""
    lines = [f"| `{column.name}` | {column.type} | {column.meaning} |" for column in COLUMNS]
    return "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *lines])
