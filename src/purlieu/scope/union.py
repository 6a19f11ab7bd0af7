"""A crawl's scope: the union of its sites, where their seeds have landed, and the verdict on any URL.

Knows sites, modes and landings, as values. Does not know how a URL was found: what is fetched although it is
outside, and why, is a grant that the caller gives (R-3.3). A landing makes a new scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from purlieu.domain import TldLists, not_found
from purlieu.errors import UrlError
from purlieu.named import NamedTuple
from purlieu.scope._described import ScopeSettings, SiteOptions
from purlieu.scope.site import ANY, LISTS, Site, Way, comparison, takes, values_of
from purlieu.scope.told import Test, accepted, refused, tested
from purlieu.sentence import Sentence
from purlieu.url import Url, host_of, parse
from purlieu.value import dataclass, field, replace
from purlieu.verdict import Verdict

_KNOWN = 16_384  # origins whose sites are remembered; then the memory starts afresh
_FEW = 4  # folders that are tried one by one


class _Table(NamedTuple):
    """The landed sites of one way: by what is compared, the folders that are in and whose they are."""

    way: Way
    compared: Callable[[str, str], str]
    held: dict[str, tuple[tuple[str, int], ...]]


class _Origin(NamedTuple):
    """The sites of one origin: the first of those that take all of it, all of those, and the others by folder."""

    first: int | None
    whole: frozenset[int]
    folders: dict[str, tuple[int, ...]]
    longest: int


@dataclass(frozen=True, slots=True)
class Scope:
    """The sites of one crawl as far as their seeds have landed (R-3.1, R-3.2). Made by ``of`` and ``landed``.

    A site accepts by where its seed landed; until that is known it accepts its seed alone, except that a site of
    mode ``any``, to which a landing makes no difference, accepts everything at once (EN-19).
    """

    sites: tuple[Site, ...]
    pending: frozenset[int]
    """The sites whose seed has not landed yet."""
    _waiting: dict[str, tuple[int, ...]]
    _tables: tuple[_Table, ...]
    _lists: TldLists | None
    _known: dict[str, _Origin] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, settings: ScopeSettings) -> Self:
        """Return the scope that a ``Settings`` describes, before anything is fetched.

        Without ``[[site]]`` each seed is a site with the options of ``[scope]``; with it only those are, and one
        whose URL is no seed counts as landed there, since nobody fetches it. So does every site of a list of URLs,
        in which nothing is judged by where a seed lands. Raises UrlError for what is no http(s) URL.
        """
        seeds = dict.fromkeys(web_href(seed) for seed in settings.seeds)
        given: list[tuple[str, SiteOptions]] = [(web_href(site.url), site) for site in settings.sites]
        sites = tuple(
            Site(
                index, href, how.mode, how.ignore_port, how.ignore_scheme, how.follow_redirected_seed,
                how.aliases, how.www_equivalent, how.alternative_suffixes, how.domains,
            )
            for index, (href, how) in enumerate(given or [(href, settings.scope) for href in seeds])
        )  # fmt: skip
        lists = None
        if any(site.domains == LISTS for site in sites):
            lists = TldLists(settings.domains.generic, settings.domains.additional)
        waiting: dict[str, tuple[int, ...]] = {}
        for site in sites:
            waiting[site.url] = (*waiting.get(site.url, ()), site.index)
        tables = _with((), [site for site in sites if site.mode == ANY], lists)
        scope = cls(sites, frozenset(range(len(sites))), waiting, tables, lists)
        only_seeds = settings.scope.only_seeds
        return scope.all_landed({site.index: None for site in sites if only_seeds or site.url not in seeds})

    def landed(self, site: int, href: str | None) -> Self:
        """Return the scope after a site's redirect chain has ended at ``href``, or has failed (None).

        See ``Site.reference`` for what it is measured from then. A site lands once; later calls change nothing.
        """
        return self.all_landed({site: href})

    def all_landed(self, landings: Mapping[int, str | None]) -> Self:
        """Return the scope after several landings: the same as one after the other, at the cost of one."""
        new = {
            number: replace(self.sites[number], landing=self.sites[number].reference(href))
            for number, href in landings.items()
            if number in self.pending
        }
        if not new:
            return self
        waiting = dict(self._waiting)
        for arrived in new.values():
            waiting[arrived.url] = tuple(site for site in waiting[arrived.url] if site != arrived.index)
            if not waiting[arrived.url]:
                del waiting[arrived.url]
        return replace(
            self,
            sites=tuple(new.get(site.index, site) for site in self.sites),
            pending=self.pending - new.keys(),
            _waiting=waiting,
            _tables=_with(self._tables, [site for site in new.values() if site.mode != ANY], self._lists),
            _known={},
        )

    @property
    def lists(self) -> TldLists:
        """Return the two lists of top-level domains that sites are judged by."""
        return self._lists or TldLists()

    def seed(self, site: int) -> str:
        """Return the href of a site's seed."""
        return self.sites[site].url

    def rule(self, site: int) -> str:
        """Return the code of the rule by which a site accepts: its mode."""
        return self.sites[site].mode

    def accepts(self, href: str, host: str) -> int | None:
        """Return the first site that accepts a serialised href without fragment and its ``host_of``, None for none.

        Asked once a link: two look-ups, whatever the number of sites.
        """
        if not host:
            return None
        origin = href[: href.find("/", 8)]
        known = self._known.get(origin) or self._look_up(origin, href, host)
        first = known.first
        if known.folders:
            for sites in _holding(known, href, len(origin)):
                if first is None or sites[0] < first:
                    first = sites[0]
        for site in self._waiting.get(href, ()) if self._waiting else ():
            if first is None or site < first:
                first = site
        return first

    def accepting(self, href: str, host: str, sites: frozenset[int] | None = None) -> frozenset[int]:
        """Return all sites, of the given ones or of all, that accept a serialised href without fragment."""
        if not host:
            return frozenset()
        origin = href[: href.find("/", 8)]
        known = self._known.get(origin) or self._look_up(origin, href, host)
        found = known.whole
        if known.folders:
            found = found.union(*_holding(known, href, len(origin)))
        if self._waiting:
            found = found.union(self._waiting.get(href, ()))
        return found if sites is None else found & sites

    def holds(self, origin: str) -> bool:
        """Return whether an origin has anything in scope: what ``judge`` says of its robots.txt, asking no site.

        Asked for every origin of a run, of which a crawl of many seeds has as many as sites.
        """
        href = f"{origin}/"
        host = host_of(href)
        if self.accepts(href, host) is not None:
            return True
        known = self._known.get(origin)
        return known is not None and bool(known.folders)

    def judge(self, url: str | Url, purpose: str = "page", *, sites: frozenset[int] | None = None) -> Verdict:
        """Return whether a URL is in scope, with the sites that accept it, the rule and the values compared.

        ``sites`` judges by these alone (own-seed, R-3.1). A robots.txt is in scope where its host is, whatever
        the folder. Grants are no part of it (R-3.3). A note tells when neither of the two lists of top-level domains
        knew the URL's (EN-29). Never raises; what is no URL is refused.
        """
        try:
            parsed = parse(url) if isinstance(url, str) else url
        except UrlError as error:
            return Verdict(accepted=False, rule="invalid-url", reason=str(error))
        href, host = parsed.href, host_of(parsed.href)
        if not host:
            reason = Sentence('"{scheme}" is neither http nor https, the only schemes crawled', scheme=parsed.scheme)
            return Verdict(accepted=False, rule="scheme", reason=reason)
        asked = [site for site in self.sites if sites is None or site.index in sites]
        if not asked:
            return Verdict(accepted=False, rule="no-site", reason=Sentence("no site was asked that could accept it"))
        whole = purpose == "robots"
        accepting = [site for site in asked if takes(site, self._lists, href, host, whole_host=whole)]
        rule = "+".join(sorted({site.mode for site in accepting or asked}))
        told = accepted(accepting[0], self._lists, href) if accepting else refused(asked, self._lists, href)
        notes = self._notes(url if isinstance(url, str) else url.href, host, asked)
        return Verdict(bool(accepting), rule, told, notes, frozenset(site.index for site in accepting))

    def tests(self, url: str | Url, *, sites: frozenset[int] | None = None) -> tuple[Test, ...]:
        """Return each site's test of a URL with the values compared; none for what is no address of the web."""
        try:
            href = (parse(url) if isinstance(url, str) else url).href
        except UrlError:
            return ()
        asked = [site for site in self.sites if sites is None or site.index in sites] if host_of(href) else []
        return tuple(tested(site, self._lists, href) for site in asked)

    def notes(self, href: str, *, sites: frozenset[int] | None = None) -> tuple[str, ...]:
        """Return the notes of ``judge`` on a serialised href."""
        asked = [site for site in self.sites if sites is None or site.index in sites]
        return self._notes(href, host_of(href), asked) if host_of(href) else ()

    def _notes(self, url: str, host: str, asked: Iterable[Site]) -> tuple[str, ...]:
        if self._lists is None or not any(site.domains == LISTS and site.mode == "same-domain" for site in asked):
            return ()
        domain, found = self._lists.domain(host)
        return () if found else (not_found(url, domain),)

    def _look_up(self, origin: str, href: str, host: str) -> _Origin:
        """Return the sites of an origin, asked of every way of comparing, and remember them."""
        whole: set[int] = set()
        folders: dict[str, tuple[int, ...]] = {}
        for _, compared, held in self._tables:
            for folder, site in held.get(compared(href, host), ()):
                if folder:
                    folders[folder] = tuple(sorted((*folders.get(folder, ()), site)))
                else:
                    whole.add(site)
        found = _Origin(min(whole, default=None), frozenset(whole), folders, max(map(len, folders), default=0))
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[origin] = found
        return found


def web_href(text: str) -> str:
    """Return the href of an address of the web; raises UrlError for any other."""
    href = parse(text).href
    if not host_of(href):
        raise UrlError(f'"{href}" is no address of the web: write one that starts with http:// or https://')
    return href


def _with(tables: tuple[_Table, ...], sites: Sequence[Site], lists: TldLists | None) -> tuple[_Table, ...]:
    """Return the tables with more sites, each in the table of its way."""
    by_way = {table.way: table for table in tables}
    added: dict[Way, dict[str, tuple[tuple[str, int], ...]]] = {}
    for site in sites:
        way = site.way._replace(mode=site.way.names)
        if way not in added:
            added[way] = dict(by_way[way].held) if way in by_way else {}
        held = added[way]
        for value in values_of(site, lists):
            held[value] = (*held.get(value, ()), (site.folder, site.index))
    new = {way: _Table(way, comparison(way, lists), held) for way, held in added.items()}
    return tuple({**by_way, **new}.values())


def _holding(known: _Origin, href: str, start: int) -> list[tuple[int, ...]]:
    """Return the sites of each folder that holds a URL whose path begins at ``start``.

    Few folders are tried one by one; of many, each beginning of the path is asked for.
    """
    folders = known.folders
    if len(folders) <= _FEW:
        return [sites for folder, sites in folders.items() if href.startswith(folder, start)]
    found = []
    at, last = start, start + known.longest
    while 0 <= at < last:
        if sites := folders.get(href[start : at + 1]):
            found.append(sites)
        at = href.find("/", at + 1)
    return found
