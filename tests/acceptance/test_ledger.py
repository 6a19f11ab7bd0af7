"""The ledger files: one set of rows in every format."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_store import MadeStore

from purlieu import report
from purlieu.errors import SettingsError, StoreError
from purlieu.report import column, ledger
from purlieu.report.column import COLUMNS, NAMES
from purlieu.row import iso8601

A = "https://a.test"
FORMATS = ("csv", "jsonl", "parquet")
# House.md, "Public faces": other programs rely on these, in this order.
PROMISED = [
    "run", "url", "purpose", "kind", "reason", "status", "last_url", "redirect_to", "canonical", "content_type", "title", "lang",
    "depth", "via", "found_by", "site", "rule", "attempts", "fetched_at", "bytes", "seconds", "indexable", "index_reason",
    "last_modified", "etag", "digest", "in_sitemap", "address", "version",
]  # fmt: skip
HOSTILE = 'a\0b"c\r\n"d,\u2028e\x85f\x0cg\ufeff,=1+1\x1b'
Row = dict[str, Any]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Return an empty store with one run that is done."""
    made = MadeStore(tmp_path / "purlieu.db")
    yield made
    made.close()


@pytest.fixture
def full(store: MadeStore) -> MadeStore:
    """Return a store with a row of every sort."""
    store.page(f"{A}/", lang="ja", etag='"x"', digest="d", last_modified="yesterday", entry={"found_by": "seed"})
    store.page(f"{A}/hostile", title=HOSTILE, content_type=" text/html ", canonical=f"{A}/", index_reason="canonical")
    store.redirect(f"{A}/moved", f"{A}/hostile", via=f"{A}/", depth=1, hops=1)
    store.entry(f"{A}/never", None)
    store.entry(f"{A}/broken", "unreachable.dns", detail="no such host", site=None, nofollow=1)
    store.entry(f"{A}/robots.txt", purpose="robots", linked=0)
    store.entry(f"{A}/sitemap.xml", purpose="sitemap", linked=0)
    store.page("https://xn--wgv71a.test/", title="新着情報")
    store.refusal("https://b.test/")
    store.refusal("not a url", "invalid_url", "invalid-url")
    return store


def _write(store: MadeStore, form: str, language: str = "en") -> Path:
    (path,) = report.write(str(store.path), store.run, store.path.parent / "out", [form], language)
    return path


def _of_csv(text: str, kind: str) -> Any:
    """Read a CSV cell by its column's type."""
    if text == "":
        return None
    if kind == "truth":
        return {"true": True, "false": False}[text]
    return {"integer": int, "number": float}.get(kind, str)(text)


def _read(store: MadeStore, form: str) -> list[Row]:
    path = _write(store, form)
    if form == "parquet":
        rows: list[Row] = pq.read_table(path).to_pylist()
        return rows
    text = path.read_bytes().decode()
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    types = {one.name: one.type for one in COLUMNS}
    read = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: _of_csv(value, types[name]) for name, value in row.items()} for row in read]


def _row(store: MadeStore, path: str = "/") -> Row:
    (row,) = [row for row in _read(store, "jsonl") if row["url"] == f"{A}{path}"]
    return row


@pytest.mark.parametrize("form", FORMATS)
def test_formats_agree_row_by_row(full: MadeStore, form: str) -> None:
    """CSV, JSON lines and Parquet hold the same rows with the same values in the same order."""
    rows = _read(full, form)

    assert rows == _read(full, "jsonl")
    assert len(rows) == 10
    assert all(tuple(row) == NAMES for row in rows)


def test_promised_columns_come_first() -> None:
    """The promised columns stand first and in their order; what is new comes after them, once each."""
    assert list(NAMES[: len(PROMISED)]) == PROMISED
    assert len(set(NAMES)) == len(NAMES)


def test_order_of_rows(full: MadeStore) -> None:
    """Rows come by host name, then purpose, then URL, whatever the order in which they were found."""
    keys = [(row["host"] or "", row["purpose"], row["url"]) for row in _read(full, "csv")]

    assert keys == sorted(keys)


def test_hostile_text_comes_back(full: MadeStore) -> None:
    """NUL, quotes and line ends of every sort survive in each format, as they are (ST-51, ST-52)."""
    for form in FORMATS:
        (row,) = [row for row in _read(full, form) if row["url"] == f"{A}/hostile"]
        assert row["title"] == HOSTILE


def test_values_of_a_page(full: MadeStore) -> None:
    """A fetched page's row has its facts, its response and the run's version."""
    row = _row(full)

    assert row == dict.fromkeys(NAMES) | {
        "run": 1, "url": f"{A}/", "purpose": "page", "kind": "fetched", "reason": "ok", "status": 200, "last_url": f"{A}/",
        "content_type": "text/html; charset=utf-8", "title": "A title", "lang": "ja", "depth": 0, "found_by": "seed", "site": 0,
        "rule": "same-host", "attempts": 1, "fetched_at": "2023-11-14T22:13:21.250Z", "bytes": 1234, "seconds": 0.125,
        "indexable": True, "last_modified": "yesterday", "etag": '"x"', "digest": "d", "in_sitemap": False,
        "address": "192.0.2.7", "version": "9.8.7", "hops": 0, "nofollow": False, "host": "a.test",
        "ended_at": "2023-11-14T22:13:21.000Z", "schema": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/hostile", f"{A}/"),
        ("/moved", f"{A}/"),
        ("/broken", f"{A}/broken"),
        ("/never", None),
        ("/robots.txt", f"{A}/robots.txt"),
    ],
)
def test_last_url(full: MadeStore, path: str, expected: str | None) -> None:
    """last_url follows redirects, then a canonical in range, as in the MF3.0 file; what was never asked has none (MF-10)."""
    assert _row(full, path)["last_url"] == expected


def test_robots_redirect(store: MadeStore) -> None:
    """A robots.txt that redirects leads to the robots.txt it was read from, not to a page of that address (R-1.3)."""
    store.entry(f"{A}/robots.txt", "redirected.permanent", purpose="robots", redirect_to=f"{A}/r")
    store.entry(f"{A}/r", purpose="robots")
    store.entry(f"{A}/r", "missing.not_found", redirect_to=f"{A}/elsewhere")

    assert _row(store, "/robots.txt")["last_url"] == f"{A}/r"


@pytest.mark.parametrize(
    ("state", "stop_reason", "kind", "reason"),
    [
        ("done", "limit:pages", "abandoned", "run_limit"),
        ("stopped", "interrupted", "abandoned", "stopped"),
        ("failed", "system:store", "abandoned", "stopped"),
        ("running", None, "due", "due"),
    ],
)
def test_derived_endings(store: MadeStore, state: str, stop_reason: str | None, kind: str, reason: str) -> None:
    """What was still due ends as its run did, without a write of its own (R-1.6)."""
    store.entry(f"{A}/", None)
    store.update_run(state=state, stop_reason=stop_reason)

    assert (_row(store)["kind"], _row(store)["reason"], _row(store)["ended_at"]) == (kind, reason, None)


def test_derived_from_host_and_origin(store: MadeStore) -> None:
    """Due pages of a host given up, and of an origin without robots.txt, say so (R-1.6)."""
    store.entry("https://x.test/", None)
    store.host("x.test", given_up=1)
    store.entry("https://y.test/", None)
    store.origin("https://y.test/", ended="unreachable.robots_unreachable")

    endings = [(row["url"], f"{row['kind']}.{row['reason']}") for row in _read(store, "csv")]
    assert endings == [
        ("https://x.test/", "abandoned.host_given_up"),
        ("https://y.test/", "unreachable.robots_unreachable"),
    ]


def test_refusal_admitted_later(store: MadeStore) -> None:
    """A URL that was refused and admitted later has one row, as admitted (R-1.4, R-2.1)."""
    store.refusal(f"{A}/", "depth")
    store.page(f"{A}/")

    assert [row["kind"] for row in _read(store, "csv")] == ["fetched"]


@pytest.mark.parametrize(
    ("ending", "index_reason", "indexable"),
    [
        ("fetched.ok", "", True),
        ("unchanged.not_modified", "", True),
        ("fetched.ok", "noindex", False),
        ("missing.not_found", "", None),
    ],
)
def test_indexable(store: MadeStore, ending: str, index_reason: str, indexable: bool | None) -> None:
    """Only a fetched or unchanged page may or may not be searched; for all else the cell is empty."""
    store.page(f"{A}/", ending, index_reason=index_reason)

    assert (_row(store)["indexable"], _row(store)["index_reason"]) == (indexable, index_reason or None)


def test_only_pages_are_indexable(store: MadeStore) -> None:
    """Whether it may be searched is no question for a robots.txt or a sitemap."""
    store.entry(f"{A}/robots.txt", purpose="robots")
    store.response(f"{A}/robots.txt", purpose="robots")

    assert _row(store, "/robots.txt")["indexable"] is None


def test_in_sitemap(store: MadeStore) -> None:
    """in_sitemap says whether a sitemap of this run that may name the URL does (SM-34)."""
    paths = {"/": None, "/1": 0, "/2": 1, "/3": 2}  # 1: the file may not speak for it, 2: nobody names the file
    for path, misplaced in paths.items():
        store.page(f"{A}{path}")
        store.connection.execute(
            "INSERT INTO sitemap_entry (run, host, hash, sitemap, href, misplaced)"
            " SELECT run, host, hash, 's', href, ?1 FROM entry WHERE href = ?2 AND ?1 IS NOT NULL",
            (misplaced, f"{A}{path}"),
        )

    assert [_row(store, path)["in_sitemap"] for path in paths] == [False, True, False, False]


def test_other_runs_stay_out(store: MadeStore) -> None:
    """A run's ledger holds that run's rows alone."""
    store.entry(f"{A}/other", run=store.add_run())
    store.entry(f"{A}/")

    assert [row["url"] for row in _read(store, "csv")] == [f"{A}/"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_700_000_000.9996, "2023-11-14T22:13:21.000Z"),
        (1_700_000_000.1234, "2023-11-14T22:13:20.123Z"),
        (-0.5, "1969-12-31T23:59:59.500Z"),
    ],
)
def test_times(seconds: float, expected: str) -> None:
    """Times are ISO 8601 in UTC, rounded to the millisecond."""
    assert iso8601(seconds) == expected


def test_csv_bytes(store: MadeStore) -> None:
    """The CSV is RFC 4180: a header, CRLF, quotes where needed; no BOM, and cells stay as they are (ST-51, R section 10)."""
    store.page(f"{A}/", title="=1+1", content_type="a,b")
    data = _write(store, "csv").read_bytes()

    assert data.startswith(",".join(NAMES).encode() + b"\r\n1,https://a.test/,page,fetched,ok,200,")
    assert b',"a,b",=1+1,' in data
    assert data.count(b"\r\n") == data.count(b"\n") == 2


def test_json_lines_are_lines_to_every_reader(full: MadeStore) -> None:
    """No character that some readers take for the end of a line stands bare, and Japanese text stays readable."""
    text = _write(full, "jsonl").read_text(encoding="utf-8")

    assert len(text.splitlines()) == text.count("\n") == 10
    assert '"title":"新着情報"' in text


def test_parquet_says_what_it_holds(full: MadeStore) -> None:
    """The Parquet file has typed columns, their meanings, and the version of the columns in its metadata."""
    schema = pq.read_schema(_write(full, "parquet"))

    assert schema.metadata[b"purlieu.ledger_schema"] == b"1"
    assert [str(schema.field(name).type) for name in ("url", "status", "seconds", "indexable")] == [
        "string",
        "int64",
        "double",
        "bool",
    ]
    assert all(schema.field(one.name).metadata == {b"meaning": one.meaning.encode()} for one in COLUMNS)


def test_empty_ledger(store: MadeStore) -> None:
    """A run without rows gives files that are read as empty, with their columns where the format has a place for them."""
    assert [_read(store, form) for form in FORMATS] == [[], [], []]
    assert tuple(pq.read_schema(_write(store, "parquet")).names) == NAMES


@pytest.mark.parametrize("start", [*"=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"])
def test_spreadsheet_cells_are_guarded(store: MadeStore, start: str) -> None:
    """In the file for spreadsheets a cell that would be run starts with an apostrophe (R section 10)."""
    store.page(f"{A}/", title=f"{start}HYPERLINK()", etag="a=b")
    data = _write(store, "csv-spreadsheet").read_bytes()
    (row,) = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))

    assert data.startswith(b'\xef\xbb\xbf"run","url"')
    assert row["title"] == f"'{start}HYPERLINK()"
    assert (row["etag"], row["url"]) == ("a=b", f"{A}/")


@pytest.mark.parametrize(
    ("language", "text"), [("en", "The page was fetched."), ("ja", "ページを取得しました。"), ("zh", "页面已获取。")]
)
def test_spreadsheet_has_the_sentence(store: MadeStore, language: str, text: str) -> None:
    """The file for spreadsheets ends each row with the owner's sentence in the language asked for; a due URL has none."""
    store.page(f"{A}/")
    store.entry(f"{A}/due", None)
    store.update_run(state="running")
    rows = csv.DictReader(
        io.StringIO(_write(store, "csv-spreadsheet", language).read_text(encoding="utf-8-sig"), newline="")
    )

    assert [row["sentence"] for row in rows] == [text, ""]
    assert rows.fieldnames == [*NAMES, "sentence"]


class _Sink(io.BytesIO):
    """Counts what is written and keeps nothing."""

    size = 0

    def write(self, data: Any, /) -> int:
        """Count."""
        self.size += len(data)
        return len(data)


@pytest.mark.parametrize("form", ["csv", "jsonl", "csv-spreadsheet"])
def test_memory_stays_bounded(form: str) -> None:
    """Eight thousand rows need no more memory at once than two thousand do: rows stream into the file."""
    row = (1, *(json.dumps("x" * 98) if name == "extracted" else "x" * 100 for name in NAMES[1:]))
    peaks = []
    for number in (2_000, 8_000):
        sink = _Sink()
        tracemalloc.start()
        ledger.FORMS[form](sink, (row for _ in range(number)), "en")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert sink.size > number * 100 * 30

    assert peaks[1] < peaks[0] * 1.2


@given(
    st.lists(st.tuples(*[st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1)] * 3), max_size=8)
)
def test_any_text_in_every_format(texts: list[tuple[str | None, ...]]) -> None:
    """Whatever the web puts into texts, the three formats read back the same."""
    places = [NAMES.index(name) for name in ("title", "via", "detail")]
    rows = [tuple(text[places.index(n)] if n in places else None for n in range(len(NAMES))) for text in texts]
    files = {form: io.BytesIO() for form in FORMATS}
    for form, file in files.items():
        ledger.FORMS[form](_Kept(file), iter(rows), "en")
    read = list(csv.reader(io.StringIO(files["csv"].getvalue().decode(), newline="")))[1:]

    assert [tuple(cell or None for cell in row) for row in read] == rows
    assert [tuple(json.loads(line).values()) for line in files["jsonl"].getvalue().decode().splitlines()] == rows
    assert [tuple(row.values()) for row in pq.read_table(io.BytesIO(files["parquet"].getvalue())).to_pylist()] == rows


class _Kept(io.BytesIO):
    """Writes to another buffer, which outlives this one's closing."""

    def __init__(self, kept: io.BytesIO) -> None:
        """Write to ``kept``."""
        super().__init__()
        self._kept = kept

    def write(self, data: Any, /) -> int:
        """Pass on."""
        return self._kept.write(data)

    def tell(self) -> int:
        """Return the place in the other buffer."""
        return self._kept.tell()


def test_write_all_formats(full: MadeStore) -> None:
    """Each format has a file of its own, given back in the order asked for, once each, and writing again replaces it."""
    folder = full.path.parent / "a" / "b"
    asked = ["parquet", "csv", "parquet", *report.FILES]
    files = report.write(str(full.path), full.run, folder, asked)

    assert [file.name for file in files] == [report.FILES[form] for form in dict.fromkeys(asked)]
    assert files == report.write(str(full.path), full.run, folder, asked)
    assert sorted(folder.iterdir()) == sorted(files)


def test_unknown_format(store: MadeStore, tmp_path: Path) -> None:
    """A format that is none is the owner's mistake: it is named, with those there are, and nothing is written."""
    with pytest.raises(SettingsError, match=r'format = "pdf": write one of crawl_result, csv'):
        report.write(str(store.path), store.run, tmp_path / "out", ["csv", "pdf"])
    assert not (tmp_path / "out").exists()


def test_unknown_run(store: MadeStore, tmp_path: Path) -> None:
    """A run that is not in the store gives a message with a remedy."""
    with pytest.raises(StoreError, match='it has no run "77"'):
        report.write(str(store.path), 77, tmp_path / "out", ["csv"])


def test_reference_page_lists_every_column(root: Path) -> None:
    """docs/reference/ledger.md describes each column with the sentence of the table, in order."""
    page = (root / "docs/reference/ledger.md").read_text(encoding="utf-8")

    assert column.as_markdown() in page
