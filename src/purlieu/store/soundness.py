"""Whether the rows of a store hold together: every rule that the program relies on, asked of the store.

Knows each rule's code and its sentence in three languages. Mends nothing, and knows nothing of
files, pages and logs: whether the database itself is whole is the backend's to say.
"""

# one rule, one row: a table is read across
from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from purlieu.outcome import LANGUAGES
from purlieu.store.database import Database
from purlieu.store.outlinks import lines
from purlieu.value import dataclass

DAY_SECONDS: Final = 86_400.0
YEAR_SECONDS: Final = 366 * DAY_SECONDS

SENTENCES: Final[dict[str, tuple[str, str, str]]] = {
    "file": (
        "the file is damaged: {example}",
        "ファイルが破損しています: {example}",
        "文件已损坏:{example}",
    ),
    "run_missing": (
        "run {run}: {count} URLs belong to a run that is not there, such as {example}",
        "実行 {run}: 存在しない実行に属する URL が {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个 URL 属于不存在的运行,例如 {example}",
    ),
    "host_missing": (
        "run {run}: {count} URLs have no row for their host, such as {example}",
        "実行 {run}: ホストの行がない URL が {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个 URL 缺少主机记录,例如 {example}",
    ),
    "run_host_missing": (
        "run {run}: {count} URLs have no row for their host in this run, such as {example}",
        "実行 {run}: この実行でのホストの行がない URL が {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个 URL 在此运行中缺少主机记录,例如 {example}",
    ),
    "run_host_alone": (
        "run {run}: {count} hosts take part in it that are not there (numbers {example})",
        "実行 {run}: 存在しないホストが {count} 件含まれています(番号 {example})",
        "运行 {run}:包含 {count} 个不存在的主机(编号 {example})",
    ),
    "origin_missing": (
        "run {run}: {count} URLs have no row for their robots.txt, such as {example}",
        "実行 {run}: robots.txt の行がない URL が {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个 URL 缺少 robots.txt 记录,例如 {example}",
    ),
    "never_due": (
        "run {run}: {count} URLs wait, but their host would never be asked, such as {example}",
        "実行 {run}: 待機中なのにホストが呼ばれない URL が {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个 URL 在等待,但其主机永远不会被请求,例如 {example}",
    ),
    "robots_never_due": (
        "run {run}: {count} origins wait for a robots.txt that would never be asked for, such as {example}",
        "実行 {run}: 取得されない robots.txt を待つオリジンが {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个源在等待永远不会被请求的 robots.txt,例如 {example}",
    ),
    "counters": (
        "run {run}: it counted otherwise than what is there, by {count} ({example})",
        "実行 {run}: 集計と保存内容が {count} 件食い違います({example})",
        "运行 {run}:计数与实际内容相差 {count}({example})",
    ),
    "counters_unreadable": (
        "run {run}: its counters cannot be read",
        "実行 {run}: カウンターを読み取れません",
        "运行 {run}:无法读取其计数",
    ),
    "books_missing": (
        "run {run}: it has ended and has no books",
        "実行 {run}: 終了していますが帳簿がありません",
        "运行 {run}:已结束但没有账目",
    ),
    "books_unbalanced": (
        "run {run}: its books do not balance ({example})",
        "実行 {run}: 帳簿が一致しません({example})",
        "运行 {run}:账目不平({example})",
    ),
    "config_missing": (
        "run {run}: the settings it was made with are not there",
        "実行 {run}: 実行時の設定がありません",
        "运行 {run}:缺少运行时使用的设置",
    ),
    "crawl_missing": (
        "run {run}: the crawl it belongs to is not there",
        "実行 {run}: 属するクロールがありません",
        "运行 {run}:缺少所属的抓取任务",
    ),
    "finished_undone": (
        "run {run}: it has finished, yet {count} URLs were never asked for, such as {example}",
        "実行 {run}: 完了しましたが、取得されなかった URL が {count} 件あります(例: {example})",
        "运行 {run}:已完成,但有 {count} 个 URL 从未请求,例如 {example}",
    ),
    "response_alone": (
        "run {run}: {count} responses belong to URLs that are not there",
        "実行 {run}: 対応する URL のない応答が {count} 件あります",
        "运行 {run}:有 {count} 个响应没有对应的 URL",
    ),
    "dates": (
        "{count} times cannot be right: {example}",
        "あり得ない日時が {count} 件あります: {example}",
        "有 {count} 个时间不可能正确:{example}",
    ),
    "outlinks": (
        "run {run}: the links of {count} pages cannot be read, such as {example}",
        "実行 {run}: リンクを読み取れないページが {count} 件あります(例: {example})",
        "运行 {run}:有 {count} 个页面的链接无法读取,例如 {example}",
    ),
}
"""Every rule: what is said where it is broken, in English, Japanese, Simplified Chinese."""

RULES: Final = (
    "sound_entries",
    "sound_run_hosts",
    "sound_origins",
    "sound_due",
    "sound_robots",
    "sound_counters",
    "sound_runs",
    "sound_finished",
    "sound_responses",
)


@dataclass(frozen=True, slots=True)
class Unsound:
    """One rule that does not hold: its code, the run it concerns (None: all), how often, and an example."""

    code: str
    run: int | None
    count: int
    example: str

    def sentence(self, language: str = "en") -> str:
        """Return what is wrong, in en, ja or zh."""
        text = SENTENCES[self.code][LANGUAGES.index(language)]
        return text.format(run=self.run, count=self.count, example=self.example)


def faults(database: Database, now: float) -> Iterator[Unsound]:
    """Yield every rule that the rows break, in the order of ``RULES``; none for a sound store."""
    for name in RULES:
        for code, run, count, example in database.rows(name):
            yield Unsound(code, run, int(count), str(example))
    for code, run, count, example in database.rows("sound_dates", now + DAY_SECONDS, now + YEAR_SECONDS):
        yield Unsound(code, run, int(count), str(example))
    yield from _outlinks(database)


def _outlinks(database: Database) -> Iterator[Unsound]:
    """Read every page's links, which also reads the largest part of the file."""
    bad: dict[int, tuple[int, str]] = {}
    last = (-1, -1, -(2**63))
    while rows := list(database.rows("sound_outlinks", *last)):
        last = rows[-1][:3]
        for *_, href, blob, run in rows:
            try:
                lines(blob)
            except (zlib.error, UnicodeDecodeError, TypeError):
                count, example = bad.get(run, (0, href))
                bad[run] = (count + 1, example)
    for run, (count, example) in sorted(bad.items()):
        yield Unsound("outlinks", run, count, example)
