"""Every key of the settings: its type, default, limits and the sentence that explains it.

The reference page, the JSON Schema and the checks are all made from what stands
here. Knows nothing of TOML, of files, or of how a crawl runs.
"""

# ruff: noqa: FBT003  # a default stands beside what is known of its key
from __future__ import annotations

from purlieu.outcome import LANGUAGES
from purlieu.settings.belonging import (
    DomainSettings,
    FilterSettings,
    NormaliseSettings,
    ScopeSettings,
    SiteSettings,
)
from purlieu.settings.door import OriginSettings
from purlieu.settings.ending import AfterSettings, RetentionSettings
from purlieu.settings.fact import Key, key
from purlieu.settings.keeping import MIB, ArchiveSettings, DocumentSettings
from purlieu.settings.pacing import GroupSettings, HostSettings, PolitenessSettings
from purlieu.settings.profile import ProfileSettings
from purlieu.settings.trapping import TrapSettings
from purlieu.value import dataclass, field

KEPT = ("none", "text", "body", "text-and-body")
FORMATS = ("crawl_result", "csv", "jsonl", "parquet", "csv-spreadsheet", "text", "text-parquet")
CLASSES = ("HTML", "PDF", "OFFICE", "TEXT", "IMAGE", "OTHER")
ADDRESS_CLASSES = ("private", "loopback", "link-local", "metadata", "cgnat", "special")
FOLLOWED = ("a", "area", "frame", "iframe", "next", "prev", "alternate", "refresh")
LINK_KINDS = (*FOLLOWED, "sitemap", "image", "script", "style", "media", "form")
SITEMAP_MODES = ("links-and-sitemaps", "sitemaps-only", "links-only")
LOCATION_RULES = ("by-discovery", "off", "warn", "enforce")


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Where a run ends, and what is too far or too long to be asked."""

    max_depth: int | None = key(
        None, Key("How many links away from a seed a page may be. 0 is the seeds alone.", least=0, unset="no limit")
    )
    max_pages: int | None = key(
        None, Key("The run ends after so many pages were asked for, fetched or failed.", least=1, unset="no limit")
    )
    max_seconds: float | None = key(
        None, Key("The run ends after so long.", least=0.1, unit="seconds", unset="no limit")
    )
    max_targets: int | None = key(
        None, Key("The run ends when pages finished and being fetched reach so many.", least=1, unset="no limit")
    )
    max_redirects: int = key(10, Key("How many redirects in a row are followed.", least=0, most=100))
    max_url_length: int = key(
        8192,
        Key("A longer URL is not asked for (`excluded.url_too_long`); counted in characters.", least=100, most=65_536),
    )
    threshold: float | None = key(
        None,
        Key(
            "A run that ends with fewer pages than this share of the last run's is marked as under the threshold: "
            "0.8 is 80 %.",
            least=0.01,
            most=1,
            unset="no threshold",
        ),
    )
    pages_per_host: int | None = key(
        None, Key("How many pages of one host are taken (`excluded.host_limit`).", least=1, unset="no limit")
    )
    repeated_segment: int = key(
        3,
        Key(
            "A path in which the same part stands so many times looks endless and is not asked for (`excluded.trap`). "
            "0 switches the test off.",
            least=2,
            most=100,
            also=0,
        ),
    )


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How pages are asked for."""

    user_agent: str = key(
        "", Key("What the crawler calls itself to servers.", form="header", unset="`Purlieu/VERSION`")
    )
    connect_timeout_seconds: float = key(
        10.0, Key("How long making a connection may take.", least=0.1, most=3600, unit="seconds")
    )
    timeout_seconds: float = key(
        30.0, Key("How long one request may take as a whole.", least=0.1, most=3600, unit="seconds")
    )
    low_speed_bytes: int = key(
        10, Key("A response slower than so many bytes a second ... 0 switches the test off.", least=0, unit="bytes")
    )
    low_speed_seconds: float = key(
        15.0, Key("... for so long is given up as a timeout.", least=1, most=3600, unit="seconds")
    )
    page_bytes: int = key(
        10 * MIB,
        Key("How much of a page is read, counted after decompression.", least=1024, most=1024 * MIB, unit="bytes"),
    )
    sitemap_bytes: int = key(
        52_428_800,
        Key("How much of a sitemap is read, counted after decompression.", least=1024, most=1024 * MIB, unit="bytes"),
    )
    robots_bytes: int = key(
        512_000,
        Key("How much of a robots.txt is read; the rest is ignored.", least=512_000, most=16 * MIB, unit="bytes"),
    )
    header_bytes: int = key(
        131_072, Key("How long a response's headers may be in all.", least=8192, most=16 * MIB, unit="bytes")
    )
    classes: tuple[str, ...] = key(
        ("HTML", "PDF", "OFFICE", "TEXT"),
        Key("The classes of content that are wanted. The body of any other is not downloaded.", choices=CLASSES),
    )
    head_first: bool = key(
        False,
        Key(
            "Whether HEAD is asked before GET. Without it the body is cut off when the headers show an unwanted class."
        ),
    )
    http2: bool = key(True, Key("Whether HTTP/2 is spoken with servers that offer it."))
    proxy: str = key(
        "",
        Key(
            "A proxy for every request: `http://`, `https://`, `socks5://` or `socks5h://`, host and port. "
            "May be `env:NAME`.",
            form="proxy",
            unset="no proxy",
        ),
    )
    proxy_from_environment: bool = key(
        False, Key("Whether the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` are obeyed.")
    )
    ca_file: str = key(
        "",
        Key(
            "A PEM file with the certificate authorities to trust.", form="line", unset="the system's or libcurl's own"
        ),
    )
    cookies: bool = key(True, Key("Whether cookies are kept, per run and host, in memory."))
    allow_addresses: tuple[str, ...] = key(
        (),
        Key(
            "Classes of addresses that may be connected to besides public ones. A seed's own class (private or "
            "loopback) is open for the hosts in scope without being named here.",
            choices=ADDRESS_CLASSES,
        ),
    )
    public_only: bool = key(
        False,
        Key(
            "Whether nothing but public addresses is connected to, whatever seeds, `allow_addresses` and the groups of "
            "hosts say: for crawls that somebody else may set up. Behind a proxy the names are the proxy's to look up."
        ),
    )
    accept_language: str = key(
        "", Key("The languages to ask for, such as `ja, en;q=0.5`.", form="header", unset="no such header")
    )


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """How robots.txt is obeyed (RFC 9309)."""

    obey: bool = key(
        True, Key("Whether robots.txt is obeyed. Switch it off only for your own site; the report will say so.")
    )
    agent: str = key(
        "purlieu", Key("The name whose rules in robots.txt and robots meta tags are obeyed.", form="agent")
    )
    allow_403: bool = key(
        True,
        Key(
            "Whether a robots.txt that answers 403 forbids nothing, as RFC 9309 has it of every 4xx. If not, its whole "
            "site is left alone."
        ),
    )
    tries: int = key(3, Key("How often a robots.txt that cannot be had is asked for ...", least=1, most=20))
    within_seconds: float = key(
        600.0, Key("... within so long, before its site is given up.", least=1, most=86_400, unit="seconds")
    )
    max_age_seconds: float = key(
        86_400.0, Key("After so long in one run robots.txt is asked for again.", least=60, most=86_400, unit="seconds")
    )


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Which links are followed."""

    obey_nofollow: bool = key(
        True, Key("Whether links marked nofollow, by themselves or by their page, are left alone.")
    )
    kinds: tuple[str, ...] = key(
        FOLLOWED,
        Key(
            "The kinds of links that are followed. Links of the kinds `image`, `script`, `style`, `media` and `form` "
            "are only kept with the page.",
            choices=LINK_KINDS,
        ),
    )
    canonical: bool = key(True, Key("Whether the canonical URL that a page names is fetched too."))
    check_resources: bool = key(
        False,
        Key(
            "Whether the images, scripts, style sheets, videos and other files that pages embed are asked for once "
            "each (HEAD), to learn which are broken. They are no pages; `purlieu audit` tells what it found."
        ),
    )
    check_fragments: bool = key(
        False,
        Key(
            "Whether the places that links point to (`page#place`) are compared with the ids of the pages, for "
            "`purlieu audit`. Costs about 1 to 5 ms and a few hundred bytes a page."
        ),
    )
    check_external: bool = key(
        False,
        Key(
            "Whether links that lead out of scope are asked for once, at the end of a run, to learn whether they are "
            "there: HEAD, and GET where HEAD is refused. Nothing of them is read or followed; `purlieu audit` tells "
            "which are broken."
        ),
    )
    external_robots: bool = key(
        False,
        Key(
            "Whether the robots.txt of foreign sites is asked for first and obeyed when links to them are checked. "
            "That of sites in scope is obeyed in any case."
        ),
    )


@dataclass(frozen=True, slots=True)
class SitemapSettings:
    """How sitemaps are used."""

    mode: str = key(
        SITEMAP_MODES[0],
        Key(
            "What is crawled: `links-and-sitemaps` is what links lead to and what sitemaps name, `sitemaps-only` is "
            "what sitemaps name and no link is followed, `links-only` reads no sitemap.",
            choices=SITEMAP_MODES,
        ),
    )
    use: bool = key(
        True,
        Key(
            "Whether sitemaps are looked for: in robots.txt, in the pages' `<link rel=sitemap>`, and behind a seed "
            "that is one. Those of `sitemap.files` are read all the same."
        ),
    )
    files: tuple[str, ...] = key((), Key("URLs of further sitemaps to read.", form="url"))
    guess: bool = key(
        False,
        Key("Whether `/sitemap.xml` and `/sitemap_index.xml` are tried on a host whose robots.txt names no sitemap."),
    )
    location: str = key(
        LOCATION_RULES[0],
        Key(
            "What becomes of addresses that lie outside the sitemap's own folder. `enforce` leaves them out, `warn` "
            "takes them and tells, `off` takes them. `by-discovery` takes those of the host whose robots.txt names the "
            "sitemap, takes and tells all where the owner names it, and else leaves them out.",
            choices=LOCATION_RULES,
        ),
    )
    strict: bool = key(
        False,
        Key(
            "Whether sitemaps are read to the letter: a file with a fault of its own counts for nothing, an entry with "
            "one is left out, and `location` is `enforce` unless it says otherwise."
        ),
    )
    profiles: tuple[ProfileSettings, ...] = key((), Key("", table="sitemap.profile"))


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """How a revisit decides what to ask for. It asks for what changed, and for the rest in its time."""

    least_interval_seconds: float = key(
        86_400.0,
        Key(
            "How soon a page is asked for again at the earliest, where no sitemap says that it has changed. The time "
            "grows by half with each visit that finds no change, and is halved by one that does ...",
            least=0,
            unit="seconds",
        ),
    )
    most_interval_seconds: float = key(
        30 * 86_400.0,
        Key("... up to this. After so long a page is asked for whatever its sitemap says.", least=60, unit="seconds"),
    )
    trust_sitemaps: bool = key(
        True,
        Key(
            "Whether a page is left alone because its sitemap dates it (`lastmod`) or says that it changes rarely "
            "(`changefreq`). They are believed per section only as far as they were measured to be right."
        ),
    )
    sample: float = key(
        0.02,
        Key(
            "The share of what would be left alone that is asked for all the same, to measure how many changes that "
            "would have missed. 0 switches the measuring off.",
            least=0,
            most=1,
        ),
    )
    gone_after: int = key(
        3, Key("After so many 404 or 410 in a row a page is asked for ever more rarely ...", least=1, most=1000)
    )
    retire_after: int = key(
        8, Key("... and after so many it is not asked for any more (`missing.retired`).", least=1, most=1000)
    )


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """What is remembered."""

    refusals_per_host: int = key(
        10_000,
        Key("So many refused URLs are listed for each foreign host; beyond that they are only counted.", least=0),
    )
    near_duplicates: bool = key(
        False,
        Key(
            "Whether pages with nearly the same text are told (`purlieu report RUN --format duplicates`); those with "
            "exactly the same are always. Costs about 1 ms and 256 bytes a page."
        ),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """A crawl: where it starts, where its results go, and everything else."""

    seeds: tuple[str, ...] = key((), Key("The URLs to start from.", form="url"))
    name: str = key(
        "", Key("The crawl's name; runs of one name share their history.", form="name", unset="the first seed's host")
    )
    store: str = key("purlieu.db", Key("The file that remembers everything; not on a network drive.", form="line"))
    output: str = key("purlieu-out", Key("The folder for result files: OUTPUT/NAME/RUN/.", form="line"))
    formats: tuple[str, ...] = key(
        ("crawl_result",), Key("The result files written at the end of a run.", choices=FORMATS)
    )
    language: str = key("en", Key("The language of sentences in reports and on the terminal.", choices=LANGUAGES))
    revisit: bool = key(
        False,
        Key(
            "Whether a run asks only for what may have changed since the last one and takes over the rest from the "
            "history. Else every page is fetched."
        ),
    )
    keep: str = key(
        "none",
        Key(
            "What is kept of what was fetched, besides the ledger: `text` keeps what HTML pages say in the store, for "
            "search and feeds; `body` writes every answer into WARC files in OUTPUT/NAME/RUN/archive/.",
            choices=KEPT,
        ),
    )
    workers: int | str = key(
        "auto",
        Key(
            "How many processes of this machine ask the web and read what comes; with more than 1, one more writes. "
            '`"auto"`: as many as help: 1 for one host, for few pages, and where the web is what is waited for.',
            least=1,
            most=64,
            also="auto",
        ),
    )
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    sites: tuple[SiteSettings, ...] = key((), Key("", table="site"))
    domains: DomainSettings = field(default_factory=DomainSettings)
    filter: FilterSettings = field(default_factory=FilterSettings)
    normalise: NormaliseSettings = field(default_factory=NormaliseSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    robots: RobotsSettings = field(default_factory=RobotsSettings)
    links: LinkSettings = field(default_factory=LinkSettings)
    sitemap: SitemapSettings = field(default_factory=SitemapSettings)
    hosts: tuple[HostSettings, ...] = key((), Key("", table="host"))
    groups: tuple[GroupSettings, ...] = key((), Key("", table="group"))
    origins: tuple[OriginSettings, ...] = key((), Key("", table="origin"))
    history: HistorySettings = field(default_factory=HistorySettings)
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    documents: DocumentSettings = field(default_factory=DocumentSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    after: AfterSettings = field(default_factory=AfterSettings)

    @property
    def keeps_text(self) -> bool:
        """Whether what pages say is kept in the store."""
        return self.keep.startswith("text")

    @property
    def reads_documents(self) -> bool:
        """Whether what documents say is kept as well."""
        return self.keeps_text and self.documents.read

    @property
    def keeps_bodies(self) -> bool:
        """Whether answers are kept in WARC files."""
        return self.keep.endswith("body")

    @property
    def finds_sitemaps(self) -> bool:
        """Whether sitemaps are read that robots.txt or a page names, or a seed is."""
        return self.sitemap.use and self.sitemap.mode != "links-only" and not self.scope.only_seeds
