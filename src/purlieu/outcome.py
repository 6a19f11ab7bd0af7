"""How a URL can end: one closed table (section 6 of the rules).

Every URL of a run ends in exactly one row of ``REASONS``. Documentation, command
line, console and the MF3.0 file read this table; nothing else names an ending.
"""

from __future__ import annotations

from typing import Final

from purlieu.value import dataclass

KINDS: Final = (
    "fetched",
    "unchanged",
    "redirected",
    "misdirected",
    "skipped",
    "excluded",
    "missing",
    "refused",
    "server_error",
    "unreachable",
    "unreadable",
    "abandoned",
    "crashed",
)
GOOD_KINDS: Final = frozenset({"fetched", "unchanged", "redirected"})
FAULT_KINDS: Final = frozenset(
    {"misdirected", "missing", "refused", "server_error", "unreachable", "unreadable", "crashed"}
)
"""Kinds of a page that was asked for and could not be had."""
LANGUAGES: Final = ("en", "ja", "zh")

MF3_MESSAGES: Final = {
    "00101": "crawler_batch_00101: Failed to fetch page during crawling.",
    "00201": "crawler_batch_00201: Last URL is not a target for crawling.",
    "00202": "crawler_batch_00202: Content class is not a target for crawling. content class: {content_class}",
    "00203": "crawler_batch_00203: HTTP status code error. Status code: {status}",
    "00204": "crawler_batch_00204: Exception occurred during crawling process.",
    "00205": "crawler_batch_00205: Exceeded the maximum number of redirects.",
}
"""Word for word; 00202 and 00203 have no final full stop (MF-20)."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One ending.

    ``mf3`` is the MF3.0 code, "ok" for a true row, "landing" where the end of the redirect
    chain decides, "" for no row. ``retried``: asked again before it counts as the end.
    ``against_host``: counts towards giving the host up. ``sentences``: English, Japanese,
    Simplified Chinese; each says what happened and what the owner can do.
    """

    kind: str
    code: str
    mf3: str
    retried: bool
    against_host: bool
    sentences: tuple[str, str, str]

    @property
    def name(self) -> str:
        """Return ``kind.code``."""
        return f"{self.kind}.{self.code}"

    def sentence(self, language: str = "en") -> str:
        """Return the owner's sentence in ``en``, ``ja`` or ``zh``; any other language gives English."""
        return self.sentences[LANGUAGES.index(language) if language in LANGUAGES else 0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One URL's ending in one run: the reason, the rule that made it and a detail (both may be "")."""

    reason: Reason
    rule: str = ""
    detail: str = ""


# kind, code, MF3.0, retried, against the host, then English, Japanese, Chinese.
# fmt: off
_TABLE: tuple[tuple[str, str, str, bool, bool, str, str, str], ...] = (
    ("fetched", "ok", "ok", False, False,
     "The page was fetched.",
     "ページを取得しました。",
     "页面已获取。"),
    ("fetched", "empty", "ok", False, False,
     "The server answered with success but without content; check whether the page should have any.",
     "サーバーは正常に応答しましたが、内容がありません。ページに内容があるべきか確認してください。",
     "服务器响应成功，但没有内容；请确认该页面是否应有内容。"),
    ("unchanged", "not_modified", "ok", False, False,
     "The server said that the page has not changed since the last visit (304).",
     "前回の訪問からページは変更されていないとサーバーが応答しました（304）。",
     "服务器表示页面自上次访问以来没有变化（304）。"),
    ("unchanged", "same_content", "ok", False, False,
     "The page was fetched and its main content is the same as last time.",
     "ページを取得しましたが、本文は前回と同じでした。",
     "页面已获取，正文与上次相同。"),
    ("unchanged", "sitemap_lastmod", "ok", False, False,
     "The sitemap's date says that the page has not changed, and it has not been found wrong; the page was not asked.",
     "サイトマップの日付ではページに変更がなく、その日付に誤りも見つかっていないため、取得しませんでした。",
     "站点地图的日期表明页面没有变化，且未发现其有误，因此未请求。"),
    ("unchanged", "not_due", "ok", False, False,
     "The page changes rarely and is not due yet; it was left alone this time.",
     "更新頻度が低く、まだ再訪問の時期ではないため、今回は取得しませんでした。",
     "页面很少变化，尚未到重访时间，这次未请求。"),
    ("redirected", "permanent", "landing", False, False,
     "The server says that the page has moved for good; link to the new address instead.",
     "ページは恒久的に移動しました。リンクを新しいアドレスに直してください。",
     "页面已永久移动；请将链接改为新地址。"),
    ("redirected", "temporary", "landing", False, False,
     "The server sends visitors to another address for now.",
     "サーバーは一時的に別のアドレスへ転送しています。",
     "服务器暂时转到另一个地址。"),
    ("redirected", "meta_refresh", "landing", False, False,
     "The page sends visitors on by a refresh in its HTML; a redirect of the server would be better.",
     "HTML 内の refresh により別のページへ移動します。サーバーのリダイレクトの方が適切です。",
     "页面通过 HTML 中的 refresh 跳转；使用服务器重定向更好。"),
    ("misdirected", "out_of_scope", "00201", False, False,
     "The redirect leads out of the crawl's bounds; widen the scope if its target belongs to your site.",
     "リダイレクト先がクロール対象外です。対象に含めるべき場合は範囲を広げてください。",
     "重定向目标超出抓取范围；如属于您的站点，请扩大范围。"),
    ("misdirected", "too_many", "00205", False, False,
     "There are more redirects in a row than the limit allows; shorten the chain or raise limits.max_redirects.",
     "リダイレクトの回数が上限を超えました。連鎖を短くするか limits.max_redirects を上げてください。",
     "连续重定向次数超过上限；请缩短链条或提高 limits.max_redirects。"),
    ("misdirected", "loop", "00205", False, False,
     "The redirects lead in a circle; mend them on the server.",
     "リダイレクトが循環しています。サーバーの設定を直してください。",
     "重定向形成循环；请在服务器上修正。"),
    ("misdirected", "bad_location", "00101", False, False,
     "The redirect names no usable address; mend the Location header on the server.",
     "リダイレクト先のアドレスが正しくありません。サーバーの Location ヘッダーを直してください。",
     "重定向没有给出可用的地址；请修正服务器的 Location 头。"),
    ("skipped", "content_class", "00202", False, False,
     "The content is of a class that this crawl does not want; add the class to fetch.classes to have it.",
     "取得対象外の種類の内容です。必要な場合は fetch.classes に追加してください。",
     "内容类别不在抓取目标中；如需要，请将其加入 fetch.classes。"),
    ("excluded", "scope", "", False, False,
     "The address lies outside the crawl's bounds; widen the scope if it belongs to your site.",
     "アドレスはクロール範囲の外です。対象に含めるべき場合は範囲を広げてください。",
     "地址在抓取范围之外；如属于您的站点，请扩大范围。"),
    ("excluded", "filter", "", False, False,
     "One of your include or exclude rules refuses the address; the rule column names it.",
     "指定した包含・除外ルールにより対象外です。rule 列にルールがあります。",
     "您的包含或排除规则拒绝了该地址；见 rule 列。"),
    ("excluded", "filter_timeout", "", False, False,
     "One of your unsafe patterns took too long on this address; write it more simply.",
     "パターンの照合に時間がかかりすぎました。パターンを簡潔にしてください。",
     "您的某个模式匹配用时过长；请写得更简单。"),
    ("excluded", "robots", "", False, False,
     "The site's robots.txt forbids the address; the rule column shows the line.",
     "サイトの robots.txt により禁止されています。rule 列に該当行があります。",
     "站点的 robots.txt 禁止该地址；rule 列给出了该行。"),
    ("excluded", "depth", "", False, False,
     "The address is further from the start than limits.max_depth or limits.max_redirects allows; raise the limit to have it.",
     "開始 URL からの距離が limits.max_depth または limits.max_redirects を超えています。必要なら上限を上げてください。",
     "距离起始地址超过 limits.max_depth 或 limits.max_redirects；如需要请提高上限。"),
    ("excluded", "nofollow", "", False, False,
     "Every link to the address asks crawlers not to follow; set links.obey_nofollow = false to follow all the same.",
     "このアドレスへのリンクはすべて nofollow です。たどるには links.obey_nofollow = false にしてください。",
     "指向该地址的链接都要求不跟随；如仍要跟随，请设 links.obey_nofollow = false。"),
    ("excluded", "scheme", "", False, False,
     "The address is not of the web (http or https), so there is nothing to crawl.",
     "http・https 以外のアドレスのため、クロールできません。",
     "地址不是 http 或 https，无法抓取。"),
    ("excluded", "invalid_url", "", False, False,
     "The link is no valid address; mend it on the page named in the via column.",
     "リンクが正しいアドレスではありません。via 列のページを直してください。",
     "链接不是有效地址；请在 via 列所示页面修正。"),
    ("excluded", "url_too_long", "", False, False,
     "The address is longer than limits.max_url_length; it is probably made by a fault of the site.",
     "アドレスが limits.max_url_length より長いため除外しました。サイトの不具合の可能性があります。",
     "地址长度超过 limits.max_url_length；可能是站点的错误。"),
    ("excluded", "trap", "", False, False,
     "The address looks like one of an endless series; the rule column says which test saw it.",
     "無限に続くアドレスの一つと思われます。rule 列に判定の根拠があります。",
     "该地址像是无穷序列之一；rule 列说明了判断依据。"),
    ("excluded", "host_limit", "", False, False,
     "The host has reached limits.pages_per_host; raise it to have more pages of this host.",
     "ホストが limits.pages_per_host に達しました。必要なら上限を上げてください。",
     "该主机已达到 limits.pages_per_host；如需更多请提高上限。"),
    ("excluded", "not_in_sitemap", "", False, False,
     "The crawl takes only addresses named by a sitemap, and none names this one.",
     "サイトマップにあるアドレスだけを対象としており、このアドレスは含まれていません。",
     "本次只抓取站点地图列出的地址，而该地址未列出。"),
    ("excluded", "sitemap_location", "", False, False,
     ("Only a sitemap names this address that lies in another folder or on another host and may not speak for it; "
      "name that sitemap in the host's robots.txt or in sitemap.files, or set sitemap.location."),
     ("このアドレスを記載しているのは、対象範囲外のフォルダーやホストにあるサイトマップだけです。"
      "そのホストの robots.txt か sitemap.files に書くか、sitemap.location を設定してください。"),
     "只有位于其他文件夹或主机、无权代表该地址的站点地图列出了它；请在该主机的 robots.txt 或 sitemap.files 中写明，或设置 sitemap.location。"),
    ("missing", "not_found", "00203", False, False,
     "There is no such page (404); mend the links to it or bring the page back.",
     "ページが存在しません（404）。リンクを直すか、ページを復元してください。",
     "页面不存在（404）；请修正指向它的链接或恢复页面。"),
    ("missing", "gone", "00203", False, False,
     "The page is gone for good (410); remove the links to it.",
     "ページは削除されました（410）。リンクを取り除いてください。",
     "页面已永久移除（410）；请删除指向它的链接。"),
    ("missing", "soft_404", "00203", False, False,
     "The server answers with success, but the page says that it was not found; let it answer 404.",
     "正常応答ですが、内容は「見つかりません」です。404 を返すようにしてください。",
     "服务器响应成功，但页面表示未找到；请让其返回 404。"),
    ("missing", "retired", "00203", False, False,
     "The page has been missing for many runs and is asked no more.",
     "長期間見つからないため、今後は取得しません。",
     "页面多次缺失，不再请求。"),
    ("refused", "unauthorized", "00203", False, False,
     "The page asks for a login (401); give credentials for its origin if it should be crawled.",
     "認証が必要です（401）。クロールする場合は資格情報を設定してください。",
     "页面需要登录（401）；如需抓取，请为其来源提供凭据。"),
    ("refused", "forbidden", "00203", False, False,
     "The server forbids the page (403); allow the crawler's user agent or address if it should be crawled.",
     "サーバーが拒否しました（403）。クローラーのユーザーエージェントやアドレスを許可してください。",
     "服务器禁止访问（403）；如需抓取，请放行本爬虫的用户代理或地址。"),
    ("refused", "too_many_requests", "00203", True, True,
     "The server says that it is asked too often (429); set a longer delay for this host.",
     "アクセスが多すぎるとサーバーが応答しました（429）。このホストの間隔を長くしてください。",
     "服务器表示请求过于频繁（429）；请为该主机设置更长的间隔。"),
    ("refused", "legal", "00203", False, False,
     "The page is withheld for legal reasons (451).",
     "法的な理由により公開されていません（451）。",
     "页面因法律原因不可用（451）。"),
    ("refused", "other", "00203", False, False,
     "The server refuses the request (another 4xx status); the status column says how.",
     "サーバーが要求を拒否しました（その他の 4xx）。status 列を確認してください。",
     "服务器拒绝请求（其他 4xx）；见 status 列。"),
    ("server_error", "5xx", "00203", True, True,
     "The server failed (5xx), also when asked again; look into the server's log.",
     "再試行してもサーバーエラー（5xx）でした。サーバーのログを確認してください。",
     "服务器出错（5xx），重试后仍然如此；请查看服务器日志。"),
    ("unreachable", "login_failed", "00101", False, False,
     "The login to its origin failed, so it was not asked for; the detail and the finding say why and what to mend.",
     "オリジンへのログインに失敗したため取得していません。理由と対処は detail 列と指摘事項を確認してください。",
     "登录其来源失败，因此未请求；原因和处理办法见 detail 列和发现项。"),
    ("unreachable", "dns", "00101", True, True,
     "The host's name could not be resolved; check the name and your DNS.",
     "ホスト名を解決できません。名前と DNS を確認してください。",
     "无法解析主机名；请检查名称和 DNS。"),
    ("unreachable", "connect", "00101", True, True,
     "No connection to the server could be made; check that it runs and is open to the crawler.",
     "サーバーに接続できません。稼働と接続許可を確認してください。",
     "无法连接服务器；请确认其运行并允许爬虫访问。"),
    ("unreachable", "tls", "00101", False, True,
     "The server's certificate or TLS cannot be trusted; mend it, or give fetch.ca_file for your own authority.",
     "証明書または TLS を信頼できません。修正するか、独自の認証局には fetch.ca_file を指定してください。",
     "服务器证书或 TLS 不可信；请修正，或为自有机构设置 fetch.ca_file。"),
    ("unreachable", "timeout", "00101", True, True,
     "The server did not answer in time; look into its speed or raise fetch.timeout_seconds.",
     "時間内に応答がありません。サーバーの速度を確認するか fetch.timeout_seconds を延ばしてください。",
     "服务器未及时响应；请检查其速度或提高 fetch.timeout_seconds。"),
    ("unreachable", "reset", "00101", True, True,
     "The server closed the connection without an answer.",
     "サーバーが応答せずに接続を切断しました。",
     "服务器未作应答便断开了连接。"),
    ("unreachable", "proxy", "00101", True, False,
     "The proxy could not be used; check fetch.proxy.",
     "プロキシを使用できません。fetch.proxy を確認してください。",
     "代理无法使用；请检查 fetch.proxy。"),
    ("unreachable", "address_refused", "00101", False, False,
     "The name leads to an internal or special address; to enter it set fetch.allow_addresses, and public_only to false.",
     "内部または特別なアドレスのため接続しませんでした。必要なら fetch.public_only を無効にし、fetch.allow_addresses で許可してください。",
     "该名称指向内部或特殊地址，未进入；如需要请关闭 fetch.public_only 并在 fetch.allow_addresses 中允许。"),
    ("unreachable", "robots_unreachable", "", False, False,
     "The site's robots.txt could not be had, so nothing of it may be fetched; mend the server's answer for /robots.txt.",
     "robots.txt を取得できないため、このサイトは取得できません。/robots.txt の応答を直してください。",
     "无法取得 robots.txt，因此不能抓取该站点；请修正 /robots.txt 的响应。"),
    ("unreadable", "too_large", "00101", False, False,
     "The page is larger than fetch.page_bytes; its links up to there were kept.",
     "ページが fetch.page_bytes を超えています。そこまでのリンクは保存しました。",
     "页面超过 fetch.page_bytes；此前的链接已保留。"),
    ("unreadable", "truncated", "00101", True, True,
     "The answer broke off in the middle; look into the server or the network.",
     "応答が途中で途切れました。サーバーまたはネットワークを確認してください。",
     "响应中途断开；请检查服务器或网络。"),
    ("unreadable", "decoding", "00101", False, False,
     "The answer's compression is damaged; mend the server's Content-Encoding.",
     "応答の圧縮データが壊れています。サーバーの Content-Encoding を直してください。",
     "响应的压缩数据损坏；请修正服务器的 Content-Encoding。"),
    ("unreadable", "protocol", "00101", False, True,
     "The answer is not the HTTP that a page can be read from; the detail column says why.",
     "HTTP として読み取れない応答です。detail 列に理由があります。",
     "响应不是可读取页面的 HTTP；detail 列说明原因。"),
    ("abandoned", "run_limit", "", False, False,
     "The run reached one of its limits before this address's turn; raise the limit or resume.",
     "この URL の順番の前に実行の上限に達しました。上限を上げるか再開してください。",
     "轮到该地址之前运行已达上限；请提高上限或继续运行。"),
    ("abandoned", "stopped", "", False, False,
     "The run was stopped before this address's turn; resume the run to go on.",
     "この URL の順番の前に実行が停止されました。再開すると続きから始まります。",
     "轮到该地址之前运行被停止；继续运行即可接着抓取。"),
    ("abandoned", "host_given_up", "", False, False,
     "The host failed too often and was left alone; look into the host and crawl again.",
     "ホストの失敗が続いたため中止しました。ホストを確認して再度クロールしてください。",
     "主机失败过多而被放弃；请检查主机后重新抓取。"),
    ("abandoned", "delay_too_long", "", False, False,
     "The site's robots.txt asks for a longer Crawl-delay than politeness.max_crawl_delay; raise it to crawl the site.",
     "robots.txt の Crawl-delay が politeness.max_crawl_delay を超えています。クロールするには上限を上げてください。",
     "robots.txt 的 Crawl-delay 超过 politeness.max_crawl_delay；如要抓取请提高该值。"),
    ("crashed", "crashed", "00204", False, False,
     "A fault of the crawler's own; the detail column has what to report.",
     "クローラー自身の不具合です。detail 列の内容をご報告ください。",
     "爬虫自身的故障；请报告 detail 列的内容。"),
)
# fmt: on

REASONS: Final[dict[str, Reason]] = {
    f"{kind}.{code}": Reason(kind, code, mf3, retried, against, (en, ja, zh))
    for kind, code, mf3, retried, against, en, ja, zh in _TABLE
}
"""Every ending by its name ``kind.code``."""


# fmt: off
_WORDS: Final = {
    "ok": ("fetched", "取得済み", "已获取"), "empty": ("without content", "内容なし", "无内容"),
    "not_modified": ("not modified (304)", "変更なし（304）", "未修改（304）"),
    "same_content": ("same content", "同じ内容", "内容相同"),
    "sitemap_lastmod": ("unchanged by its sitemap", "サイトマップで変更なし", "站点地图标明未变"),
    "not_due": ("not due yet", "まだ時期でない", "未到时间"),
    "permanent": ("moved for good", "恒久的な移動", "永久移动"),
    "temporary": ("moved for now", "一時的な移動", "临时移动"),
    "meta_refresh": ("moved by its HTML", "HTML による転送", "HTML 刷新跳转"),
    "out_of_scope": ("leads out of scope", "範囲外へ転送", "转到范围外"),
    "too_many": ("too many redirects", "転送が多すぎる", "重定向过多"),
    "loop": ("redirects in a circle", "転送の循環", "循环重定向"),
    "bad_location": ("redirect without address", "転送先が不正", "重定向地址无效"),
    "content_class": ("content not wanted", "対象外の種類", "内容类型不需要"),
    "scope": ("out of scope", "範囲外", "范围外"), "filter": ("filtered out", "フィルターで除外", "被过滤"),
    "filter_timeout": ("filter too slow", "フィルターの時間切れ", "过滤超时"),
    "robots": ("forbidden by robots.txt", "robots.txt で禁止", "robots.txt 禁止"),
    "depth": ("too deep", "深すぎる", "层级过深"), "nofollow": ("nofollow", "nofollow", "nofollow"),
    "scheme": ("not http or https", "http・https 以外", "非 http 或 https"),
    "invalid_url": ("no valid URL", "無効な URL", "无效 URL"),
    "url_too_long": ("URL too long", "URL が長すぎる", "URL 过长"),
    "trap": ("endless series", "無限に続く URL", "无穷系列"),
    "host_limit": ("too many URLs of its host", "ホストの上限", "主机 URL 过多"),
    "not_in_sitemap": ("in no sitemap", "サイトマップになし", "不在站点地图中"),
    "sitemap_location": ("outside its sitemap's place", "サイトマップの場所の外", "不在站点地图位置内"),
    "not_found": ("not found (404)", "見つからない（404）", "未找到（404）"),
    "gone": ("gone (410)", "削除済み（410）", "已删除（410）"),
    "soft_404": ("looks not found", "404 らしいページ", "疑似 404"),
    "retired": ("no longer asked for", "再確認を終了", "不再请求"),
    "unauthorized": ("needs a login (401)", "認証が必要（401）", "需要登录（401）"),
    "forbidden": ("forbidden (403)", "禁止（403）", "禁止（403）"),
    "too_many_requests": ("too many requests (429)", "要求が多すぎる（429）", "请求过多（429）"),
    "legal": ("legal reasons (451)", "法的理由（451）", "法律原因（451）"),
    "other": ("other refusal (4xx)", "その他の拒否（4xx）", "其他拒绝（4xx）"),
    "5xx": ("server error (5xx)", "サーバーエラー（5xx）", "服务器错误（5xx）"),
    "dns": ("name not found", "名前解決の失敗", "域名无法解析"),
    "connect": ("no connection", "接続できない", "无法连接"),
    "tls": ("certificate or TLS", "証明書・TLS", "证书或 TLS"), "timeout": ("no answer in time", "時間切れ", "超时"),
    "reset": ("connection broken off", "接続の切断", "连接中断"), "proxy": ("proxy", "プロキシ", "代理"),
    "address_refused": ("internal address", "内部アドレス", "内部地址"),
    "robots_unreachable": ("robots.txt not readable", "robots.txt を取得できない", "无法取得 robots.txt"),
    "too_large": ("too large", "大きすぎる", "过大"), "truncated": ("broken off", "途中で途切れた", "中途断开"),
    "decoding": ("damaged compression", "圧縮の破損", "压缩损坏"),
    "protocol": ("no readable HTTP", "HTTP として読めない", "不可读的 HTTP"),
    "run_limit": ("limit of the run", "実行の上限", "运行上限"),
    "stopped": ("run was stopped", "実行の停止", "运行被停止"),
    "host_given_up": ("host given up", "ホストを中止", "主机被放弃"),
    "delay_too_long": ("Crawl-delay too long", "Crawl-delay が長すぎる", "Crawl-delay 过长"),
    "crashed": ("fault of the crawler", "クローラーの不具合", "爬虫故障"), "due": ("waiting", "待ち", "等待中"),
}
# fmt: on


def words_of(code: str, language: str = "en") -> str:
    """Return what a reason's code is called in a few words in ``en``, ``ja`` or ``zh``; an unknown code as it is."""
    return _WORDS[code][LANGUAGES.index(language) if language in LANGUAGES else 0] if code in _WORDS else code


def reason(name: str) -> Reason:
    """Return the ending called ``kind.code``; KeyError when the table has none of that name."""
    return REASONS[name]


_STATUS: Final = {
    204: "fetched.empty",
    205: "fetched.empty",
    401: "refused.unauthorized",
    403: "refused.forbidden",
    404: "missing.not_found",
    410: "missing.gone",
    429: "refused.too_many_requests",
    451: "refused.legal",
}
_CLASS: Final = {2: "fetched.ok", 4: "refused.other", 5: "server_error.5xx"}
REDIRECTS: Final = {
    301: "redirected.permanent",
    302: "redirected.temporary",
    303: "redirected.temporary",
    307: "redirected.temporary",
    308: "redirected.permanent",
}


def of_status(status: int) -> Reason:
    """Return the ending of a response by its status alone (ST-42; 1xx, 300, 304 unasked, 305, 306 and > 599 are protocol)."""
    name = REDIRECTS.get(status) or _STATUS.get(status) or _CLASS.get(status // 100) or "unreadable.protocol"
    return REASONS[name]
