"""One URL judged by a crawl's rules, with each test's values and the sentence of the rule that decided.

Knows ``Admission`` and asks it: the verdict is never worked out here, only told. Knows no store and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from purlieu import robots
from purlieu.admission import INDEX_IN_INDEX, WEB_SCHEMES, Admission, Ruling
from purlieu.candidate import Facts, FoundBy, Purpose, Standing
from purlieu.domain import suffix_list_version
from purlieu.errors import UrlError
from purlieu.pattern.filters import NO_MATCH
from purlieu.scope import GRANT_FOREIGN, GRANT_ROBOTS, GRANT_SEED, GRANT_SEED_REDIRECT, GRANT_SITEMAP, Test
from purlieu.sentence import Sentence
from purlieu.settings import Settings
from purlieu.url import host_of, parse, without_login
from purlieu.value import dataclass, replace

ASSUMED: Final = Sentence("assuming no seed redirects")
"""What is said where no run tells where seeds landed (R-3.7)."""
_GRANTS: Final = {
    GRANT_SEED: Sentence("it is a seed, and seeds are always fetched"),
    GRANT_SEED_REDIRECT: Sentence("a seed redirects to it, and every hop of a seed's chain is fetched"),
    GRANT_ROBOTS: Sentence("the robots.txt of an origin in scope redirects to it"),
    GRANT_SITEMAP: Sentence("the owner, or the robots.txt of an origin in scope, names it as a sitemap"),
    GRANT_FOREIGN: Sentence(
        "a page links to it out of scope, and links.check_external asks whether it is there; nothing of it is followed"
    ),
    "robots": Sentence("it is the robots.txt of an origin that is crawled"),
    "probe": Sentence("it is asked for to learn what its host says of pages that are not there (traps.soft_404)"),
}
_SHOWN: Final = 200
ONLY_IN_A_RUN: Final = ("accept", "same_text=", "hosts_per_domain=", "pages_per_host=")
"""Beginnings of rules that only a run can tell: what a callable said, what pages say, how many a host has."""


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
    def of(
        cls, settings: Settings, landings: Mapping[str, str | None] | None = None, *, now: float | None = None
    ) -> Rules:
        """Return the rules that settings describe, with the landings of a run or, without one, no seed redirected."""
        made = Admission.of(settings, now=now)
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
                return _GRANTS.get(facts.grant, facts.grant)
            case "filter" | "filter_timeout":
                return self._filter_reason(ruling)
            case "url_too_long":
                return Sentence(
                    "it is {count} characters long, and limits.max_url_length is {most}",
                    count=f"{len(href):,}", most=f"{made.max_url_length:,}",
                )  # fmt: skip
            case "trap":
                return _trap_reason(ruling.rule)
            case "depth" if facts.hops > made.max_redirects:
                return Sentence(
                    "{count} redirects lead to it, and limits.max_redirects is {most}",
                    count=facts.hops, most=made.max_redirects,
                )  # fmt: skip
            case "depth":
                return Sentence(
                    "it is {links} away from a seed, and limits.max_depth is {most}",
                    links=_links(facts.depth), most=made.max_depth,
                )  # fmt: skip
            case "host_limit":
                return Sentence("its host had as many pages as limits.pages_per_host allows")
            case "scheme":
                return Sentence('"{scheme}" is neither http nor https, the only schemes crawled', scheme=ruling.rule)
            case "invalid_url":
                return _fault_of(href)
        if ruling.rule == "only-seeds":
            return Sentence("only the URLs of the list are fetched, and it is none of them")
        sites = facts.sites if made.own_seed else None
        return made.scope.judge(href, purpose.value, sites=sites).reason

    def notes(self, href: str, facts: Facts) -> list[str]:
        """Return what else is to be said of a URL: that neither list of top-level domains knew its domain (EN-29)."""
        sites = facts.sites if self.admission.own_seed else None
        return list(self.admission.scope.notes(href, sites=sites))

    def _filter_reason(self, ruling: Ruling) -> Sentence:
        if ruling.rule == NO_MATCH:
            return Sentence("no line of filter.rules matches it, and what none matches is refused")
        if ruling.rule == "include":
            return Sentence("nothing of filter.include matches it")
        if ruling.rule.startswith("accept"):
            error = ruling.rule.partition(":")[2]
            if error:
                return Sentence("the owner's callable raised {error}", error=error)
            return Sentence("the owner's callable refuses it")
        name, _, number = ruling.rule.partition(":")
        line = self.admission.filters.line(ruling.rule)[:_SHOWN] if self.admission.filters else ""
        if name == "filter":
            which = Sentence("line {number} of filter.rules", number=number)
        else:
            which = Sentence("item {number} of {key}", number=number, key=f"filter.{name}")
        if ruling.refused == "filter_timeout":
            return Sentence('{which}, "{line}", could not be tried on it in time', which=which, line=line)
        return Sentence('{which}, "{line}", refuses it', which=which, line=line)

    def _checks(self, href: str, facts: Facts, purpose: Purpose, *, known: bool) -> Iterator[Check]:
        """Yield the tests in the order in which they are asked, each with what it compares."""
        made, count = self.admission, len(href)
        if facts.grant:
            yield Check("grant", facts.hops <= made.max_redirects, _GRANTS.get(facts.grant, facts.grant))
        if made.only_seeds:
            told = Sentence("one of the {count} URLs of the list", count=f"{len(self.seeds):,}")
            yield Check("list", href in self.seeds, told)
        scope = made.scope.judge(href, purpose.value, sites=facts.sites if made.own_seed else None)
        yield Check("scope", scope.accepted, scope.reason)
        if made.sitemaps_only and purpose is Purpose.PAGE:
            yield _sitemap_check(facts, known=known)
        yield self._filter_check(href, purpose)
        told = Sentence("{count} of {most} characters", count=f"{count:,}", most=f"{made.max_url_length:,}")
        yield Check("length", count <= made.max_url_length, told)
        trap = made.trap(href, facts, purpose)
        yield Check("trap", not trap, _trap_reason(trap) if trap else Sentence("it looks like none"))
        told = Sentence("{count} of {most}", count=facts.hops, most=made.max_redirects)
        yield Check("redirects", facts.hops <= made.max_redirects, told)
        yield _depth_check(facts.depth, made.max_depth, known=known)
        if facts.nofollow:
            yield Check("nofollow", not made.obey_nofollow, Sentence("every link to it is marked nofollow"))

    def _filter_check(self, href: str, purpose: Purpose) -> Check:
        filters = self.admission.filters
        if filters is None:
            return Check("filter", None, Sentence("there are no filters"))
        if purpose is Purpose.ROBOTS or purpose is Purpose.SITEMAP:
            return Check("filter", None, Sentence("filters are for pages"))
        refusal = filters.refuse(href)
        if refusal:
            return Check("filter", passed=False, told=self._filter_reason(Ruling(*refusal)))
        rule = filters.told_by(href)
        line = filters.line(rule)
        told = f'{rule}: "{line[:_SHOWN]}"' if line else Sentence("nothing refuses it")
        return Check("filter", passed=True, told=told)


def _sitemap_check(facts: Facts, *, known: bool) -> Check:
    if not known:
        return Check("sitemap", None, Sentence("not known without a run"))
    if facts.standing is Standing.LISTED:
        return Check("sitemap", passed=True, told=Sentence("a sitemap names it"))
    return Check("sitemap", passed=False, told=Sentence("no sitemap names it"))


def _depth_check(depth: int, most: int | None, *, known: bool) -> Check:
    """Return whether a page is near enough to a seed; without a run only a seed's distance is known."""
    of = Sentence("no limit") if most is None else Sentence("of at most {most}", most=most)
    fits = most is None or depth <= most
    if known:
        return Check("depth", fits, Sentence("{links} from a seed, {of}", links=_links(depth), of=of))
    return Check("depth", None if fits else False, Sentence("not known without a run; {of}", of=of))


def _trap_reason(rule: str) -> Sentence:
    """Return the sentence of a rule of traps, ``KEY=VALUE``."""
    key, _, value = rule.partition("=")
    if key == "repeated_segment":
        return Sentence("one part of its path stands there {count} times (limits.repeated_segment)", count=value)
    if key == "hosts_per_domain":
        return Sentence("{count} other hosts of its domain were taken before (traps.hosts_per_domain)", count=value)
    if key == "same_text":
        return Sentence("{count} pages with URLs like it say the same in other numbers (traps.same_text)", count=value)
    return Sentence("it looks like one of an endless series (traps: {rule})", rule=rule)


def _fault_of(href: str) -> Sentence:
    """Return why a text is no URL."""
    try:
        parse(href)
    except UrlError:
        text = "".join(one if one.isprintable() else "\ufffd" for one in href[:_SHOWN])
        return Sentence('"{text}" is no URL: write it whole, like https://example.com/path', text=text)
    return Sentence("it is no URL")  # only where a longer text was stored cut


def _of_mentions(facts: Facts, ruling: Ruling) -> str:
    """Return the sentence of a ruling by what links and sitemaps say of a URL, "" for any other."""
    if ruling.refused == "nofollow":
        return Sentence("every link to it is marked nofollow")
    if ruling.rule == INDEX_IN_INDEX:
        return Sentence("an index inside an index lists it, and a sitemap index is followed one level deep")
    if ruling.refused == "not_in_sitemap":
        return Sentence("sitemap.mode is sitemaps-only, and no sitemap that was read names it")
    if ruling.refused == "sitemap_location":
        return Sentence("only {file} names it, a sitemap that may not speak for it (sitemap.location)", file=facts.via)
    return ""


def _links(count: int) -> Sentence:
    return Sentence("1 link") if count == 1 else Sentence("{count} links", count=f"{count:,}")


def of_robots(body: bytes, source: str | None, agent: str, href: str) -> Check:
    """Return what a robots.txt, read from ``source``, says of a URL; the rule that decides is the name."""
    verdict = robots.read(body).judge(agent, href)
    told = Sentence("{reason} (read from {source})", reason=verdict.reason, source=source) if source else verdict.reason
    return Check(verdict.rule, verdict.accepted, told)


def told_suffix(test: Test) -> str:
    """Return what told the domain that a site compares, with the version of the list; "" where none is compared."""
    if test.told_by == "lists":
        return Sentence("the two lists of top-level domains")
    if test.told_by == "last two labels":
        return Sentence("on neither list of top-level domains: the last two labels")
    if not test.told_by:
        return ""
    return Sentence(
        'rule "{rule}" of the public suffix list ({version})',
        rule=test.told_by, version=f"publicsuffixlist {suffix_list_version()}",
    )  # fmt: skip
