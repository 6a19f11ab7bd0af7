"""Books, hosts, findings and what the reader tells of runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made_store import STARTED_AT, MadeStore

from purlieu.candidate import Purpose
from purlieu.landing import LandingKind
from purlieu.outcome import REASONS
from purlieu.report import books, findings
from purlieu.report.hosts import most_failing, slowest
from purlieu.store.reader import HostRow, Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import key64

A = "https://a.test"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Return an empty store with one run that is done."""
    made = MadeStore(tmp_path / "purlieu.db")
    yield made
    made.close()


@pytest.fixture
def reader(store: MadeStore) -> Iterator[Reader]:
    """Return a reader beside the writer."""
    database = SqliteDatabase.reader(str(store.path))
    yield Reader(database)
    database.close()


def _run(reader: Reader, number: int = 1) -> RunRow:
    row = reader.run(number)
    assert row is not None
    return row


def test_counts_by_ending(store: MadeStore, reader: Reader) -> None:
    """Pages, robots.txt files and sitemaps are counted apart; refused URLs are excluded pages, each counted once (R-1.3, R-1.4)."""
    store.entry(f"{A}/")
    store.entry(f"{A}/1")
    store.entry(f"{A}/2", "excluded.robots")
    store.entry(f"{A}/robots.txt", "missing.not_found", purpose="robots")
    store.entry(f"{A}/sitemap.xml", purpose="sitemap")
    store.refusal("https://b.test/")
    store.refusal(f"{A}/1", "depth")
    store.refusal(f"{A}/3", "robots")
    told = books.of_run(reader, _run(reader))

    assert told.pages == {("fetched", "ok"): 2, ("excluded", "robots"): 2, ("excluded", "scope"): 1}
    assert told.robots == {("missing", "not_found"): 1}
    assert told.sitemaps == {("fetched", "ok"): 1}
    assert (told.total(), told.total("robots"), told.of_kind("excluded"), told.of_kind("crashed")) == (5, 1, 3, 0)


def test_counts_include_derived_endings(store: MadeStore, reader: Reader) -> None:
    """What was still due is counted under the ending that follows from the run (R-1.6)."""
    store.entry(f"{A}/", None)
    store.entry(f"{A}/1", None)
    store.update_run(stop_reason="limit:pages")

    assert books.of_run(reader, _run(reader)).pages == {("abandoned", "run_limit"): 2}


def test_counts_agree_with_the_ledger(store: MadeStore, reader: Reader) -> None:
    """Every row of the ledger is counted once under its purpose and ending, whatever the ending (R-7.1)."""
    for number, name in enumerate(REASONS):
        store.entry(f"{A}/{number}", name)
        store.entry(f"{A}/{number}", name, purpose="sitemap")
        store.refusal(f"https://b.test/{number}")
    run = _run(reader)
    counted = reader.counts(run)
    rows = list(reader.ledger(run))

    assert sum(counted.values()) == len(rows) == 3 * len(REASONS)
    assert counted == {key: sum(tuple(row[2:5]) == key for row in rows) for key in counted}


def test_lines_in_the_order_of_the_table(store: MadeStore, reader: Reader) -> None:
    """Lines come as pages, robots, sitemaps, not listed; each in the order of the table of outcomes, with its sentence."""
    store.entry(f"{A}/", "missing.not_found")
    store.entry(f"{A}/1")
    store.entry(f"{A}/robots.txt", purpose="robots")
    store.insert("refusal_count", run=1, host=store.host("b.test"), reason="scope", rule="same-host", count=7)
    store.insert("refusal_count", run=1, host=store.host("c.test"), reason="scope", rule="same-host", count=4)
    lines = books.text(books.of_run(reader, _run(reader)), "ja")

    assert [(line.purpose, line.kind, line.reason, line.count) for line in lines] == [
        ("page", "fetched", "ok", 1),
        ("page", "missing", "not_found", 1),
        ("robots", "fetched", "ok", 1),
        ("unlisted", "excluded", "scope", 11),
    ]
    assert lines[0].sentence == "ページを取得しました。"


def test_due_has_a_line_without_sentence(store: MadeStore, reader: Reader) -> None:
    """While a run goes on, what is due is a line of its own and stands last."""
    store.entry(f"{A}/", None)
    store.entry(f"{A}/1", "crashed.crashed")
    store.update_run(state="running")

    assert [(line.kind, bool(line.sentence)) for line in books.text(books.of_run(reader, _run(reader)))] == [
        ("crashed", True),
        ("due", False),
    ]


@pytest.mark.parametrize(
    ("written", "balanced", "faults"),
    [
        (None, None, ()),
        ({"balanced": True, "faults": []}, True, ()),
        (
            {"balanced": False, "faults": ["entries admitted: counted 2, found 1"]},
            False,
            ("entries admitted: counted 2, found 1",),
        ),
    ],
)
def test_audit_is_passed_on(
    store: MadeStore, reader: Reader, written: dict[str, object] | None, balanced: bool | None, faults: tuple[str, ...]
) -> None:
    """Balanced and faults are what the audit wrote; a run that was not audited is neither (R-7.1)."""
    store.update_run(books=written)
    told = books.of_run(reader, _run(reader))

    assert (told.balanced, told.faults) == (balanced, faults)


def test_runs(store: MadeStore, reader: Reader) -> None:
    """Runs come newest first, with counters; the latest is found by crawl or of all; what is not there is None."""
    store.update_run(counters={"admitted": 3})
    other = store.add_run("other", state="stopped", stop_reason="interrupted", ended_at=None)
    again = store.add_run()

    assert [row.id for row in reader.runs()] == [again, other, 1]
    assert (_run(reader).crawl, _run(reader).version, _run(reader).counters, _run(reader).books) == (
        "made",
        "9.8.7",
        {"admitted": 3},
        None,
    )
    assert (_run(reader).started_at, _run(reader).ended_at, _run(reader, other).ended_at) == (
        STARTED_AT,
        STARTED_AT + 60,
        None,
    )
    for crawl, number in ((None, again), ("other", other), ("made", again)):
        latest = reader.latest(crawl)
        assert latest is not None
        assert latest.id == number
    assert reader.latest("unknown") is None
    assert reader.run(99) is None


def test_no_runs(store: MadeStore, reader: Reader) -> None:
    """A store without runs has no latest one."""
    store.connection.execute("DELETE FROM run")

    assert (reader.runs(), reader.latest()) == ([], None)


@pytest.mark.parametrize(
    ("toml", "expected"), [("", 10), ("[limits]\nmax_redirects = 3", 3), ("not toml", 10), ("limits = 1", 10)]
)
def test_limit_of_redirects(store: MadeStore, reader: Reader, toml: str, expected: int) -> None:
    """The limit of redirects is that of the run's settings, or the default (AMB-MF-5)."""
    assert reader.max_redirects(_run(reader, store.add_run(toml=toml))) == expected


def test_landing_and_chain(store: MadeStore, reader: Reader) -> None:
    """A chain shows every step to its landing; an address that was not admitted has none (R-2.5)."""
    store.redirect(f"{A}/", f"{A}/1")
    store.redirect(f"{A}/1", f"{A}/2")
    store.page(f"{A}/2")
    landing = reader.landing(_run(reader), f"{A}/")

    assert (landing.kind, landing.href, landing.hops) == (LandingKind.LANDED, f"{A}/2", 2)
    assert [(row.href, row.kind, row.status) for row in reader.chain(_run(reader), f"{A}/")] == [
        (f"{A}/", "redirected", 301),
        (f"{A}/1", "redirected", 301),
        (f"{A}/2", "fetched", 200),
    ]
    assert reader.chain(_run(reader), "https://b.test/") == []
    assert reader.landing(_run(reader), f"{A}/", max_redirects=1).kind is LandingKind.TOO_MANY


def test_two_addresses_under_one_hash(store: MadeStore) -> None:
    """An address that met another's hash is found under its next salt (R-1.2)."""

    def hash_of(key: str) -> int:
        return 7 if key in {f"{A}/one", f"{A}/two"} else key64(key)

    store.entry(f"{A}/one")
    store.entry(f"{A}/two", "missing.not_found")
    store.connection.execute("UPDATE entry SET hash = 7 WHERE href LIKE '%/one'")
    store.connection.execute("UPDATE entry SET hash = ? WHERE href LIKE '%/two'", (hash_of(f"{A}/two\0001"),))
    database = SqliteDatabase.reader(str(store.path))
    reader = Reader(database, hash_of)
    found = [reader.visit(_run(reader), f"{A}/{name}") for name in ("one", "two")]
    database.close()

    assert [row and row.kind for row in found] == ["fetched", "missing"]


def test_visit_by_purpose(store: MadeStore, reader: Reader) -> None:
    """The same address has an entry for each purpose (R-1.3)."""
    store.entry(f"{A}/s.xml", "missing.gone")
    store.entry(f"{A}/s.xml", purpose="sitemap")
    kinds = [reader.visit(_run(reader), f"{A}/s.xml", purpose) for purpose in Purpose]

    assert [row and row.kind for row in kinds] == ["missing", None, "fetched", None]


def test_hosts(store: MadeStore, reader: Reader) -> None:
    """Hosts that were asked or given up are told by name with what they cost; others are not."""
    store.host("b.test", requests=4, failures=1, seconds=2.0, bytes=10, pages=3)
    store.host("a.test", given_up=1)
    store.host("never.test", refused=9)

    assert list(reader.hosts(_run(reader))) == [
        HostRow("a.test", 0, 0, 0.0, 0, 0, is_given_up=True),
        HostRow("b.test", 4, 1, 2.0, 10, 3, is_given_up=False),
    ]
    assert [host.mean_seconds for host in reader.hosts(_run(reader))] == [0.0, 0.5]


def test_slowest_and_most_failing() -> None:
    """The slowest are by mean seconds, the failing with those given up first; equal ones by name, those without any left out."""
    hosts = [
        HostRow("fine", 4, 0, 0.4, 0, 4, is_given_up=False),
        HostRow("ab", 2, 2, 2.0, 0, 0, is_given_up=False),
        HostRow("a", 1, 2, 1.0, 0, 0, is_given_up=False),
        HostRow("gone", 0, 1, 0.0, 0, 0, is_given_up=True),
        HostRow("slow", 1, 0, 9.0, 0, 1, is_given_up=False),
    ]

    assert [host.name for host in slowest(hosts)] == ["slow", "a", "ab", "fine"]
    assert [host.name for host in slowest(reversed(hosts), 2)] == ["slow", "a"]
    assert [host.name for host in most_failing(hosts)] == ["gone", "a", "ab"]


def _found(store: MadeStore, reader: Reader, number: int = 1) -> list[tuple[str, str, dict[str, object]]]:
    run = _run(reader, number)
    return [
        (one.code, one.subject, dict(one.arguments)) for one in findings.of_run(reader, run, books.of_run(reader, run))
    ]


def test_findings_of_a_good_run(store: MadeStore, reader: Reader) -> None:
    """A run in which all went well has nothing to tell, foreign links and links that are not of the web included."""
    store.update_run(books={"balanced": True, "faults": []})
    store.entry(f"{A}/")
    store.entry(f"{A}/1")
    store.refusal("https://b.test/")
    store.insert("refusal_count", run=1, host=0, reason="scheme", rule="mailto", count=7)

    assert _found(store, reader) == []


def test_findings_from_rows(store: MadeStore, reader: Reader) -> None:
    """Findings follow from rows: books, hosts, origins, what is not listed; the weightiest stands first."""
    store.update_run(books={"balanced": False, "faults": ["one", "two"]})
    store.entry(f"{A}/", None)
    store.host("a.test", given_up=1)
    store.origin("https://x.test/", ended="unreachable.robots_unreachable")
    store.origin("https://y.test/", ended="abandoned.delay_too_long")
    store.insert("refusal_count", run=1, host=store.host("b.test"), reason="scope", rule="r", count=7)

    assert _found(store, reader) == [
        ("books_unbalanced", "made", {"faults": "one; two"}),
        ("nothing_fetched", "made", {}),
        ("delay_too_long", "https://y.test", {}),
        ("host_given_up", "a.test", {}),
        ("robots_unreachable", "https://x.test", {}),
        ("refusals_not_listed", "b.test", {"count": 7}),
    ]


def test_findings_noted_in_the_run(store: MadeStore, reader: Reader) -> None:
    """What was noted in the run stands among the findings, once, with its own arguments."""
    store.entry(f"{A}/", None)
    store.host("a.test", given_up=1)
    store.update_run(state="running")
    store.insert("finding", run=1, code="host_given_up", subject="a.test", arguments='{"more": 1}')
    store.insert("finding", run=1, code="robots_ignored", subject="made")

    assert _found(store, reader) == [("host_given_up", "a.test", {"more": 1}), ("robots_ignored", "made", {})]


@pytest.mark.parametrize(
    ("landing", "ending", "expected"),
    [
        ("https://www.a.test/", "fetched.ok", []),
        ("https://b.test/", "fetched.ok", [("seed_landed_elsewhere", f"{A}/", {"landing": "https://b.test/"})]),
        (
            "https://www.a.test/",
            "missing.not_found",
            [("nothing_fetched", "made", {}), ("seed_failed", f"{A}/", {"ending": "missing.not_found"})],
        ),
        ("https://www.a.test/", None, []),
    ],
)
def test_findings_of_seeds(
    store: MadeStore, reader: Reader, landing: str, ending: str | None, expected: list[object]
) -> None:
    """A seed that lands badly or on another registrable domain is a finding; www and a seed left undone are none (R-3.2)."""
    run = store.add_run(toml=f'seeds = ["{A}", "not a url"]\n')
    store.entry(
        f"{A}/",
        "redirected.permanent" if ending != "missing.not_found" else "misdirected.loop",
        run=run,
        redirect_to=landing,
    )
    store.entry(landing, ending, run=run)

    assert _found(store, reader, run) == expected


def test_one_page_only(store: MadeStore, reader: Reader) -> None:
    """A crawl that found nothing but its seed says so."""
    run = store.add_run(toml=f'seeds = ["{A}/"]\n')
    store.entry(f"{A}/", run=run)

    assert _found(store, reader, run) == [("one_page_only", f"{A}/", {})]
