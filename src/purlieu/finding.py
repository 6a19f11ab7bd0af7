"""What the owner should know of a run: one closed table of findings.

Knows each finding's weight and its sentences in three languages. Does not know
who noticed it, nor where it is kept or shown.
"""

# ruff: noqa: E501, ISC004  # one finding, one row: a table is read across
from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from purlieu.outcome import LANGUAGES
from purlieu.value import dataclass, field

Argument = str | int | float


class Severity(StrEnum):
    """How much a finding matters: worth knowing, worth a look, or the result cannot be trusted as it is."""

    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class FindingKind:
    """One row of the table.

    ``subject`` says what the finding is about (href, host, origin or crawl), ``arguments`` names the
    values that its sentences show besides the subject. ``sentences``: English, Japanese, Simplified Chinese.
    """

    code: str
    severity: Severity
    subject: str
    arguments: tuple[str, ...]
    sentences: tuple[str, str, str]


_NOTE, _WARNING, _PROBLEM = Severity.NOTE, Severity.WARNING, Severity.PROBLEM

# code, severity, what the subject is, arguments, then English, Japanese, Chinese.
_TABLE: tuple[tuple[str, Severity, str, tuple[str, ...], str, str, str], ...] = (
    ("seed_landed_elsewhere", _WARNING, "href", ("landing",),
     "The start address {subject} leads to {landing}, which is another domain; check that this is the site you meant.",
     "開始 URL {subject} は別のドメインの {landing} に転送されます。目的のサイトか確認してください。",
     "起始地址 {subject} 跳转到另一个域名的 {landing}；请确认这是您要抓取的站点。"),
    ("seed_landed_on_suffix", _PROBLEM, "href", ("landing",),
     "The start address {subject} leads to {landing}, a name under which anyone may have a site; "
     "the scope was not moved there. Start from the address you mean.",
     "開始 URL {subject} の転送先 {landing} は誰でもサイトを持てる名前のため、範囲を移していません。目的の URL から開始してください。",
     "起始地址 {subject} 跳转到公共后缀 {landing}，范围未移至该处；请从您要的地址开始。"),
    ("seed_failed", _WARNING, "href", ("ending",),
     "The start address {subject} could not be fetched ({ending}); check the address and the server.",
     "開始 URL {subject} を取得できませんでした（{ending}）。アドレスとサーバーを確認してください。",
     "无法获取起始地址 {subject}（{ending}）；请检查地址和服务器。"),
    ("pages_vanished", _NOTE, "crawl", ("count", "example"),
     "{count} pages that were there before were found by no link and no sitemap this time, such as {example}; "
     "they are asked for ever more rarely, and while they answer they stay in the history.",
     "以前あった {count} ページが、今回はリンクにもサイトマップにもありませんでした（例: {example}）。確認の間隔を延ばしながら履歴に残します。",
     "以前存在的 {count} 个页面这次没有任何链接或站点地图指向（例如 {example}）；将逐渐降低询问频率，仍保留在历史中。"),
    ("hint_not_honest", _WARNING, "section", ("hint", "share"),
     "In {subject} the sitemap's {hint} announced only {share} % of the changes there were, as a sample shows; it is not "
     "believed until it proves right again. Let your system set it when a page's content changes.",
     "{subject} ではサイトマップの {hint} が実際の変更の {share}% しか示していません（標本による）。再び正しいと確認できるまで信用しません。内容の変更時に更新されるようにしてください。",
     "在 {subject} 中，站点地图的 {hint} 只反映了实际变化的 {share}%（抽样得出）；在再次证明可靠之前不予采信。请让系统在内容变化时更新它。"),
    ("hint_says_nothing", _NOTE, "section", ("hint", "count"),
     "In {subject} the sitemap's {hint} announced {count} changes and nearly none was one; it is not used there. Let your "
     "system set it only when a page's content changes.",
     "{subject} ではサイトマップの {hint} が {count} 件の変更を示しましたが、ほとんど変更がありませんでした。内容が変わったときだけ更新してください。",
     "在 {subject} 中，站点地图的 {hint} 表示有 {count} 处变化，但几乎都没有变化，因此不予采用。请仅在内容变化时更新它。"),
    ("nothing_fetched", _PROBLEM, "crawl", (),
     "Not one page was fetched; the endings in the ledger say why.",
     "1 ページも取得できませんでした。理由は台帳の各行を確認してください。",
     "没有获取到任何页面；原因见台账各行。"),
    ("one_page_only", _WARNING, "href", (),
     "Only {subject} was fetched and it holds no link in scope; "
     "its links may be made by a script, or lead to another host.",
     "{subject} の 1 ページだけを取得しました。範囲内のリンクがありません。"
     "リンクがスクリプトで作られているか、別のホストを指している可能性があります。",
     "只获取了 {subject} 一个页面，其中没有范围内的链接；链接可能由脚本生成，或指向其他主机。"),
    ("host_given_up", _WARNING, "host", (),
     "The host {subject} failed too often in a row and was left alone; look into the host and crawl again.",
     "ホスト {subject} は失敗が続いたため中止しました。ホストを確認して再度クロールしてください。",
     "主机 {subject} 连续失败过多，已放弃；请检查主机后重新抓取。"),
    ("robots_unreachable", _WARNING, "origin", (),
     "The robots.txt of {subject} could not be had, so nothing of it was fetched (RFC 9309 2.3.1.4); "
     "mend the server's answer for /robots.txt.",
     "{subject} の robots.txt を取得できないため、何も取得していません（RFC 9309 2.3.1.4）。"
     "/robots.txt の応答を直してください。",
     "无法取得 {subject} 的 robots.txt，因此未抓取其任何内容（RFC 9309 2.3.1.4）；请修正 /robots.txt 的响应。"),
    ("delay_too_long", _WARNING, "origin", (),
     "The robots.txt of {subject} asks for a longer Crawl-delay than politeness.max_crawl_delay, so its pages were "
     "left alone; raise the limit to crawl them.",
     "{subject} の robots.txt の Crawl-delay が politeness.max_crawl_delay を超えるため取得していません。"
     "クロールするには上限を上げてください。",
     "{subject} 的 robots.txt 的 Crawl-delay 超过 politeness.max_crawl_delay，因此未抓取；如要抓取请提高上限。"),
    ("robots_ignored", _WARNING, "crawl", (),
     "robots.txt was not obeyed in this run (robots.obey = false); do this only on a site of your own.",
     "この実行では robots.txt に従っていません（robots.obey = false）。ご自身のサイトでのみ使用してください。",
     "本次运行未遵守 robots.txt（robots.obey = false）；仅可用于您自己的站点。"),
    ("tls_not_verified", _WARNING, "host", (),
     "The certificate of {subject} was not checked (verify = false), so its pages may come from anyone; "
     "give fetch.ca_file instead.",
     "{subject} の証明書を検証していないため（verify = false）、なりすましの可能性があります。代わりに fetch.ca_file を指定してください。",
     "未校验 {subject} 的证书（verify = false），内容可能被冒充；请改用 fetch.ca_file。"),
    ("hash_collision", _NOTE, "href", (),
     "{subject} has the same key as another address; it was stored under a second key and nothing is lost.",
     "{subject} は別のアドレスとキーが同じため、第二のキーで保存しました。失われたデータはありません。",
     "{subject} 与另一个地址的键相同，已用第二个键保存；没有丢失任何数据。"),
    ("refusals_not_listed", _NOTE, "host", ("count",),
     "{count} refused links to {subject} are counted but not listed; raise ledger.refusals_per_host to list them.",
     "{subject} への対象外リンク {count} 件は件数のみ記録しています。一覧にするには ledger.refusals_per_host を上げてください。",
     "指向 {subject} 的 {count} 个被拒链接只计数未列出；如需列出请提高 ledger.refusals_per_host。"),
    ("links_not_checked", _WARNING, "crawl", (),
     "The run reached one of its limits, so links to other sites were not checked, or not all of them "
     "(links.check_external); raise the limit and resume.",
     "実行の上限に達したため、外部リンクの確認（links.check_external）を行っていないか、途中で終わりました。上限を上げて再開してください。",
     "运行已达上限，因此指向其他站点的链接（links.check_external）未检查或未全部检查；请提高上限后继续运行。"),
    ("worker_lost", _WARNING, "process", ("why", "hosts"),
     "Worker process {subject} ended before the run did ({why}). Others took over its {hosts} hosts and nothing is lost, but "
     "what it had asked for and not handed in was asked for again. If it was not you who ended it, look into the machine's memory.",
     "ワーカープロセス {subject} が実行の途中で終了しました（{why}）。担当していた {hosts} ホストは他が引き継ぎ、失われたものはありませんが、未提出の分は再度取得しました。ご自身が終了させたのでなければ、マシンのメモリを確認してください。",
     "工作进程 {subject} 在运行结束前退出（{why}）。其 {hosts} 个主机由其他进程接手，没有丢失任何内容，但尚未提交的部分被重新请求。如果不是您结束的，请检查机器内存。"),
    ("books_unbalanced", _PROBLEM, "crawl", ("faults",),
     "The books do not balance: {faults}. Keep the store file and report this.",
     "帳簿が一致しません：{faults}。保存ファイルを残してご報告ください。",
     "账目不平：{faults}。请保留存储文件并报告。"),
    ("domain_not_listed", _WARNING, "href", ("domain", "terms"),
     'Neither list of top-level domains knows the domain of {subject}, so "{domain}" is used and everything under it is '
     'in scope; add "{terms}" to domains.additional and run the crawl again.',
     "{subject} のドメイン名をどちらの TLD リストからも判定できないため「{domain}」を使い、その配下すべてが範囲に入ります。"
     "domains.additional に「{terms}」を追加して再度クロールしてください。",
     "两个顶级域列表都无法确定 {subject} 的域名，因此使用“{domain}”，其下所有内容都在范围内；请把“{terms}”加入 domains.additional 后重新抓取。"),
    ("generic_list_edited", _WARNING, "crawl", (),
     "The list of generic top-level domains was changed ({subject}), which may change the domain of any host; "
     "add names to domains.additional instead.",
     "汎用 TLD のリスト（{subject}）が変更されています。ドメイン名の判定が変わる可能性があります。追加は domains.additional で行ってください。",
     "通用顶级域列表（{subject}）被修改，可能改变任何主机的域名判定；请改为在 domains.additional 中添加。"),
    ("domain_is_host", _WARNING, "href", ("host",),
     'The host of {subject} has no domain of its own, so same-domain takes the host "{host}" alone; write same-host, '
     "or scope.strict = true to have this refused.",
     "{subject} のホストにはドメインがないため、same-domain はホスト「{host}」だけを対象にします。"
     "same-host と書くか、scope.strict = true で誤りとして扱ってください。",
     "{subject} 的主机没有自己的域名，same-domain 只接受主机“{host}”；请改用 same-host，或设 scope.strict = true 使其报错。"),
    ("second_level_is_suffix", _WARNING, "href", ("host", "label"),
     'The host "{host}" of {subject} is itself a public suffix, so "{label}" is taken for its second-level name; '
     "check that this is the site you meant.",
     "{subject} のホスト「{host}」は公開サフィックスのため、「{label}」を第 2 レベル名とみなします。目的のサイトか確認してください。",
     "{subject} 的主机“{host}”本身是公共后缀，因此把“{label}”当作二级名；请确认这是您要的站点。"),
    ("site_without_seed", _WARNING, "href", (),
     "No seed lies in the site {subject}, so its pages are found only if another page links to them; add it to the seeds.",
     "サイト {subject} の中に開始 URL がないため、他のページからのリンクがない限り見つかりません。開始 URL に追加してください。",
     "站点 {subject} 内没有起始地址，除非其他页面链接到它，否则不会被发现；请把它加入起始地址。"),
    ("hosts_look_alike", _WARNING, "href", ("other",),
     "{subject} and {other} differ by www. alone and are two hosts here; keep the one that your server answers with, "
     "or write www_equivalent = true.",
     "{subject} と {other} は www. の有無だけが異なり、別のホストとして扱われます。"
     "サーバーが使う方だけを残すか、www_equivalent = true と書いてください。",
     "{subject} 与 {other} 只差 www.，在这里是两个主机；请保留服务器实际使用的那个，或写 www_equivalent = true。"),
    ("accept_failed", _PROBLEM, "crawl", ("detail", "url"),
     "The callable that was given as accept raised {subject} on {url} ({detail}), and what it fails on is refused; "
     "mend it and crawl again.",
     "accept に渡された関数が {url} で {subject} を送出しました（{detail}）。失敗した URL は対象外になります。修正して再度クロールしてください。",
     "作为 accept 传入的函数在 {url} 上抛出 {subject}（{detail}），出错的网址都会被拒绝；请修正后重新抓取。"),
    ("extract_failed", _PROBLEM, "crawl", ("count", "url", "detail"),
     "The function that was given as extract failed on {count} pages ({subject}), first on {url}: {detail}. Nothing is kept of "
     "them; mend it and crawl again.",
     "extract に渡された関数が {count} ページで失敗しました（{subject}、最初は {url}）：{detail}。これらのページからは何も保存していません。修正して再度クロールしてください。",
     "作为 extract 传入的函数在 {count} 个页面上失败（{subject}，首个是 {url}）：{detail}。这些页面未保存任何内容；请修正后重新抓取。"),
    ("sitemap_failed", _WARNING, "href", ("ending",),
     "The sitemap {subject} could not be read ({ending}); mend the file, or take its name out of where it is named.",
     "サイトマップ {subject} を読み取れませんでした（{ending}）。ファイルを直すか、記載を取り除いてください。",
     "无法读取站点地图 {subject}（{ending}）；请修正该文件，或删除对它的引用。"),
    ("sitemap_faulty", _WARNING, "href", ("count", "first"),
     "The sitemap {subject} has {count} problems. The first: {first} "
     'All are told by "purlieu report RUN --format sitemaps".',
     "サイトマップ {subject} に {count} 件の問題があります。最初の問題：{first} "
     "すべての問題は「purlieu report RUN --format sitemaps」で確認できます。",
     "站点地图 {subject} 有 {count} 个问题。第一个：{first} 全部问题请用“purlieu report RUN --format sitemaps”查看。"),
    ("no_sitemap", _PROBLEM, "crawl", (),
     "Only what sitemaps name is crawled, and no sitemap was found; name one in robots.txt or in sitemap.files, "
     "or set sitemap.guess = true.",
     "サイトマップにあるアドレスだけが対象ですが、サイトマップが見つかりません。"
     "robots.txt か sitemap.files に書くか、sitemap.guess = true を設定してください。",
     "只抓取站点地图列出的地址，但没有找到站点地图；请在 robots.txt 或 sitemap.files 中写明，或设置 sitemap.guess = true。"),
    ("trap_series", _WARNING, "series", ("rule", "example"),
     "The pages of {subject}, such as {example}, say the same again and again ({rule}), so no more of them were asked for; "
     "if they are real, name them in traps.allow.",
     "{subject}（例：{example}）のページは同じ内容の繰り返しのため（{rule}）、以降は取得していません。"
     "実在するページであれば traps.allow に指定してください。",
     "{subject}（例如 {example}）的页面反复给出相同内容（{rule}），因此不再请求；如果是真实页面，请写入 traps.allow。"),
    ("trap", _WARNING, "host and rule", ("count", "example"),
     "{count} addresses of {subject} look endless, such as {example}, and were not asked for; "
     "if they are real, name them in traps.allow.",
     "{subject} の {count} 件のアドレス（例：{example}）は無限に続くと思われるため取得していません。"
     "実在するページであれば traps.allow に指定してください。",
     "{subject} 的 {count} 个地址（例如 {example}）像是无穷序列，未请求；如果是真实页面，请写入 traps.allow。"),
    ("under_threshold", _WARNING, "crawl", ("pages", "before"),
     "Only {pages} pages were fetched, and {before} last time; check the site before you use this result.",
     "取得は {pages} ページのみで、前回は {before} ページでした。結果を使う前にサイトを確認してください。",
     "只获取了 {pages} 个页面，上次为 {before} 个；使用结果前请检查站点。"),
    ("fewer_pages", _WARNING, "crawl", ("pages", "before"),
     'Only {pages} pages were fetched, less than half of the {before} of last time; see with "purlieu diff" which are '
     "missing and why.",
     "取得は {pages} ページで、前回の {before} ページの半分未満です。「purlieu diff」で失われたページと理由を確認してください。",
     "只获取了 {pages} 个页面，不到上次 {before} 个的一半；请用“purlieu diff”查看缺了哪些页面及原因。"),
    ("all_links_outside", _WARNING, "crawl", ("count", "host"),
     "All {count} links that were found lead out of scope, most of them to {host}; start from there, or widen scope.mode.",
     "見つかったリンク {count} 件はすべて範囲外で、多くは {host} を指しています。そこから開始するか、scope.mode を広げてください。",
     "找到的 {count} 个链接全部在范围之外，多数指向 {host}；请从那里开始，或放宽 scope.mode。"),
    ("mostly_one_ending", _WARNING, "crawl", ("ending", "count", "total"),
     "{count} of {total} pages ended as {ending}; look the ending up in the table of outcomes, which says what to do.",
     "{total} ページ中 {count} ページが {ending} で終わりました。対処は結果の一覧表で確認してください。",
     "{total} 个页面中有 {count} 个以 {ending} 结束；请在结果表中查看应对办法。"),
    ("same_content", _WARNING, "crawl", ("percent", "example"),
     "{percent} % of the pages have the same main content, such as {example}; the server may answer any address with one "
     "template: look at it, and leave such addresses out with filter.exclude.",
     "ページの {percent} % が同じ本文です（例: {example}）。サーバーがどのアドレスにも同じ内容を返している可能性があります。"
     "確認し、filter.exclude で除外してください。",
     "{percent} % 的页面正文相同（例如 {example}）；服务器可能对任何地址都返回同一模板，请查看并用 filter.exclude 排除。"),
    ("same_title", _WARNING, "crawl", ("percent", "example"),
     "{percent} % of the pages have the same title, as {example} has; if it is that of an error or a login, the pages are "
     "not what they should be.",
     "ページの {percent} % が {example} と同じタイトルです。エラーやログインの画面であれば、本来の内容が取得できていません。",
     "{percent} % 的页面标题与 {example} 相同；如果那是错误页或登录页，则未取得应有的内容。"),
    ("seed_forbidden", _WARNING, "href", ("status",),
     "The start address {subject} answered {status}: the server keeps the crawler out; give a login under [[origin]] or "
     "mend the one there, or have the crawler's address or user agent let in.",
     "開始 URL {subject} の応答は {status} です。サーバーがクローラーを拒否しています。[[origin]] にログイン情報を書くか、"
     "すでにあれば直すか、クローラーのアドレスまたはユーザーエージェントを許可してください。",
     "起始地址 {subject} 返回 {status}：服务器拒绝爬虫；请在 [[origin]] 中填写或更正登录信息，或放行爬虫的地址或用户代理。"),
    ("login_failed", _PROBLEM, "origin", ("why",),
     "Nothing more of {subject} was asked for, since nobody is logged in there: {why}.",
     "{subject} にログインできないため、以降は取得していません：{why}。",
     "无法登录 {subject}，因此未再请求其内容：{why}。"),
    ("secret_in_clear", _WARNING, "origin", ("key",),
     "A secret of {subject} stands in the settings as it is ({key}); write env:NAME, file:PATH or keyring:SERVICE/USER there.",
     "{subject} の秘密情報が設定にそのまま書かれています（{key}）。env:NAME、file:PATH、keyring:SERVICE/USER のいずれかで指定してください。",
     "{subject} 的机密以明文写在设置中（{key}）；请改写为 env:NAME、file:PATH 或 keyring:SERVICE/USER。"),
    ("documents_unread", _WARNING, "reason", ("count", "example"),
     "Of {count} documents there is no text, or not all of it ({subject}), such as {example}; the how-to “Use what pages say” "
     "tells what each reason means and what to do.",
     "{count} 件の文書のテキストを取得できないか、一部だけ取得しました（{subject}、例: {example}）。理由の意味と対処は使い方の「Use what pages say」にあります。",
     "有 {count} 个文档没有文本或文本不全（{subject}，例如 {example}）；各原因的含义和处理办法见使用指南“Use what pages say”。"),
    ("after_failed", _WARNING, "crawl", ("what", "why"),
     "What was to be told after the run was not: {what} failed ({why}); the run itself is whole.",
     "実行後の通知に失敗しました: {what}（{why}）。実行結果そのものに問題はありません。",
     "运行后的通知失败：{what}（{why}）；运行结果本身完整。"),
)  # fmt: skip

FINDINGS: Final[dict[str, FindingKind]] = {
    code: FindingKind(code, severity, subject, arguments, (en, ja, zh))
    for code, severity, subject, arguments, en, ja, zh in _TABLE
}
"""Every finding by its code."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a run: its code, what it is about, and the values its sentence shows."""

    code: str
    subject: str = ""
    arguments: Mapping[str, Argument] = field(default_factory=dict, hash=False)

    @property
    def severity(self) -> Severity:
        """Return how much it matters; a code that a newer version wrote is a warning."""
        known = FINDINGS.get(self.code)
        return known.severity if known else Severity.WARNING

    def sentence(self, language: str = "en") -> str:
        """Return the owner's sentence in ``en``, ``ja`` or ``zh`` (any other language gives English).

        A value that is missing shows as ``?``; a code of a newer version shows as it is, with its subject.
        """
        known = FINDINGS.get(self.code)
        if known is None:
            return f"{self.code}: {self.subject}"
        template = known.sentences[LANGUAGES.index(language) if language in LANGUAGES else 0]
        shown = {name: self.arguments.get(name, "?") for name in known.arguments}
        return template.format(subject=self.subject, **shown)
