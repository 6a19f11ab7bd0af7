"""The MF3.0 result file, read back as its reader reads it (MF-1 to MF-53, section 6 of the rules)."""

from __future__ import annotations

import ast
import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.made_store import STARTED_AT, MadeStore

from purlieu import report
from purlieu.errors import StoreError
from purlieu.outcome import MF3_MESSAGES, REASONS
from purlieu.report import crawl_result
from purlieu.report.crawl_result import Absence, headers_literal
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase

A = "https://a.test"
HEADER = (
    '"crawler_version","crawl_url","last_url","is_crawl_ok","crawl_skip_reason","response_headers",'
    '"http_status_code","content_type","last_modified","title"\r\n'
)
DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Return an empty store with one run that is done."""
    made = MadeStore(tmp_path / "purlieu.db")
    yield made
    made.close()


def _member(store: MadeStore, run: int | None = None) -> bytes:
    (path,) = report.write(str(store.path), run or store.run, store.path.parent / "out", ["crawl_result"])
    with zipfile.ZipFile(path) as archive:
        return archive.read("crawl_result_detail.csv")


def _rows(store: MadeStore) -> dict[str, dict[str, str]]:
    """Return the rows by crawl_url; a URL that stands twice is a failure."""
    found = list(csv.DictReader(io.StringIO(_member(store).decode("utf-8-sig"), newline="")))
    rows = {row["crawl_url"]: row for row in found}
    assert len(rows) == len(found)
    return rows


def _row(store: MadeStore, path: str = "/") -> dict[str, str]:
    return _rows(store)[f"{A}{path}"]


def _told(row: dict[str, str]) -> tuple[str, str, str, str]:
    return row["last_url"], row["is_crawl_ok"], row["crawl_skip_reason"], row["http_status_code"]


def test_bytes_of_a_small_file(store: MadeStore) -> None:
    """One BOM, English header, every field quoted, quotes doubled, CRLF, rows by URL (MF-1 to MF-7, AMB-MF-2, AMB-MF-3)."""
    store.page(
        f"{A}/", title='It\'s "new", 新着', headers="Content-Type: text/html\nX-Note: it's\n", content_type="text/html",
        last_modified="Sun, 06 Nov 1994 08:49:37 GMT",
    )  # fmt: skip
    store.entry(f"{A}/gone", "unreachable.timeout")

    expected = (
        HEADER + f'"9.8.7","{A}/","{A}/","true","","{{\'Content-Type\': \'text/html\', \'X-Note\': ""it\'s""}}","200",'
        '"text/html","Sun, 06 Nov 1994 08:49:37 GMT","It\'s ""new"", 新着"\r\n'
        f'"9.8.7","{A}/gone","{A}/gone","false","crawler_batch_00101: Failed to fetch page during crawling.",'
        '"","","","",""\r\n'
    )
    assert _member(store) == b"\xef\xbb\xbf" + expected.encode()


def test_archive(store: MadeStore) -> None:
    """The zip has its name and one deflated member with a fixed time: the same run gives the same bytes (MF-1, AMB-MF-15)."""
    store.page(f"{A}/")
    (path,) = report.write(str(store.path), store.run, store.path.parent / "out", ["crawl_result"])
    first = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        (member,) = archive.infolist()

    assert path.name == "crawl_result_detail.csv.zip"
    assert (member.filename, member.compress_type) == ("crawl_result_detail.csv", zipfile.ZIP_DEFLATED)
    assert member.date_time == (1980, 1, 1, 0, 0, 0)
    report.write(str(store.path), store.run, store.path.parent / "out", ["crawl_result"])
    assert path.read_bytes() == first
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_no_rows(store: MadeStore) -> None:
    """A run without rows gives a file with the header alone (MF-2)."""
    assert _member(store) == b"\xef\xbb\xbf" + HEADER.encode()


@pytest.mark.parametrize("name", [name for name, ending in REASONS.items() if ending.mf3 not in {"landing", ""}])
def test_message_of_each_ending(store: MadeStore, name: str) -> None:
    """Each ending of a page that was requested has its row: true without reason, or false with the exact text (MF-5, MF-6, MF-22)."""
    store.page(f"{A}/", name, 418, content_type="application/pdf")
    code = REASONS[name].mf3
    row = _row(store)

    assert row["crawler_version"] == "9.8.7"
    if code == "ok":
        assert (row["is_crawl_ok"], row["crawl_skip_reason"]) == ("true", "")
    else:
        text = MF3_MESSAGES[code].replace("{status}", "418").replace("{content_class}", "PDF")
        assert (row["is_crawl_ok"], row["crawl_skip_reason"]) == ("false", text)
    assert row["http_status_code"] == ("" if code == "00101" else "418")


def test_texts_word_for_word(store: MadeStore) -> None:
    """The texts of 00202 and 00203 end without a full stop, with class and status filled in (MF-20, MF-24, AMB-MF-6)."""
    store.page(f"{A}/1", "skipped.content_class", content_type="IMAGE/png; q=1")
    store.page(f"{A}/2", "missing.not_found", 404)
    store.page(f"{A}/3", "crashed.crashed", 200)
    rows = _rows(store)

    assert [row["crawl_skip_reason"] for row in rows.values()] == [
        "crawler_batch_00202: Content class is not a target for crawling. content class: IMAGE",
        "crawler_batch_00203: HTTP status code error. Status code: 404",
        "crawler_batch_00204: Exception occurred during crawling process.",
    ]


def test_japanese_texts_for_views() -> None:
    """Column names and reasons have their Japanese forms for views, one for each (MF-51, MF-52)."""
    assert len(crawl_result.COLUMNS_JA) == len(crawl_result.COLUMNS) == 10
    assert crawl_result.MESSAGES_JA.keys() == MF3_MESSAGES.keys()
    assert (
        crawl_result.MESSAGES_JA["00203"].format(status=404) == "HTTPステータスコードエラーです。ステータスコード: 404"
    )


def test_failed_fetch_leaves_columns_empty(store: MadeStore) -> None:
    """A 00101 row has no status, type, headers, date or title, whatever had arrived (MF-23, R-6.2)."""
    store.page(f"{A}/", "unreadable.too_large", 200, last_modified="Sun, 06 Nov 1994 08:49:37 GMT")
    row = _row(store)

    assert _told(row) == (f"{A}/", "false", MF3_MESSAGES["00101"], "")
    assert [row[name] for name in crawl_result.COLUMNS[5:]] == [""] * 5


@pytest.mark.parametrize(
    ("ending", "values", "expected"),
    [
        ("fetched.ok", {"linked": 0}, False),
        ("unchanged.not_due", {"attempts": 0}, True),
        ("unchanged.sitemap_lastmod", {"attempts": 0}, True),
        ("fetched.ok", {"attempts": 0}, True),
        ("excluded.robots", {"attempts": 0}, False),
        ("excluded.robots", {"attempts": 1}, False),
        ("missing.retired", {"attempts": 0}, False),
        ("missing.retired", {"attempts": 1}, True),
        (None, {}, False),
    ],
)
def test_which_pages_have_a_row(store: MadeStore, ending: str | None, values: dict[str, Any], expected: bool) -> None:
    """A row is for what a seed, link or sitemap named and the run requested or knows unchanged (R-6.2, R-1.3, AMB-MF-14)."""
    store.entry(f"{A}/", ending, **values)

    assert bool(_rows(store)) is expected


def test_robots_sitemaps_and_refusals_have_no_row(store: MadeStore) -> None:
    """Only pages stand in the file: no robots.txt, no sitemap file, no refused URL (R-6.2)."""
    store.entry(f"{A}/robots.txt", purpose="robots")
    store.entry(f"{A}/sitemap.xml", purpose="sitemap")
    store.refusal("https://b.test/")

    assert _rows(store) == {}


@pytest.mark.parametrize(("status", "code"), [(None, "00101"), (503, "00203"), (429, "00203"), (200, "00101")])
def test_asked_and_then_left(store: MadeStore, status: int | None, code: str) -> None:
    """A page that was asked and left before its end has a row by its last answer; one never asked has none (R-6.2)."""
    store.entry(f"{A}/asked", None, attempts=1, status=status)
    store.entry(f"{A}/never", None)
    store.update_run(state="stopped", stop_reason="interrupted")
    rows = _rows(store)

    assert list(rows) == [f"{A}/asked"]
    assert rows[f"{A}/asked"]["crawl_skip_reason"] == MF3_MESSAGES[code].format(status=status)


def test_redirect_shows_where_it_lands(store: MadeStore) -> None:
    """A redirected row has the URL as found, the last URL and the response of the landing (MF-10, MF-50, R-2.5)."""
    store.redirect(f"{A}/", f"{A}/1")
    store.redirect(f"{A}/1", f"{A}/2", "redirected.temporary", 302, linked=0)
    store.page(f"{A}/2", title="Landed", headers="X: landed\n", content_type="text/html", entry={"linked": 0})
    rows = _rows(store)

    assert list(rows) == [f"{A}/"]
    assert _told(rows[f"{A}/"]) == (f"{A}/2", "true", "", "200")
    assert [rows[f"{A}/"][name] for name in ("response_headers", "content_type", "title")] == [
        "{'X': 'landed'}",
        "text/html",
        "Landed",
    ]


def test_refresh_is_a_redirect(store: MadeStore) -> None:
    """A meta refresh counts as a redirect: the row shows its landing (MF-37)."""
    store.page(f"{A}/", "redirected.meta_refresh", title="Wait", entry={"redirect_to": f"{A}/1"})
    store.page(f"{A}/1", title="Landed")

    assert (_row(store)["last_url"], _row(store)["title"]) == (f"{A}/1", "Landed")


@pytest.mark.parametrize(
    ("ending", "status", "code"),
    [
        ("missing.not_found", 404, "00203"),
        ("server_error.5xx", 503, "00203"),
        ("unreachable.dns", None, "00101"),
        ("skipped.content_class", 200, "00202"),
        ("misdirected.bad_location", 302, "00101"),
        ("crashed.crashed", None, "00204"),
    ],
)
def test_redirect_that_lands_badly(store: MadeStore, ending: str, status: int | None, code: str) -> None:
    """A redirected row fails as its landing failed, with that one's status (R-6 redirected, MF-24)."""
    store.redirect(f"{A}/", f"{A}/1")
    store.entry(f"{A}/1", ending, status=status)
    row = _row(store)

    assert row["last_url"] == f"{A}/1"
    assert row["crawl_skip_reason"] == MF3_MESSAGES[code].format(status=status, content_class="HTML")
    assert row["http_status_code"] == ("" if code == "00101" or status is None else str(status))


def test_redirect_to_what_was_left(store: MadeStore) -> None:
    """A page was asked whose landing never was: the row says that it could not be fetched; the landing has none (R-6.2)."""
    store.redirect(f"{A}/", f"{A}/1")
    store.entry(f"{A}/1", None)

    assert _told(_row(store)) == (f"{A}/1", "false", MF3_MESSAGES["00101"], "")
    assert len(_rows(store)) == 1


@pytest.mark.parametrize("settled", [True, False])
def test_redirect_out_of_range(store: MadeStore, settled: bool) -> None:
    """A chain that leaves the range gives 00201 with the target as last_url and the last answer's status (R-6, MF-23)."""
    store.redirect(f"{A}/", f"{A}/1", "misdirected.out_of_scope" if settled else "redirected.permanent")
    store.redirect(f"{A}/1", "https://b.test/", "misdirected.out_of_scope" if settled else "redirected.temporary", 302)
    store.refusal("https://b.test/")
    row = _row(store)

    assert _told(row) == ("https://b.test/", "false", MF3_MESSAGES["00201"], "302")
    assert "'Location': 'https://b.test/'" in row["response_headers"]


def test_redirect_to_what_robots_forbids(store: MadeStore) -> None:
    """A target that robots.txt forbids is out of range, and has no row itself (R-3.3, AMB-MF-14)."""
    store.redirect(f"{A}/", f"{A}/private")
    store.entry(f"{A}/private", "excluded.robots", attempts=0)

    assert _told(_row(store)) == (f"{A}/private", "false", MF3_MESSAGES["00201"], "301")
    assert len(_rows(store)) == 1


@pytest.mark.parametrize("settled", [True, False])
def test_loop_and_too_many(store: MadeStore, settled: bool) -> None:
    """A loop and an eleventh redirect give 00205 with the last address asked (AMB-MF-5, R-6)."""
    store.redirect(f"{A}/loop", f"{A}/pool", "misdirected.loop" if settled else "redirected.permanent")
    store.redirect(f"{A}/pool", f"{A}/loop", "misdirected.loop" if settled else "redirected.permanent", linked=0)
    for n in range(11):
        ending = "misdirected.too_many" if settled and n == 0 else "redirected.permanent"
        store.redirect(f"{A}/{n}", f"{A}/{n + 1}", ending, linked=int(n in {0, 1}))
    store.page(f"{A}/11", entry={"linked": 0})
    rows = _rows(store)

    assert _told(rows[f"{A}/loop"]) == (f"{A}/pool", "false", MF3_MESSAGES["00205"], "301")
    assert _told(rows[f"{A}/0"]) == (f"{A}/10", "false", MF3_MESSAGES["00205"], "301")
    assert _told(rows[f"{A}/1"]) == (f"{A}/11", "true", "", "200")


def test_limit_of_redirects_is_the_run_s(store: MadeStore) -> None:
    """How many redirects are too many is what the run was told (AMB-MF-5)."""
    run = store.add_run(toml="[limits]\nmax_redirects = 1\n")
    store.entry(f"{A}/", "redirected.permanent", run=run, redirect_to=f"{A}/1")
    store.entry(f"{A}/1", "redirected.permanent", run=run, redirect_to=f"{A}/2", linked=0)
    store.entry(f"{A}/2", "fetched.ok", run=run, linked=0)

    assert MF3_MESSAGES["00205"].encode() in _member(store, run)


@pytest.mark.parametrize(
    ("target", "values", "honoured"),
    [
        ("fetched.ok", {}, True),
        ("unchanged.not_modified", {}, True),
        ("fetched.ok", {"canonical": f"{A}/c"}, True),
        ("fetched.ok", {"canonical": f"{A}/other"}, False),
        ("missing.not_found", {}, False),
        ("redirected.permanent", {}, False),
        ("excluded.robots", {}, False),
        (None, {}, False),
    ],
)
def test_canonical_in_range(store: MadeStore, target: str | None, values: dict[str, Any], honoured: bool) -> None:
    """last_url is the canonical only if the run fetched it or knows it unchanged, and it names no other (AMB-MF-4, ST-33)."""
    store.page(f"{A}/", canonical=f"{A}/c", title="Mine")
    if target:
        store.page(f"{A}/c", target, **values)
    row = _row(store)

    assert _told(row) == (f"{A}/c" if honoured else f"{A}/", "true", "", "200")
    assert row["title"] == "Mine"


def test_canonical_of_another_site(store: MadeStore) -> None:
    """A canonical out of range is no 00201: the redirect's target stands (AMB-MF-4)."""
    store.redirect(f"{A}/", f"{A}/1")
    store.page(f"{A}/1", canonical="https://b.test/")
    store.refusal("https://b.test/")

    assert _told(_row(store)) == (f"{A}/1", "true", "", "200")


def test_canonical_after_redirect(store: MadeStore) -> None:
    """Redirects come first, then the canonical of the landing (MF-10)."""
    store.redirect(f"{A}/", f"{A}/1")
    store.page(f"{A}/1", canonical=f"{A}/c")
    store.page(f"{A}/c")

    assert _row(store)["last_url"] == f"{A}/c"


@pytest.mark.parametrize(
    ("content_type", "title"),
    [
        ("text/html", "T"),
        ("application/xhtml+xml; charset=utf-8", "T"),
        ("TEXT/HTML", "T"),
        (None, "T"),
        ("application/pdf", ""),
        ("application/msword", ""),
    ],
)
def test_title_of_html_only(store: MadeStore, content_type: str | None, title: str) -> None:
    """A title is an HTML page's; PDF, Office and the rest have none (MF-9, AMB-MF-13)."""
    store.page(f"{A}/", content_type=content_type, title="T")

    assert (_row(store)["title"], _row(store)["content_type"]) == (title, content_type or "")


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        (None, ""),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Sun, 06 Nov 1994 17:49:37 +0900", "Sun, 06 Nov 1994 17:49:37 +0900"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("last week", ""),
    ],
)
def test_last_modified(store: MadeStore, header: str | None, shown: str) -> None:
    """last_modified is in RFC 2822 form or empty (MF-8, AMB-MF-9, AMB-MF-10)."""
    store.page(f"{A}/", last_modified=header)

    assert _row(store)["last_modified"] == shown


def test_unchanged_shows_the_stored_response(store: MadeStore) -> None:
    """An unchanged page has the columns of the response that is stored, not those of the 304 (R-6 unchanged)."""
    store.entry(f"{A}/", "unchanged.not_modified", status=304)
    store.response(f"{A}/", 200, title="Kept")

    assert _told(_row(store)) == (f"{A}/", "true", "", "200")
    assert _row(store)["title"] == "Kept"


def test_headers_read_back() -> None:
    """Duplicates are joined in order of arrival by a comma, Set-Cookie by a line break (MF-7, AMB-MF-8)."""
    stored = "Vary: a\nSet-Cookie: x=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT\nvary: b\nset-cookie: y='2'\nEmpty: \nX: a: \"b\"\n"

    assert ast.literal_eval(headers_literal(stored)) == {
        "Vary": "a, b",
        "Set-Cookie": "x=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT\ny='2'",
        "Empty": "",
        "X": 'a: "b"',
    }


def test_headers_are_split_at_line_feeds_only() -> None:
    """Characters that Python's splitlines takes for line ends stay in their value (MF-7)."""
    value = "a\x0bb\x0cc\x1cd\x85e\u2028f\rg\x00h"

    assert ast.literal_eval(headers_literal(f"X: {value}\nY: z\n")) == {"X": value, "Y": "z"}


_HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    "\"',\r\n\0\\{}=\ufeff\x85", max_size=12
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(_HOSTILE, max_size=5),
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=5),
)
def test_any_text_comes_back(titles: list[str], values: list[str]) -> None:
    """NUL, control characters, lone quotes and line breaks survive the way through the file (ST-52, MF-7)."""
    literal = headers_literal("".join(f"X-{n}: {value}\n" for n, value in enumerate(values)))
    table = [("v", "u", "u", "true", "", literal, "200", "t", "", title) for title in titles]
    data = b"".join(crawl_result.csv_bytes(table))
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))

    assert tuple(header) == crawl_result.COLUMNS
    assert [tuple(row) for row in rows] == table
    assert ast.literal_eval(literal) == {f"X-{n}": value for n, value in enumerate(values)}


def test_hostile_page_in_the_store(store: MadeStore) -> None:
    """A title with NUL and quotes goes through store and zip unharmed, and the next row stands whole (ST-52)."""
    hostile = 'a\0b"c\r\n"d,\x07\x1b[31m=1+1'
    store.page(f"{A}/1", title=hostile, headers=f"X: {chr(0)}\x7f\n")
    store.page(f"{A}/2")
    rows = _rows(store)

    assert rows[f"{A}/1"]["title"] == hostile
    assert ast.literal_eval(rows[f"{A}/1"]["response_headers"]) == {"X": "\0\x7f"}
    assert rows[f"{A}/2"]["title"] == "A title"


def _run_row(store: MadeStore) -> RunRow:
    database = SqliteDatabase.reader(str(store.path))
    try:
        row = Reader(database).run(store.run)
    finally:
        database.close()
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("state", "reason"),
    [("done", None), ("stopped", None), ("failed", Absence.STOPPED_BY_SYSTEM), ("running", Absence.RUNNING)],
)
def test_no_file_of_a_run_stopped_by_the_system(store: MadeStore, state: str, reason: Absence | None) -> None:
    """A run stopped by the system has no file, not even an older one; one stopped by its owner has (MF-30, R-8.1)."""
    store.page(f"{A}/")
    folder = store.path.parent / "out"
    folder.mkdir()
    old = folder / "crawl_result_detail.csv.zip"
    old.write_bytes(b"old")
    store.update_run(state=state)
    files = report.write(str(store.path), store.run, folder, ["crawl_result", "csv"])

    assert [file.name for file in files] == ["ledger.csv"] if reason else [old.name, "ledger.csv"]
    assert old.exists() is (reason is None)
    assert crawl_result.absence(_run_row(store)) is reason
    assert crawl_result.available(_run_row(store), STARTED_AT + DAY) is reason


@pytest.mark.parametrize(("after", "reason"), [(60 * DAY, None), (60 * DAY + 1, Absence.TOO_OLD)])
def test_downloads_end_after_sixty_days(store: MadeStore, after: float, reason: Absence | None) -> None:
    """Sixty days after the end of the run the file is there, a second later it is not (MF-31, AMB-MF-12, R-8.4)."""
    row = _run_row(store)

    assert row.ended_at is not None
    assert crawl_result.available(row, row.ended_at + after) is reason


def test_absence_is_said_in_three_languages() -> None:
    """Each absence has three sentences; the owner is told to run the crawl again (MF-30, MF-31)."""
    for why in Absence:
        assert len({why.sentence(language) for language in ("en", "ja", "zh")}) == 3
    assert "run the crawl again" in Absence.STOPPED_BY_SYSTEM.sentence()


def test_folder_that_cannot_be_written(store: MadeStore, tmp_path: Path) -> None:
    """A folder that is none gives a message with the file's name and a remedy, and the store is as it was."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StoreError, match=r"crawl_result_detail\.csv\.zip.*--output"):
        report.write(str(store.path), store.run, tmp_path / "file", ["crawl_result"])


def test_failure_in_the_middle_leaves_the_old_file(store: MadeStore) -> None:
    """A file is replaced whole or not at all, and no part of a new one stays."""
    store.page(f"{A}/")
    folder = store.path.parent / "out"
    (path,) = report.write(str(store.path), store.run, folder, ["crawl_result"])
    whole = path.read_bytes()
    store.connection.execute("UPDATE entry SET reason = 'unheard_of'")

    with pytest.raises(KeyError):
        report.write(str(store.path), store.run, folder, ["crawl_result"])
    assert path.read_bytes() == whole
    assert [file.name for file in folder.iterdir()] == [path.name]
