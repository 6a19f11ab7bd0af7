"""What can be wrong with a site, as its links, titles, canonicals, languages and sitemaps show: one closed table of rules.

Knows each rule's weight, its words in three languages and what to do. Does not know where the facts are stored, nor how
they are shown.
"""

# ruff: noqa: E501  # one rule, one row: a table is read across
from __future__ import annotations

import re
from typing import Final, NamedTuple

from purlieu.finding import Severity
from purlieu.outcome import LANGUAGES
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: ``names`` says what is wrong and ``remedies`` what to do, in English, Japanese, Chinese."""

    code: str
    severity: Severity
    names: tuple[str, str, str]
    remedies: tuple[str, str, str]

    def name(self, language: str = "en") -> str:
        """Return what is wrong, in ``en``, ``ja`` or ``zh`` (any other language gives English)."""
        return self.names[_index(language)]

    def remedy(self, language: str = "en") -> str:
        """Return what to do about it, likewise."""
        return self.remedies[_index(language)]


def _index(language: str) -> int:
    return LANGUAGES.index(language) if language in LANGUAGES else 0


class Fault(NamedTuple):
    """One thing that is wrong: the rule's code, the address it is about, and what the address did or says.

    ``pages`` is how many pages have it (that link there, or share it), ``examples`` some of their addresses.
    """

    rule: str
    url: str
    detail: str
    pages: int = 0
    examples: tuple[str, ...] = ()


_NOTE, _WARNING, _PROBLEM = Severity.NOTE, Severity.WARNING, Severity.PROBLEM

# code, severity, what is wrong (English, Japanese, Chinese), what to do (the same).
_TABLE: Final[tuple[tuple[str, Severity, tuple[str, str, str], tuple[str, str, str]], ...]] = (
    ("broken_link", _PROBLEM,
     ("Links to a page that cannot be had", "取得できないページへのリンク", "指向无法获取的页面的链接"),
     ("Correct the link on the pages that have it, or bring the page back.",
      "リンク元のページを直すか、リンク先を元に戻してください。",
      "请修正含有该链接的页面，或恢复目标页面。")),
    ("redirect_broken", _PROBLEM,
     ("Links to a redirect that leads nowhere", "行き先に着かない転送へのリンク", "指向无法到达终点的跳转的链接"),
     ("Let the redirect lead to a page that is there, or link to that page.",
      "転送先を実在するページにするか、そのページへ直接リンクしてください。",
      "请让跳转指向存在的页面，或直接链接到该页面。")),
    ("redirect_chain", _WARNING,
     ("Links to a chain of several redirects", "何段も続く転送へのリンク", "指向多次跳转的链接"),
     ("Link to where the chain ends, and let each redirect lead there at once.",
      "最終的なアドレスへリンクし、転送も一度で着くようにしてください。",
      "请直接链接到最终地址，并让跳转一次到达。")),
    ("redirect_link", _NOTE,
     ("Links to an address that redirects", "転送されるアドレスへのリンク", "指向会跳转的地址的链接"),
     ("Link to where it leads.", "転送先のアドレスへリンクしてください。", "请直接链接到跳转后的地址。")),
    ("broken_image", _PROBLEM,
     ("Images that cannot be had", "取得できない画像", "无法获取的图片"),
     ("Correct the address on the pages that show it, or bring the file back.",
      "表示しているページのアドレスを直すか、ファイルを元に戻してください。",
      "请修正显示该图片的页面中的地址，或恢复文件。")),
    ("broken_script", _PROBLEM,
     ("Scripts that cannot be had", "取得できないスクリプト", "无法获取的脚本"),
     ("Correct the address on the pages that load it, or take it out.",
      "読み込んでいるページのアドレスを直すか、読み込みを外してください。",
      "请修正加载该脚本的页面中的地址，或删除引用。")),
    ("broken_style", _PROBLEM,
     ("Style sheets that cannot be had", "取得できないスタイルシート", "无法获取的样式表"),
     ("Correct the address on the pages that load it, or take it out.",
      "読み込んでいるページのアドレスを直すか、読み込みを外してください。",
      "请修正加载该样式表的页面中的地址，或删除引用。")),
    ("broken_frame", _PROBLEM,
     ("Frames whose page cannot be had", "ページを取得できないフレーム", "框架中的页面无法获取"),
     ("Correct the address on the pages that have the frame, or bring the page back.",
      "フレームのあるページのアドレスを直すか、表示するページを元に戻してください。",
      "请修正含有该框架的页面中的地址，或恢复目标页面。")),
    ("broken_media", _PROBLEM,
     ("Videos, sounds and other embedded files that cannot be had", "取得できない動画・音声などの埋め込みファイル", "无法获取的视频、音频等嵌入文件"),
     ("Correct the address on the pages that embed it, or bring the file back.",
      "埋め込んでいるページのアドレスを直すか、ファイルを元に戻してください。",
      "请修正嵌入该文件的页面中的地址，或恢复文件。")),
    ("broken_fragment", _WARNING,
     ("Links to a place on a page that is not there", "ページ内に存在しない位置へのリンク", "指向页面中不存在位置的链接"),
     ("Correct what stands after the # in the link, or give the place on the page that id.",
      "リンクの # より後ろを直すか、リンク先の要素にその id を付けてください。",
      "请修正链接中 # 之后的部分，或为目标位置加上该 id。")),
    ("mixed_content", _PROBLEM,
     ("Scripts, style sheets and frames that secure pages load without encryption", "https のページが暗号化なしで読み込むスクリプト・スタイル・フレーム", "https 页面以未加密方式加载的脚本、样式和框架"),
     ("Load it by https: browsers block it as it is.", "https で読み込んでください。このままではブラウザーが遮断します。", "请改用 https 加载：否则浏览器会拦截。")),
    ("mixed_content_passive", _WARNING,
     ("Images and media that secure pages load without encryption", "https のページが暗号化なしで読み込む画像・メディア", "https 页面以未加密方式加载的图片和媒体"),
     ("Load it by https: browsers warn of it, or try https by themselves.",
      "https で読み込んでください。ブラウザーは警告するか、https に置き換えて読み込みます。",
      "请改用 https 加载：浏览器会警告，或自行改用 https。")),
    ("insecure_form", _WARNING,
     ("Forms of secure pages that send without encryption", "https のページから暗号化なしで送信するフォーム", "https 页面中以未加密方式提交的表单"),
     ("Let the form send to an address of https.", "送信先を https のアドレスにしてください。", "请将表单提交到 https 地址。")),
    ("broken_external_link", _PROBLEM,
     ("Links out of the site to what cannot be had", "取得できない外部ページへのリンク", "指向无法获取的站外页面的链接"),
     ("Correct the link on the pages that have it, or take it out.",
      "リンク元のページを直すか、リンクを外してください。",
      "请修正含有该链接的页面，或删除该链接。")),
    ("external_redirect", _NOTE,
     ("Links out of the site to an address that redirects", "転送される外部アドレスへのリンク", "指向会跳转的站外地址的链接"),
     ("Link to where it leads, if it has moved for good.",
      "恒久的な移動であれば、移動先へリンクしてください。",
      "如为永久移动，请直接链接到新地址。")),
    ("external_unverified", _NOTE,
     ("Links out of the site that could not be verified", "確認できなかった外部リンク", "无法验证的站外链接"),
     ("Open the link in a browser: many sites refuse programs, ask for a login, or limit how often they are asked.",
      "ブラウザーで開いて確認してください。プログラムを拒否する、ログインを求める、回数を制限するサイトがあります。",
      "请用浏览器打开确认：许多网站拒绝程序访问、要求登录或限制访问次数。")),
    ("certificate_expired", _PROBLEM,
     ("Certificates that have expired", "期限切れの証明書", "已过期的证书"),
     ("Renew the certificate: browsers warn visitors away.",
      "証明書を更新してください。ブラウザーは警告を表示します。",
      "请续期证书：浏览器会警告访问者。")),
    ("certificate_expires_soon", _WARNING,
     ("Certificates that expire soon", "まもなく期限切れになる証明書", "即将过期的证书"),
     ("Renew the certificate, and look why that was not done by itself.",
      "証明書を更新し、自動更新されなかった理由を確認してください。",
      "请续期证书，并检查为何没有自动续期。")),
    ("soft_404", _WARNING,
     ("Pages that say they are missing but answer with success", "見つからないと表示しながら成功と応答するページ", "显示“未找到”却返回成功状态的页面"),
     ("Let the server answer 404 for what is not there.", "存在しないページには 404 を返してください。", "对不存在的页面请返回 404。")),
    ("title_missing", _WARNING,
     ("Pages without a title", "タイトルのないページ", "没有标题的页面"),
     ("Give the page a title element that says what it is about.", "内容を表す title 要素を付けてください。", "请为页面添加说明其内容的 title 元素。")),
    ("title_garbled", _WARNING,
     ("Titles with characters that cannot be read", "文字化けしたタイトル", "标题中有无法解读的字符"),
     ("Say which encoding the page is in as it is: in the Content-Type header, or in a meta element.",
      "ページの実際の文字コードを Content-Type ヘッダーか meta 要素で正しく示してください。",
      "请在 Content-Type 头或 meta 元素中写明页面实际使用的编码。")),
    ("title_duplicate", _NOTE,
     ("Pages that share one title", "同じタイトルのページ", "标题相同的页面"),
     ("Give each page a title of its own.", "ページごとに異なるタイトルを付けてください。", "请为每个页面设置各自的标题。")),
    ("text_duplicate", _NOTE,
     ("Pages that share one main text", "本文が同じページ", "正文相同的页面"),
     ("Keep one, and let the others redirect to it or name it as canonical.",
      "1 つを残し、他は転送するか canonical で示してください。",
      "请保留一个，其余跳转到它或以 canonical 指明。")),
    ("canonical_broken", _PROBLEM,
     ("Canonicals that name a page that cannot be had", "取得できないページを指す canonical", "指向无法获取的页面的 canonical"),
     ("Name a page that is there, or take the canonical out.", "実在するページを指定するか、canonical を外してください。", "请指明存在的页面，或删除 canonical。")),
    ("canonical_redirects", _WARNING,
     ("Canonicals that name an address that redirects", "転送されるアドレスを指す canonical", "指向会跳转的地址的 canonical"),
     ("Name the address where the redirect ends.", "転送先のアドレスを指定してください。", "请指明跳转后的地址。")),
    ("canonical_chain", _WARNING,
     ("Canonicals that name a page with another canonical", "別の canonical を持つページを指す canonical", "指向另有 canonical 的页面的 canonical"),
     ("Let all of them name the same page.", "すべて同じページを指すようにしてください。", "请让它们都指向同一个页面。")),
    ("canonical_outside", _NOTE,
     ("Canonicals that name an address out of scope", "範囲外のアドレスを指す canonical", "指向范围之外的地址的 canonical"),
     ("Check that the other address is meant to stand for this page.", "その外部アドレスが意図したものか確認してください。", "请确认该外部地址确实代表此页面。")),
    ("language_code", _WARNING,
     ("Language links with a code that is none", "言語コードが正しくない hreflang", "语言代码无效的 hreflang"),
     ("Write a language of ISO 639-1, a region of ISO 3166-1 after it if need be, or x-default.",
      "ISO 639-1 の言語コード（必要なら ISO 3166-1 の地域コードも）か x-default を書いてください。",
      "请使用 ISO 639-1 语言代码（必要时加 ISO 3166-1 地区代码）或 x-default。")),
    ("language_broken", _PROBLEM,
     ("Language links to a page that cannot be had", "取得できないページを指す hreflang", "指向无法获取的页面的 hreflang"),
     ("Name a page that is there.", "実在するページを指定してください。", "请指明存在的页面。")),
    ("language_one_way", _WARNING,
     ("Language links that are not returned", "相互に指定されていない hreflang", "没有互相指向的 hreflang"),
     ("Let each of the pages name all the others; search engines ignore a link that is not returned.",
      "互いに指定してください。片方だけの指定は検索エンジンに無視されます。",
      "请让各页面互相指明；单向的指定会被搜索引擎忽略。")),
    ("sitemap_broken", _PROBLEM,
     ("Sitemap entries that cannot be had", "取得できないサイトマップの項目", "站点地图中无法获取的条目"),
     ("Take them out of the sitemap, or bring the pages back.", "サイトマップから外すか、ページを元に戻してください。", "请从站点地图中删除，或恢复页面。")),
    ("sitemap_redirects", _WARNING,
     ("Sitemap entries that redirect", "転送されるサイトマップの項目", "站点地图中会跳转的条目"),
     ("List the address where the redirect ends.", "転送先のアドレスを記載してください。", "请列出跳转后的地址。")),
    ("sitemap_not_indexable", _WARNING,
     ("Sitemap entries that may not be in a search index", "検索対象にできないサイトマップの項目", "站点地图中不可被索引的条目"),
     ("Take them out of the sitemap, or take the noindex or the canonical off the page.",
      "サイトマップから外すか、ページの noindex や canonical を外してください。",
      "请从站点地图中删除，或去掉页面的 noindex 或 canonical。")),
    ("orphan_page", _WARNING,
     ("Pages that only the sitemap knows and no page links to", "サイトマップにだけあり、どこからもリンクされていないページ", "只出现在站点地图中、没有页面链接的孤立页面"),
     ("Link to the page from where visitors would look for it.", "訪問者が探す場所からリンクしてください。", "请从访问者会查找的位置链接到该页面。")),
)  # fmt: skip

RULES: Final[dict[str, Rule]] = {row[0]: Rule(*row) for row in _TABLE}
"""Every rule by its code, in the order in which they are told."""

_LANGUAGE: Final = re.compile(r"x-default|[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?", re.ASCII | re.IGNORECASE)


def is_language(code: str) -> bool:
    """Return whether a hreflang is a language with script and region at will (BCP 47 as search engines take it), or x-default."""
    return _LANGUAGE.fullmatch(code.strip()) is not None


def is_over(counts: dict[str, int], allowed: dict[str, int], least: Severity | None) -> list[str]:
    """Return the codes of which more was found than is allowed, in the order of the table.

    ``allowed`` holds the number of faults that a rule may have; a rule that is not in it may have none where it weighs
    at least ``least``, and any number otherwise.
    """
    weights = list(Severity)
    floor = len(weights) if least is None else weights.index(least)

    def most(rule: Rule) -> float:
        return allowed.get(rule.code, 0 if weights.index(rule.severity) >= floor else float("inf"))

    return [code for code, rule in RULES.items() if counts.get(code, 0) > most(rule)]
