"""The MF3.0 result file ``crawl_result_detail.csv.zip`` (MF-1 to MF-53), byte for byte.

Knows the file's columns, messages and dialect, and which rows it has (R-6.2). What the
endings mean stands in ``outcome.py``; the ledger, not this file, is the whole truth of a run.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

from purlieu.landing import LandingKind
from purlieu.outcome import LANGUAGES, MF3_MESSAGES, REASONS
from purlieu.report.destination import Destinations
from purlieu.report.last_modified import is_older, rfc2822
from purlieu.report.whole_file import remove, replacing
from purlieu.response import content_class
from purlieu.settings.reading import tables
from purlieu.store.reader import Reader, RunRow, VisitRow

ZIP_NAME: Final = "crawl_result_detail.csv.zip"
MEMBER_NAME: Final = "crawl_result_detail.csv"
COLUMNS: Final = (
    "crawler_version",
    "crawl_url",
    "last_url",
    "is_crawl_ok",
    "crawl_skip_reason",
    "response_headers",
    "http_status_code",
    "content_type",
    "last_modified",
    "title",
)
"""Column names in the file's order (MF-4)."""
COLUMNS_JA: Final = (
    "クローラバージョン",
    "クロールURL",
    "最終URL",
    "クロール成否",
    "クロールスキップ理由",
    "レスポンスヘッダ",
    "HTTPステータスコード",
    "コンテンツ種別",
    "last_modified",
    "タイトル",
)
"""The same in Japanese, for views; the file itself has the English names (MF-51, AMB-MF-2)."""
MESSAGES_JA: Final = {
    "00101": "クロール中にページの取得に失敗しました。",
    "00201": "最終URLがクロール対象外です。",
    "00202": "コンテンツクラスがクロール対象外です。コンテンツクラス: {content_class}",
    "00203": "HTTPステータスコードエラーです。ステータスコード: {status}",
    "00204": "クロール処理中に例外が発生しました。",
    "00205": "規定回数以上リダイレクトが発生しました。",
}
"""The reasons in Japanese, for views (MF-52)."""
KEPT_DAYS: Final = 60

_OF_LANDING = {LandingKind.OUT_OF_SCOPE: "00201", LandingKind.LOOP: "00205", LandingKind.TOO_MANY: "00205"}
_ROWS_AT_ONCE = 1_000
# A zip member of unknown size must say beforehand whether it may pass 2 GiB. Readers of 1990s make know no
# other form, so the long one is kept for runs that could need it: half a million rows of 4 KiB.
_LONG_FORM_ROWS = 500_000


class Absence(StrEnum):
    """Why a run has no result file."""

    STOPPED_BY_SYSTEM = "stopped_by_system"
    RUNNING = "running"
    TOO_OLD = "too_old"
    PRUNED = "pruned"

    def sentence(self, language: str = "en") -> str:
        """Return what the owner is told, in ``en``, ``ja`` or ``zh``."""
        return _ABSENCES[self][LANGUAGES.index(language) if language in LANGUAGES else 0]


_ABSENCES: Final = {
    Absence.STOPPED_BY_SYSTEM: (
        "The run was stopped by the system, so it has no crawl result; wait a little and run the crawl again.",
        "システムによる停止のため、クロール結果は出力されません。少し時間をおいてから、再度クロール実行をお試しください。",
        "运行被系统停止，没有抓取结果；请稍候再次运行抓取。",
    ),
    Absence.RUNNING: (
        "The run has not ended; wait for its end, or resume it if it was killed.",
        "実行が終了していません。終了を待つか、強制終了された場合は再開してください。",
        "运行尚未结束；请等待结束，若被强行终止请继续运行。",
    ),
    Absence.TOO_OLD: (
        "The crawl result is older than it is kept; run the crawl again.",
        "クロール結果の保管期限を超えています。再度クロール実行をお試しください。",
        "抓取结果已超过保存期限；请再次运行抓取。",
    ),
    Absence.PRUNED: (
        "The ledger of the run was pruned (retention.ledger_runs), so it has no crawl result; run the crawl again.",
        "台帳が削除されたため（retention.ledger_runs）、クロール結果はありません。再度クロール実行をお試しください。",
        "运行的台账已按 retention.ledger_runs 清理，无法生成抓取结果；请再次运行抓取。",
    ),
}


def absence(run: RunRow) -> Absence | None:
    """Return why no file can be made of a run, None when one can (MF-30, R-8.1)."""
    if run.state == "failed":
        return Absence.STOPPED_BY_SYSTEM
    if run.state == "running":
        return Absence.RUNNING
    return Absence.PRUNED if run.pruned_at is not None else None


def available(run: RunRow, now: float, kept_days: int = KEPT_DAYS) -> Absence | None:
    """Return why a run's file may not be downloaded ``now`` (seconds since the epoch), None when it may.

    The days count from the run's end (MF-31); exactly as many are still kept (AMB-MF-12). -1 is for ever.
    """
    missing = absence(run)
    if missing is None and kept_days >= 0 and is_older(run.ended_at or run.started_at, now, kept_days):
        return Absence.TOO_OLD
    return missing


def kept_days(reader: Reader, run: RunRow) -> int:
    """Return for how many days the file of a run may be written: ``retention.result_days`` of its settings."""
    try:
        days = tables(reader.config(run))["retention"]["result_days"]
    except (KeyError, TypeError):
        return KEPT_DAYS
    return days if isinstance(days, int) else KEPT_DAYS


def write(reader: Reader, run: RunRow, path: Path) -> Absence | None:
    """Write a run's zip file to ``path``, whole or not at all; return why there is none, None when it was written.

    A file of that name is replaced, and removed where the run has no result. Raises StoreError.
    """
    missing = absence(run)
    if missing is not None:
        remove(path)
        return missing
    member = zipfile.ZipInfo(MEMBER_NAME, date_time=(1980, 1, 1, 0, 0, 0))  # AMB-MF-15: the same run, the same bytes
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    member.create_system = 3
    long_form = reader.entry_count(run) > _LONG_FORM_ROWS
    with (
        replacing(path) as file,
        zipfile.ZipFile(file, "w") as archive,
        archive.open(member, "w", force_zip64=long_form) as text,
    ):
        for piece in csv_bytes(rows(reader, run)):
            text.write(piece)
    return None


def csv_bytes(table: Iterable[tuple[str, ...]]) -> Iterator[bytes]:
    """Yield the member's bytes: BOM, header, rows; every field quoted, CRLF (MF-2, MF-3, AMB-MF-3)."""
    yield b"\xef\xbb\xbf" + _line(COLUMNS).encode()
    remaining = iter(table)
    while lines := [_line(row) for row in islice(remaining, _ROWS_AT_ONCE)]:
        yield "".join(lines).encode()


def _line(row: tuple[str, ...]) -> str:
    """Quote every field; csv.writer looks at each character and takes eight times as long."""
    return '"' + '","'.join([field.replace('"', '""') for field in row]) + '"\r\n'


def rows(reader: Reader, run: RunRow) -> Iterator[tuple[str, ...]]:
    """Yield the file's rows in the order of ``COLUMNS``, by host name and URL."""
    destinations = Destinations(reader, run)
    for visit in reader.asked_pages(run):
        code, last_url, answer = _resolved(destinations, visit)
        if code:
            yield _row(run.version, visit.href, last_url, code, answer)


def _resolved(destinations: Destinations, visit: VisitRow) -> tuple[str, str, VisitRow]:
    """Return the MF3.0 code ("ok", or "" for no row), last_url, and the visit whose response the row shows."""
    if not visit.redirect_to:
        code = _code(visit)
        return code, destinations.canonical(visit.href, visit.canonical) if code == "ok" else visit.href, visit
    landing = destinations.landing_of(visit)
    answer = landing.row or visit
    if visit.kind == "misdirected":  # settled at the end of the run, by the same walk
        code = REASONS[f"{visit.kind}.{visit.reason}"].mf3
    else:
        code = _OF_LANDING.get(landing.kind) or _code(answer) or _unresolved(answer)
    return code, destinations.last_url(landing), answer


def _code(visit: VisitRow) -> str:
    """Return the MF3.0 code of an ending, "" when its URL was never asked for."""
    code = REASONS[f"{visit.kind}.{visit.reason}"].mf3 if visit.kind != "due" else ""
    if code == "landing":  # a redirect that leads nowhere is no page either
        return "00101"
    return code or (_unresolved(visit) if visit.attempts else "")


def _unresolved(visit: VisitRow) -> str:
    """Return the code of a URL that was asked for, or redirected to, and left before it had an ending of its own."""
    return "00203" if (visit.status or 0) >= 400 else "00101"


def _row(version: str, crawl_url: str, last_url: str, code: str, answer: VisitRow) -> tuple[str, ...]:
    if code == "00101":  # MF-23
        return version, crawl_url, last_url, "false", MF3_MESSAGES[code], "", "", "", "", ""
    found = content_class(answer.content_type)
    status = "" if answer.status is None else str(answer.status)
    return (
        version,
        crawl_url,
        last_url,
        "true" if code == "ok" else "false",
        "" if code == "ok" else MF3_MESSAGES[code].format(content_class=found, status=status),
        "" if answer.headers is None else headers_literal(answer.headers),
        status,
        answer.content_type or "",
        rfc2822(answer.last_modified, answer.fetched_at or 0.0) if answer.last_modified else "",
        (answer.title or "") if found == "HTML" else "",
    )


def headers_literal(headers: str) -> str:
    r"""Return stored headers (``Name: value`` lines ended by ``\n``) as a Python dictionary literal (MF-7).

    ``ast.literal_eval`` reads it back. A name that comes again, in whatever case, is joined to its first value:
    by ", ", Set-Cookie by a line break, since cookies hold commas (AMB-MF-8).
    """
    # Not splitlines(): a value may hold U+0085 and other characters that it takes for line ends.
    pairs = [line.partition(": ") for line in headers.split("\n") if line]
    found = {name: value for name, _, value in pairs}
    if len(set(map(str.lower, found))) == len(pairs):
        return repr(found)
    found.clear()
    names: dict[str, str] = {}
    for name, _, value in pairs:
        key = names.setdefault(name.lower(), name)
        joint = "\n" if name.lower() == "set-cookie" else ", "
        found[key] = f"{found[key]}{joint}{value}" if key in found else value
    return repr(found)
