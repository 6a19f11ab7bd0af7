"""One URL judged by a crawl's rules, with each test's values and the sentence of the rule that decided.

Knows ``Admission`` and asks it: the verdict is never worked out here, only told. Knows no store and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from purlieu import robots
from purlieu.admission import INDEX_IN_INDEX, WEB_SCHEMES, Admission, Ruling, repeats
from purlieu.candidate import Facts, FoundBy, Purpose, Standing
from purlieu.domain import suffix_list_version
from purlieu.errors import UrlError
from purlieu.pattern.filters import NO_MATCH
from purlieu.scope import GRANT_ROBOTS, GRANT_SEED, GRANT_SEED_REDIRECT, GRANT_SITEMAP, Test
from purlieu.settings import Settings
from purlieu.url import host_of, parse, without_login

ASSUMED: Final = "assuming no seed redirects"
"""What is said where no run tells where seeds landed (R-3.7)."""
_GRANTS: Final = {
    GRANT_SEED: "it is a seed, and seeds are always fetched",
    GRANT_SEED_REDIRECT: "a seed redirects to it, and every hop of a seed's chain is fetched",
    GRANT_ROBOTS: "the robots.txt of an origin in scope redirects to it",
    GRANT_SITEMAP: "the owner, or the robots.txt of an origin in scope, names it as a sitemap",
    "robots": "it is the robots.txt of an origin that is crawled",
}
_SHOWN: Final = 200


class Check(NamedTuple):
    """One test of a URL: whether it passed (None: it was not asked) and the values compared, as a sentence."""

    name: str
    passed: bool | None
    told: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say of one URL.

    ``url`` is as given, ``href`` what is judged; ``refused`` the code of the ``excluded`` ending, "" when it is in.
    """

    url: str
    href: str
    refused: str
    rule: str
    reason: str
    checks: tuple[Check, ...] = ()
    tests: tuple[Test, ...] = ()

    @property
    def accepted(self) -> bool:
        """Return whether the URL is in."""
        return not self.refused

    def facts(self) -> dict[str, Any]:
        """Return what every list of URLs tells of one, as values for JSON."""
        told = {"url": self.url, "accepted": self.accepted, "rule": self.rule, "reason": self.reason}
        return told | {"normalised": self.href, "outcome": f"excluded.{self.refused}" if self.refused else None}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a crawl, its seeds as they are asked for, and the sitemap files that its owner names."""

    admission: Admission
    seeds: frozenset[str]
    sitemaps: frozenset[str]

    @classmethod
    def of(cls, settings: Settings, landings: Mapping[str, str | None] | None = None) -> Rules:
        """Return the rules that settings describe, with the landings of a run or, without one, no seed redirected."""
        made = Admission.of(settings)
        scope = made.scope
        if landings is None:
            landed: dict[int, str | None] = dict.fromkeys(scope.pending)
        else:
            landed = {site: landings[scope.seed(site)] for site in scope.pending if scope.seed(site) in landings}
        made = replace(made, scope=scope.all_landed(landed))
        seeds = frozenset(parse(seed).href for seed in settings.seeds)
        if settings.normalise.apply_to_seeds:
            seeds = frozenset(made.normaliser.key(without_login(seed)) for seed in seeds)
        sitemaps = frozenset(parse(file).href for file in settings.sitemap.files)
        return cls(made, seeds, sitemaps)

    def normal(self, text: str) -> str:
        """Return the href under which a URL is judged: the standard form, without login, by the owner's normalisers.

        A seed stays as it is asked for. Raises UrlError for what is no URL.
        """
        href = parse(text).href
        return href if href in self.seeds else self.meant(href)

    def meant(self, link: str) -> str:
        """Return the address under which a found href stands."""
        return self.admission.normaliser.link(without_login(link)) if link.startswith(WEB_SCHEMES) else link

    def assumed(self, href: str) -> Facts:
        """Return how a URL is taken to be found where no run tells: as a seed, else by a link on a seed's page."""
        own = self.admission.own_seed
        if href in self.seeds:
            scope = self.admission.scope
            lineage = scope.accepting(href, host_of(href)) if own else frozenset()
            return Facts(0, found_by=FoundBy.SEED, grant=GRANT_SEED, sites=lineage)
        sites = frozenset(range(len(self.admission.scope.sites))) if own else frozenset()
        # Whether a sitemap names it only a run can tell: the rest of the rules is what is asked for.
        return Facts(1, sites=sites, standing=Standing.LISTED if self.admission.sitemaps_only else Standing.FOUND)

    def judge(self, text: str, facts: Facts | None = None, purpose: Purpose = Purpose.PAGE) -> Judgement:
        """Return what the rules say of a URL, found in this way; never raises for what the URL is."""
        try:
            href = self.normal(text)
        except UrlError:
            href = text
        return self.judge_href(href, facts or self.assumed(href), purpose, url=text, known=facts is not None)

    def judge_href(
        self, href: str, facts: Facts, purpose: Purpose = Purpose.PAGE, *, url: str = "", known: bool = True
    ) -> Judgement:
        """Return what the rules say of a normalised href, with every test; ``known`` says that its depth is."""
        brief = self.judge_briefly(href, facts, purpose, url=url)
        if brief.refused in {"invalid_url", "scheme"}:
            return brief
        sites = facts.sites if self.admission.own_seed else None
        checks = tuple(self._checks(href, facts, purpose, known=known))
        return replace(brief, checks=checks, tests=self.admission.scope.tests(href, sites=sites))

    def judge_briefly(self, href: str, facts: Facts, purpose: Purpose = Purpose.PAGE, *, url: str = "") -> Judgement:
        """Return what the rules say of a normalised href without the tests, which cost more than the verdict."""
        try:
            host = host_of(parse(href).href)
        except UrlError:
            ruling = Ruling("invalid_url", "invalid-url")
        else:
            scheme = href.partition(":")[0].lower()[:40]
            ruling = self.admission.judge(href, host, facts, purpose) if host else Ruling("scheme", scheme)
        return Judgement(url or href, href, ruling.refused, ruling.rule, self.reason(href, facts, purpose, ruling))

    def reason(self, href: str, facts: Facts, purpose: Purpose, ruling: Ruling) -> str:
        """Return the sentence of a ruling on a URL found in this way; of robots.txt only a run can tell."""
        made = self.admission
        if told := _of_mentions(facts, ruling):
            return told
        match ruling.refused:
            case "" if facts.grant and ruling.rule == facts.grant:
                return _GRANTS.get(facts.grant, f"it is granted: {facts.grant}")
            case "filter" | "filter_timeout":
                return self._filter_reason(ruling)
            case "url_too_long":
                return f"it is {len(href):,} characters long, and limits.max_url_length is {made.max_url_length:,}"
            case "trap":
                return f"one part of its path stands there {made.repeated_segment} times (limits.repeated_segment)"
            case "depth" if facts.hops > made.max_redirects:
                return f"{facts.hops} redirects lead to it, and limits.max_redirects is {made.max_redirects}"
            case "depth":
                return f"it is {_links(facts.depth)} away from a seed, and limits.max_depth is {made.max_depth}"
            case "host_limit":
                return "its host had as many pages as limits.pages_per_host allows"
            case "scheme":
                return f'"{ruling.rule}" is neither http nor https, the only schemes crawled'
            case "invalid_url":
                return _fault_of(href)
        if ruling.rule == "only-seeds":
            return "only the URLs of the list are fetched, and it is none of them"
        sites = facts.sites if made.own_seed else None
        return made.scope.judge(href, purpose.value, sites=sites).reason

    def notes(self, href: str, facts: Facts) -> list[str]:
        """Return what else is to be said of a URL: that neither list of top-level domains knew its domain (EN-29)."""
        sites = facts.sites if self.admission.own_seed else None
        return list(self.admission.scope.notes(href, sites=sites))

    def _filter_reason(self, ruling: Ruling) -> str:
        if ruling.rule == NO_MATCH:
            return "no line of filter.rules matches it, and what none matches is refused"
        if ruling.rule == "include":
            return "nothing of filter.include matches it"
        if ruling.rule.startswith("accept"):
            error = ruling.rule.partition(":")[2]
            return f"the owner's callable raised {error}" if error else "the owner's callable refuses it"
        name, _, number = ruling.rule.partition(":")
        which = f"line {number} of filter.rules" if name == "filter" else f"item {number} of filter.{name}"
        line = self.admission.filters.line(ruling.rule)[:_SHOWN] if self.admission.filters else ""
        how = "could not be tried on it in time" if ruling.refused == "filter_timeout" else "refuses it"
        return f'{which}, "{line}", {how}'

    def _checks(self, href: str, facts: Facts, purpose: Purpose, *, known: bool) -> Iterator[Check]:
        """Yield the tests in the order in which they are asked, each with what it compares."""
        made = self.admission
        if facts.grant:
            yield Check("grant", facts.hops <= made.max_redirects, _GRANTS.get(facts.grant, facts.grant))
        if made.only_seeds:
            yield Check("list", href in self.seeds, f"one of the {len(self.seeds):,} URLs of the list")
        scope = made.scope.judge(href, purpose.value, sites=facts.sites if made.own_seed else None)
        yield Check("scope", scope.accepted, scope.reason)
        yield self._filter_check(href, purpose)
        yield Check("length", len(href) <= made.max_url_length, f"{len(href):,} of {made.max_url_length:,} characters")
        if made.repeated_segment:
            told = f"no part of the path may stand there {made.repeated_segment} times"
            yield Check("trap", not repeats(href, made.repeated_segment), told)
        yield Check("redirects", facts.hops <= made.max_redirects, f"{facts.hops} of {made.max_redirects}")
        most = made.max_depth
        of = "no limit" if most is None else f"of at most {most}"
        fits = most is None or facts.depth <= most
        depth = f"{_links(facts.depth)} from a seed, {of}" if known else f"not known without a run; {of}"
        yield Check("depth", fits if known or not fits else None, depth)
        if made.sitemaps_only and purpose is Purpose.PAGE:
            told = "a sitemap names it" if facts.standing is Standing.LISTED else "no sitemap names it"
            yield Check("sitemap", facts.standing is Standing.LISTED if known else None, told if known else "not known")
        if facts.nofollow:
            yield Check("nofollow", not made.obey_nofollow, "every link to it is marked nofollow")

    def _filter_check(self, href: str, purpose: Purpose) -> Check:
        filters = self.admission.filters
        if filters is None:
            return Check("filter", None, "there are no filters")
        if purpose is not Purpose.PAGE:
            return Check("filter", None, "filters are for pages")
        refusal = filters.refuse(href)
        if refusal:
            return Check("filter", passed=False, told=self._filter_reason(Ruling(*refusal)))
        rule = filters.told_by(href)
        line = filters.line(rule)
        return Check("filter", passed=True, told=f'{rule}: "{line[:_SHOWN]}"' if line else "nothing refuses it")


def _fault_of(href: str) -> str:
    """Return why a text is no URL."""
    try:
        parse(href)
    except UrlError as error:
        return str(error)
    return "it is no URL"  # only where a longer text was stored cut


def _of_mentions(facts: Facts, ruling: Ruling) -> str:
    """Return the sentence of a ruling by what links and sitemaps say of a URL, "" for any other."""
    if ruling.refused == "nofollow":
        return "every link to it is marked nofollow"
    if ruling.rule == INDEX_IN_INDEX:
        return "an index inside an index lists it, and a sitemap index is followed one level deep"
    if ruling.refused == "not_in_sitemap":
        return "sitemap.mode is sitemaps-only, and no sitemap that was read names it"
    if ruling.refused == "sitemap_location":
        return f"only {facts.via} names it, a sitemap that may not speak for it (sitemap.location)"
    return ""


def _links(count: int) -> str:
    return "1 link" if count == 1 else f"{count:,} links"


def of_robots(body: bytes, source: str | None, agent: str, href: str) -> Check:
    """Return what a robots.txt, read from ``source``, says of a URL; the rule that decides is the name."""
    verdict = robots.read(body).judge(agent, href)
    return Check(verdict.rule, verdict.accepted, f"{verdict.reason}{f' (read from {source})' if source else ''}")


def told_suffix(test: Test) -> str:
    """Return what told the domain that a site compares, with the version of the list; "" where none is compared."""
    known = {
        "": "",
        "lists": "the two lists of top-level domains",
        "last two labels": "on neither list of top-level domains: the last two labels",
    }
    if test.told_by in known:
        return known[test.told_by]
    return f'rule "{test.told_by}" of the public suffix list (publicsuffixlist {suffix_list_version()})'
