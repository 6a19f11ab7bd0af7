"""What is wrong with the site that a run has crawled: links, redirects, titles, canonicals, languages, sitemaps.

Reads what the run stored, each kind of fact in one pass, and holds only what ended badly. The rules and their words are
``audit.py``'s; files of them are made in ``audit_files.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from purlieu.audit import RULES, Fault, is_language
from purlieu.landing import LandingKind
from purlieu.report import foreign, fragments
from purlieu.report.destination import Destinations
from purlieu.report.parts import FRAMES, MARKS, Parts
from purlieu.report.pruning import refuse
from purlieu.store.audit import AuditRows
from purlieu.store.reader import Reader, RunRow
from purlieu.url import key64
from purlieu.value import dataclass, field

CERTIFICATE_DAYS: Final = 21
EXAMPLES: Final = 5
"""Addresses told of pages that share a fault."""
_NO_LINKS: Final = frozenset("ucC") | (MARKS - FRAMES)  # no URL, a canonical, which no visitor follows, or a part
_BROKEN: Final = frozenset({"broken_link", "redirect_broken"})
_REDIRECTING: Final = frozenset({"redirected", "misdirected"})
_NOT_ASKED: Final = frozenset({"due", "abandoned", "excluded"})


@dataclass(slots=True)
class Tally:
    """How many faults there are of each rule, and the first of each."""

    most: int = 20
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[Fault]] = field(default_factory=dict)

    def add(self, faults: Iterable[Fault]) -> Tally:
        """Count faults, and return itself."""
        for fault in faults:
            self.counts[fault.rule] += 1
            told = self.first.setdefault(fault.rule, [])
            if len(told) < self.most:
                told.append(fault)
        return self

    def rules(self) -> list[str]:
        """Return the codes of the rules of which there are faults, in the order of the table."""
        return [code for code in RULES if self.counts[code]]


def facts(fault: Fault) -> dict[str, Any]:
    """Return a fault as values for JSON."""
    rule = RULES[fault.rule]
    return {"rule": fault.rule, "severity": str(rule.severity), **fault._asdict(), "examples": list(fault.examples)}


def faults(
    reader: Reader, run: RunRow, normal: Callable[[str], str], now: float, certificate_days: int = CERTIFICATE_DAYS
) -> Iterator[Fault]:
    """Yield everything that is wrong with the pages of a run, each address at most once for a rule.

    ``normal`` gives the address that a link means. A certificate that holds no longer than so many days from ``now`` on
    (seconds since the epoch) expires soon. Raises StoreError for a run whose ledger was pruned (R-8.4).
    """
    refuse(run)
    rows, destinations = reader.audited(run), Destinations(reader, run)
    yield from _links(rows, destinations, normal)
    yield from fragments.faults(rows, normal)
    yield from foreign.faults(rows, reader, run, normal)
    yield from _certificates(rows, now, certificate_days)
    yield from (Fault("soft_404", href, "missing.soft_404", 1) for href in rows.soft_404s())
    for title, pages in groupby(rows.titles(), itemgetter(0)):
        if "\ufffd" in title:  # what the decoder puts for octets that are none of the encoding which the page names
            yield from (Fault("title_garbled", href, title, 1) for _, href in pages)
        elif title:
            yield from _shared("title_duplicate", title, map(itemgetter(1), pages))
        else:
            yield from (Fault("title_missing", href, "", 1) for _, href in pages)
    for digest, pages in groupby(rows.texts(), itemgetter(0)):
        yield from _shared("text_duplicate", digest, map(itemgetter(1), pages))
    yield from _canonicals(rows, reader, run)
    yield from _languages(rows, reader, run)
    for href, kind, reason, index_reason in rows.sitemap_entries():
        if index_reason and kind not in _REDIRECTING:
            yield Fault("sitemap_not_indexable", href, index_reason, 1)
        else:
            yield Fault("sitemap_redirects" if kind in _REDIRECTING else "sitemap_broken", href, f"{kind}.{reason}", 1)


def _certificates(rows: AuditRows, now: float, days: int) -> Iterator[Fault]:
    """Yield the origins whose certificate has expired or soon does, with its last moment."""
    for origin, ends_at, is_expired in rows.certificates():
        told = "" if ends_at is None else f"{datetime.fromtimestamp(ends_at, UTC):%Y-%m-%d %H:%M} UTC"
        if is_expired or (ends_at is not None and ends_at <= now):
            yield Fault("certificate_expired", f"{origin}/", told)
        elif ends_at is not None and ends_at <= now + days * 86_400.0:
            yield Fault("certificate_expires_soon", f"{origin}/", told)


def _shared(rule: str, what: str, pages: Iterable[str]) -> Iterator[Fault]:
    """Yield one fault where several pages share something, under the first of them."""
    count, first = 0, list[str]()
    for href in pages:
        count += 1
        if count <= EXAMPLES:
            first.append(href)
    if count > 1:
        yield Fault(rule, first[0], what, count, tuple(first))


def _links(rows: AuditRows, destinations: Destinations, normal: Callable[[str], str]) -> Iterator[Fault]:
    """Yield what ended badly and is linked to, and pages of sitemaps that no other page links to."""
    bad = {href: (kind, reason, status) for href, kind, reason, status in rows.ended_badly()}
    alone = dict(rows.sitemap_pages())
    linking = dict[tuple[str, str], tuple[int, tuple[str, ...]]]()
    told = dict[str, tuple[str, str]]()
    parts = Parts(rows, destinations, normal)
    for page, stored in rows.links():
        found = set[tuple[str, str]]()
        for mark, href in {(line[0] in FRAMES, normal(line[1:])) for line in stored if line[0] not in _NO_LINKS}:
            if href == page:
                continue
            if href in bad:
                rule, _ = told.get(href) or told.setdefault(href, _link_fault(href, *bad[href], destinations))
                found.add((href, "broken_frame" if mark and rule in _BROKEN else rule))
            if alone:
                alone.pop(key64(href), None)
        for key in found:
            count, first = linking.get(key, (0, ()))
            linking[key] = (count + 1, (*first, page) if count < EXAMPLES else first)
        parts.take(page, (line for line in stored if line[0] in MARKS))
    for (href, rule), (count, first) in sorted(linking.items()):
        yield Fault(rule, href, told[href][1], count, tuple(sorted(first)))
    yield from parts.faults()
    yield from (Fault("orphan_page", href, "", 1) for href in sorted(alone.values()))


def _link_fault(href: str, kind: str, reason: str, status: int, destinations: Destinations) -> tuple[str, str]:
    """Return the rule that a link to such an address breaks, and what the address did."""
    if kind not in _REDIRECTING:
        return "broken_link", f"{kind}.{reason}" + (f" {status}" if status else "")
    landing = destinations.landing(href)
    if landing.kind is LandingKind.FAILED and landing.row is not None:
        if landing.row.kind in _NOT_ASKED:
            return "redirect_link", landing.href
        return "redirect_broken", f"{landing.href} {landing.row.kind}.{landing.row.reason}"
    if landing.kind in {LandingKind.LOOP, LandingKind.TOO_MANY}:
        return "redirect_broken", f"{landing.href} {landing.kind}"
    return "redirect_chain" if landing.hops > 1 else "redirect_link", landing.href


def _target(reader: Reader, run: RunRow, href: str) -> tuple[str, str]:
    """Return what another page names an address to be: fine, broken, redirects or outside, and how it ended."""
    row = reader.visit(run, href.partition("#")[0])
    if row is None or row.kind == "excluded":
        return "outside", ""
    if row.kind in {"fetched", "unchanged"} or row.kind in _NOT_ASKED or row.reason == "robots_unreachable":
        return "fine", row.canonical or ""
    return "redirects" if row.kind in _REDIRECTING else "broken", f"{row.kind}.{row.reason}"


def _canonicals(rows: AuditRows, reader: Reader, run: RunRow) -> Iterator[Fault]:
    for href, named in rows.canonicals():
        canonical = named.partition("#")[0]
        if canonical == href:
            continue
        state, told = _target(reader, run, canonical)
        if state != "fine":
            yield Fault(f"canonical_{state}", href, f"{canonical} {told}".strip(), 1)
        elif told and told.partition("#")[0] != canonical:
            yield Fault("canonical_chain", href, f"{canonical} {told}", 1)


def _languages(rows: AuditRows, reader: Reader, run: RunRow) -> Iterator[Fault]:
    """Yield a fault of each kind at most once for a page, with all codes or addresses that have it."""
    for href, named in rows.languages():
        wrong: dict[str, list[str]] = {}
        for code, target in named:
            if not is_language(code):
                wrong.setdefault("language_code", []).append(code)
            other = target.partition("#")[0]
            if other == href:
                continue
            state, told = _target(reader, run, other)
            if state == "broken":
                wrong.setdefault("language_broken", []).append(f"{other} {told}")
            elif state == "fine" and rows.names_as_language(other, href) is False:
                wrong.setdefault("language_one_way", []).append(other)
        for rule, told_of in wrong.items():
            yield Fault(rule, href, ", ".join(dict.fromkeys(told_of)), 1)
