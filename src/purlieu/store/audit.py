"""What an audit asks of a run: what ended badly, titles, texts, canonicals, languages, sitemap entries and links.

Gives rows in one order, a few at a time. What is wrong with them is ``report/audit.py``'s to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from purlieu.store.database import Database
from purlieu.store.outlinks import lines
from purlieu.url import host_of

_FIRST = (-1, -(2**63))


class AuditRows:
    """Answers for one run. Holds an open database; whoever opened it closes it."""

    def __init__(self, database: Database, run: int, hash_of: Callable[[str], int]) -> None:
        """Read from ``database``, in which addresses stand under their ``hash_of``."""
        self._database = database
        self._run = run
        self._hash_of = hash_of

    def ended_badly(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield (href, kind, reason, status or 0) of pages that could not be had and of addresses that redirect."""
        yield from self._database.rows("audit_ended_badly", self._run)

    def checks_ended_badly(self) -> Iterator[tuple[str, str, str, int, bool]]:
        """Yield the same of what was only checked, and whether it lies out of scope."""
        for href, kind, reason, status, is_foreign in self._database.rows("audit_checks_ended_badly", self._run):
            yield href, kind, reason, status, bool(is_foreign)

    def asked(self) -> Iterator[tuple[str, bytes]]:
        """Yield (href, what it asks of pages as ``page/anchors.py`` packs it) of the pages that were read for it."""
        last = _FIRST
        while rows := list(self._database.rows("audit_anchors", self._run, *last)):
            last = (rows[-1][0], rows[-1][1])
            yield from ((href, asked) for _, _, href, asked in rows)

    def ids_of(self, page: str) -> bytes | None:
        """Return the places that a page has, packed likewise; None where the run has not read it as HTML."""
        row = self._database.one("audit_ids_of", self._run, host_of(page), self._hash_of(page))
        return row[1] if row is not None and row[0] == page else None

    def foreign(self) -> Iterator[tuple[str, str, str, int, str]]:
        """Yield (href, kind, reason, status or 0, robots) of the links out of scope that were checked, by href.

        ``robots`` is how the robots.txt of its origin ended, "" unless it could not be had.
        """
        yield from self._database.rows("audit_foreign", self._run)

    def certificates(self) -> Iterator[tuple[str, float | None, int]]:
        """Yield (origin, until when its certificate holds or None, whether it was told to be expired), by origin."""
        yield from self._database.rows("audit_certificates", self._run)

    def titles(self) -> Iterator[tuple[str, str]]:
        """Yield (title, href) of the HTML pages that may be in an index, equal titles side by side; "": none."""
        yield from self._database.rows("audit_titles", self._run)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield (digest, href) of the pages that may be in an index, equal main texts side by side."""
        yield from self._database.rows("audit_texts", self._run)

    def canonicals(self) -> Iterator[tuple[str, str]]:
        """Yield (href, canonical) of pages that name another page, by href."""
        yield from self._database.rows("audit_canonicals", self._run)

    def soft_404s(self) -> Iterator[str]:
        """Yield the pages that say they are missing but answered with success, by href."""
        for (href,) in self._database.rows("audit_soft_404s", self._run):
            yield href

    def sitemap_entries(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield (href, kind, reason, index reason) of sitemap entries that should not be there as they are, by href."""
        yield from self._database.rows("audit_sitemap_entries", self._run)

    def sitemap_pages(self) -> Iterator[tuple[int, str]]:
        """Yield (hash, href) of the pages that a sitemap lists, were fetched, and are no seed."""
        yield from self._database.rows("audit_sitemap_alone", self._run)

    def languages(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield (href, [(hreflang, href), ...]) of the pages that name other languages, in key order."""
        last = _FIRST
        while rows := list(self._database.rows("audit_languages", self._run, *last)):
            last = (rows[-1][0], rows[-1][1])
            for _, _, href, alternates in rows:
                yield href, [(code, target) for code, target in json.loads(alternates)]

    def names_as_language(self, page: str, href: str) -> bool | None:
        """Return whether a page names an address as another language; None where the run has not read the page.

        The stored text is searched, not taken apart: with many languages each of a page's is asked about each of them.
        """
        row = self._database.one("audit_languages_of", self._run, host_of(page), self._hash_of(page))
        if row is None or row[0] != page:
            return None
        named = json.dumps(href)[:-1]
        return any(f"{named}{end}" in (row[1] or "") for end in '"#')

    def links(self) -> Iterator[tuple[str, list[str]]]:
        """Yield (href, lines of ``outlinks``) of each page whose links were read last in this run, in key order."""
        last = _FIRST
        while rows := list(self._database.rows("report_outlinks", self._run, *last)):
            last = (rows[-1][0], rows[-1][1])
            for _, _, href, blob in rows:
                yield href, lines(blob)
