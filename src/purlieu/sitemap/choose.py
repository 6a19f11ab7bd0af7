"""Which pages go into a sitemap, and why the others do not: one closed table of reasons (IB-6, SM-30 ff., SM-78).

Knows what a run says of a page and what an owner's profile asks for. Must not know stores, files, or how an entry is
written. Documentation, lists and terminal read this table; nothing else names a reason.
"""

# ruff: noqa: E501  # one reason, one row: a table is read across
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.outcome import LANGUAGES
from purlieu.response import content_class
from purlieu.sentence import Sentence
from purlieu.sitemap.location import in_location
from purlieu.sitemap.write import LONGEST_LOC, written
from purlieu.value import dataclass

_TABLE: Final = (
    ("not_visited", "The run did not ask for it; crawl again, or build with the former files in the folder, which keeps it.", "この実行では取得していません。再度クロールするか、以前のファイルのあるフォルダーに作成してください（そのまま残ります）。", "本次运行未访问；请重新抓取，或在保留旧文件的文件夹中生成（旧条目会保留）。"),
    ("redirected", "It redirects; list the address that it leads to.", "転送されます。転送先のアドレスを載せてください。", "它会跳转；请列出跳转后的地址。"),
    ("robots", "robots.txt forbids it to the robot.", "robots.txt がロボットに禁止しています。", "robots.txt 禁止该机器人访问。"),
    ("excluded", "The crawl's own settings excluded it.", "クロールの設定により対象外です。", "被抓取设置排除。"),
    ("unwanted_type", "The crawl does not take its type of content.", "このコンテンツ種別はクロールの対象外です。", "抓取不接受这种内容类型。"),
    ("missing", "The server has no such page (404, 410).", "ページがありません（404、410）。", "服务器上没有此页面（404、410）。"),
    ("refused", "The server refused it (401, 403 or another 4xx).", "サーバーが拒否しました（401、403 などの 4xx）。", "服务器拒绝访问（401、403 或其他 4xx）。"),
    ("server_error", "The server failed (5xx).", "サーバーエラーです（5xx）。", "服务器出错（5xx）。"),
    ("unreachable", "No answer could be had.", "応答を得られませんでした。", "无法获得响应。"),
    ("unreadable", "The answer was broken or too large.", "応答が壊れているか、大きすぎます。", "响应已损坏或过大。"),
    ("crashed", "It could not be examined, by a fault of this program.", "本プログラムの不具合により調べられませんでした。", "因本程序故障未能检查。"),
    ("not_200", "The answer was another one than 200, or had no content.", "応答が 200 ではないか、内容がありません。", "响应不是 200，或没有内容。"),
    ("login", "It was fetched with credentials, so it is not public; a profile with with_login = true takes it.", "認証情報を使って取得したため公開ページではありません。with_login = true のプロファイルなら含めます。", "使用凭据获取，不是公开页面；with_login = true 的配置会包含它。"),
    ("location", "It does not lie in the folder for which the sitemap may speak; make another profile, whose location it is in.", "サイトマップの置き場所のフォルダーの外にあります。そこを location とする別のプロファイルを作成してください。", "它不在该站点地图可声明的文件夹内；请为其位置另建配置。"),
    ("noindex", "It asks not to be searched (noindex).", "検索しないよう指定されています（noindex）。", "页面要求不被索引（noindex）。"),
    ("canonical", "It names another address as its canonical one.", "別のアドレスを正規 URL としています。", "它把另一个地址作为规范地址。"),
    ("empty", "It has no text.", "本文がありません。", "页面没有文字。"),
    ("document", "It is no HTML page; a profile with parts = true takes it.", "HTML ページではありません。parts = true のプロファイルなら含めます。", "它不是 HTML 页面；parts = true 的配置会包含它。"),
    ("section", "It lies in none of the profile's sections.", "プロファイルのどのセクションにも属しません。", "它不属于配置中的任何栏目。"),
    ("filter", "The profile's patterns leave it out.", "プロファイルのパターンにより除外されています。", "被配置中的模式排除。"),
    ("too_long", "Its address is longer than 2,047 characters.", "アドレスが 2,047 文字を超えています。", "地址超过 2,047 个字符。"),
    ("not_a_url", "It is no http or https address.", "http または https のアドレスではありません。", "它不是 http 或 https 地址。"),
    ("duplicate", "It was listed more than once; the entry has the newest lastmod and the highest priority.", "複数回記載されています。最新の lastmod と最高の priority を採用しました。", "重复列出；采用最新的 lastmod 和最高的 priority。"),
    ("vanished", "It was in the former files, and a whole run did not find it any more.", "以前のファイルにありましたが、全体の実行で見つかりませんでした。", "旧文件中有它，但完整运行未再发现。"),
)  # fmt: skip
REASONS: Final = {code: sentences for code, *sentences in _TABLE}
"""Each reason for leaving a page out, with its sentence in English, Japanese and Chinese."""

_BY_KIND: Final = {
    "redirected": "redirected", "misdirected": "redirected", "skipped": "unwanted_type", "excluded": "excluded",
    "missing": "missing", "refused": "refused", "server_error": "server_error", "unreachable": "unreachable",
    "unreadable": "unreadable", "crashed": "crashed", "abandoned": "not_visited", "due": "not_visited",
}  # fmt: skip


def sentence(reason: str, language: str = "en") -> str:
    """Return what the owner is told of a reason in ``en``, ``ja`` or ``zh``."""
    return REASONS[reason][LANGUAGES.index(language)]


class Told(NamedTuple):
    """What a run says of one page. ``status`` of an unchanged page is that of the answer that still stands."""

    href: str
    kind: str
    reason: str
    attempts: int
    status: int | None
    content_type: str | None
    index_reason: str


class _Profile(Protocol):
    """What an owner asks for; ``settings.ProfileSettings`` is one."""

    @property
    def filter_sections(self) -> bool: ...
    @property
    def sections(self) -> Sequence[str]: ...
    @property
    def include(self) -> Sequence[str]: ...
    @property
    def exclude(self) -> Sequence[str]: ...
    @property
    def parts(self) -> bool: ...
    @property
    def with_login(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files will lie, and what is known of that site.

    ``location`` is a URL that ends in a slash. ``logins`` are the origins that were asked with credentials.
    ``forbids`` says what robots.txt tells the robot that the files are for.
    """

    location: str
    logins: Collection[str] = ()
    forbids: Callable[[str], bool] = lambda _: False


class Chooser:
    """Judges pages for one profile at one place. A reason is a key of ``REASONS``, "" takes the page."""

    def __init__(self, profile: _Profile, place: Place) -> None:
        """Compile what ``mistakes`` has nothing to say about."""
        self._profile = profile
        self._place = place
        self._sections = tuple(map(_section, profile.sections)) if profile.filter_sections else None
        self._folder = place.location if place.location.isascii() else urls.parse(place.location).href
        self._filters = None
        if profile.include or profile.exclude:
            from purlieu.pattern.filters import Filters

            self._filters = Filters(include=profile.include, exclude=profile.exclude)

    def page(self, told: Told) -> str:
        """Return why a page of a run is left out (not 200, redirected, noindex, canonical elsewhere ...)."""
        return self.answered(told) or self.placed(told.href, login=True) or self.formed(told)

    def answered(self, told: Told) -> str:
        """Return why what the web said keeps a page out, wherever it lies and whoever may see it."""
        if told.kind not in {"fetched", "unchanged"}:
            if told.kind == "unreachable" and not told.attempts:
                return "not_visited"
            if told.kind == "excluded" and told.reason == "robots":
                return "robots"
            return _BY_KIND.get(told.kind, "not_visited")
        if told.status != 200 or told.reason == "empty":
            return "not_200"
        return told.index_reason if told.index_reason in REASONS else "noindex" if told.index_reason else ""

    def formed(self, told: Told) -> str:
        """Return why the type of a page's content keeps it out."""
        return "" if self._profile.parts or content_class(told.content_type) == "HTML" else "document"

    def placed(self, href: str, *, login: bool = False) -> str:
        """Return why a page's address keeps it out; ``login``: whether its origin's credentials count."""
        authority = href[: href.find("/", 8)] if href.find("/", 8) > 0 else href
        if "@" in authority or (login and not self._profile.with_login and urls.origin_of(href) in self._place.logins):
            return "login"
        # What begins with the folder's text is in it, since a serialised path has no dots; the rest gets a closer look.
        if not href.startswith(self._folder) and not in_location(href, self._folder):
            return "location"
        if len(href) > LONGEST_LOC // 3 and len(written(href)) > LONGEST_LOC:
            return "too_long"
        if self._place.forbids(href):
            return "robots"
        if self._sections is not None and not any(_within(href, section) for section in self._sections):
            return "section"
        return "filter" if self._filters is not None and self._filters.refuse(href) else ""


def was_not_asked(told: Told) -> bool:
    """Say whether a run knows nothing new of a page: it waits, or was given up before it was asked for."""
    return told.kind in {"abandoned", "due"} or (told.kind in {"unreachable", "crashed"} and not told.attempts)


class Priorities:
    """The owner's rules for ``<priority>``: lines of a pattern and a number; the first that matches decides (SM-6)."""

    def __init__(self, rules: Sequence[str]) -> None:
        """Compile rules that ``mistakes`` has nothing to say about."""
        self._numbers: tuple[float, ...] = ()
        if rules:
            from purlieu.pattern import Patterns
            from purlieu.pattern.filters import as_pattern

            split = [_rule(rule) for rule in rules]
            self._numbers = tuple(number for _, number in split)
            self._patterns = Patterns([as_pattern(pattern) for pattern, _ in split])

    def of(self, href: str) -> float:
        """Return the priority of a page, 0.5 where no rule says otherwise."""
        hit = self._patterns.first(href) if self._numbers else None
        return 0.5 if hit is None or hit.timed_out else self._numbers[hit.number]


def mistakes(profile: _Profile, priority: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (key, value, remedy) for all that is wrong in a profile."""
    for section in profile.sections:
        try:
            _section(section)
        except UrlError:
            yield "sections", section, Sentence("write a folder's path, such as /news/, or its whole URL")
    if profile.include or profile.exclude:
        from purlieu.pattern.filters import wrong_item

        for name in ("include", "exclude"):
            for item in getattr(profile, name):
                if remedy := wrong_item(item, unsafe=False):
                    yield name, item, remedy
    for rule in priority:
        try:
            pattern, _ = _rule(rule)
        except ValueError:
            yield "priority", rule, Sentence('write a pattern and a number from 0 to 1, such as "/news/* 0.8"')
        else:
            from purlieu.pattern.filters import wrong_item

            if remedy := wrong_item(pattern, unsafe=False):
                yield "priority", rule, remedy


def _rule(rule: str) -> tuple[str, float]:
    pattern, _, number = rule.rpartition(" ")
    if not pattern.strip() or not 0 <= float(number) <= 1:
        raise ValueError(rule)
    pattern = pattern.strip()
    # A path alone is its folder's beginning here, as for a section.
    return (f"prefix:{pattern}" if pattern.startswith("/") and "*" not in pattern else pattern), float(number)


def _section(text: str) -> str:
    """Return a section as the beginning of a path or of a whole href, without its last slash."""
    if text.startswith("/"):
        return urls.parse(text, "http://x/").path.rstrip("/")
    parsed = urls.parse(text)
    if not parsed.host:
        raise UrlError(text)
    return parsed.href.rstrip("/")


def _within(href: str, section: str) -> bool:
    """Say whether a page is a section's own or below it: ``/news`` holds ``/news/a``, not ``/newspaper``."""
    at = href.find("/", 8)
    rest = href[at:] if section.startswith("/") or not section else href
    return rest.startswith(section) and rest[len(section) : len(section) + 1] in {"", "/", "?"}
