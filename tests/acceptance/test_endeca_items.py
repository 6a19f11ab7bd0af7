"""Items of the Endeca crawler's behaviour that show only in whole crawls, or that are kept apart on purpose (EN-42 to EN-77)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crawling import HOME, crawl, html, ledger, made_settings

from purlieu import robots, settings
from purlieu.adopt import endeca
from purlieu.adopt.endeca_property import NO_COUNTERPART
from purlieu.cli.main import main
from purlieu.errors import StoreBusy
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import FakeClock
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import FakeWeb, Made, answer, redirect


def adopted(folder: Path, properties: Mapping[str, str], *, depth: int | None = None) -> dict[str, Any]:
    """Return an adopted configuration as a tree of settings, with ``HOME`` as its seed."""
    text = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in properties.items()
    )
    folder.mkdir(exist_ok=True)
    (folder / "site.xml").write_text(f"<configuration>{text}</configuration>", encoding="utf-8")
    read = settings.read(endeca.read(folder, seeds=[HOME], depth=depth).toml)
    return {
        "scope": {"judge_against": read.scope.judge_against, "ignore_port": read.scope.ignore_port},
        "limits": {"max_depth": read.limits.max_depth},
        "links": {"obey_nofollow": read.links.obey_nofollow, "canonical": read.links.canonical},
        "robots": {"obey": read.robots.obey, "agent": read.robots.agent},
    }


def endings(store: Path, run: int = 1) -> dict[str, str]:
    """Return how each page ended."""
    return {url: f"{row['kind']}.{row['reason']}" for (of, url), row in ledger(store, run).items() if of == "page"}


def unfinished(store: Path) -> None:
    """Make a run that a limit ended one that a killed process left."""
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE run SET state = 'running', ended_at = NULL")
    connection.close()


def test_robots_rules_are_those_of_the_rfc() -> None:
    """EN-42: the longest line wins, not the first, 5xx forbids, and a delay may have a fraction: RFC 9309, not Nutch."""
    read = robots.read(b"User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 1.5\n")
    assert read.judge("endeca", "http://h.test/a/b").accepted
    assert not read.judge("endeca", "http://h.test/a/c").accepted
    assert read.crawl_delay("endeca") == 1.5
    assert robots.of_status(503) == "disallow"


@pytest.mark.parametrize(
    ("meta", "indexed", "followed"),
    [("noindex", False, True), ("nofollow", True, False), ("NONE", False, False), ("all", True, True)],
)
@pytest.mark.parametrize("ignored", [False, True])
def test_meta_robots(meta: str, indexed: bool, followed: bool, ignored: bool, tmp_path: Path) -> None:
    """EN-43, EN-44, EN-45: each word has its own effect, in any case; http.robots.ignore is for nofollow here too."""
    page = html("/a", head=f'<meta name="robots" content="{meta}">')
    tree = adopted(tmp_path / "c", {"http.robots.ignore": str(ignored).lower()})
    crawl(FakeWeb({HOME: page, f"{HOME}a": html()}), made_settings(tmp_path / "s.db", tree))
    ended = endings(tmp_path / "s.db")[f"{HOME}a"]
    assert ended == ("fetched.ok" if followed or ignored else "excluded.nofollow")
    connection = apsw.Connection(str(tmp_path / "s.db"), flags=apsw.SQLITE_OPEN_READONLY)
    ((reason,),) = connection.execute("SELECT index_reason FROM ledger WHERE url = ? AND purpose = 'page'", (HOME,))
    connection.close()
    assert (reason != "noindex") is indexed


def test_meta_robots_is_read_in_the_head_only(tmp_path: Path) -> None:
    """EN-45: what stands in the body is no META robots."""
    page = html("/a", body='<p>words</p><meta name="robots" content="nofollow">')
    crawl(FakeWeb({HOME: page, f"{HOME}a": html()}), made_settings(tmp_path / "s.db"))
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"


@pytest.mark.parametrize(
    ("got", "ending"),
    [
        (answer(status=400), "refused.other"),
        (answer(status=401), "refused.unauthorized"),
        (answer(status=404), "missing.not_found"),
        (answer(status=410), "missing.gone"),
        (redirect("/in?sid=1", 301), "redirected.permanent"),
        (redirect("/in?sid=1", 302), "redirected.temporary"),
        (redirect("/in?sid=1", 303), "redirected.temporary"),
        (redirect("/in?sid=1", 307), "redirected.temporary"),
    ],
)
def test_statuses(got: Made, ending: str, tmp_path: Path) -> None:
    """EN-55: statuses end as there; a redirect's target is normalised and filtered like a link."""
    tree = {
        "normalise": {"rule": [{"pattern": "[?]sid=[0-9]+$", "replace": ""}]},
        "filter": {"rules": ["-/out", "+."]},
        "politeness": {"retries": 0},
    }
    web = {HOME: html("/x", "/y"), f"{HOME}x": got, f"{HOME}y": redirect("/out"), f"{HOME}in": html()}
    crawl(FakeWeb(web), made_settings(tmp_path / "s.db", tree))
    found = endings(tmp_path / "s.db")
    assert found[f"{HOME}x"] == ending
    assert found[f"{HOME}out"] == "excluded.filter"
    assert found.get(f"{HOME}in") == ("fetched.ok" if ending.startswith("redirected") else None)


def test_nothing_typed_gives_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """EN-60: without a word usage is printed and the program ends."""
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage: purlieu" in capsys.readouterr().err


def test_a_full_crawl_begins_anew(tmp_path: Path) -> None:
    """EN-63: a crawl that is not resumed takes its seeds as pending again and ends when nothing is left."""
    web = FakeWeb({HOME: html("/a"), f"{HOME}a": html()})
    for number in (1, 2):
        assert crawl(web, made_settings(tmp_path / "s.db")).stop_reason == "finished"
        assert endings(tmp_path / "s.db", number) == {HOME: "fetched.ok", f"{HOME}a": "fetched.ok"}
    assert web.urls.count(HOME) == 2


def test_a_resumed_crawl_goes_deeper(tmp_path: Path) -> None:
    """EN-65: what was fetched is not asked again; the same depth brings nothing new, a greater one what lies below."""
    web = FakeWeb({HOME: html("/a"), f"{HOME}a": html("/b"), f"{HOME}b": html()})
    store = tmp_path / "s.db"
    crawl(web, made_settings(store, adopted(tmp_path / "c", {}, depth=1)))
    for depth, last in ((1, "excluded.depth"), (2, "fetched.ok")):
        unfinished(store)
        crawl(web, made_settings(store, adopted(tmp_path / "c", {}, depth=depth)), resume=True)
        assert endings(store)[f"{HOME}b"] == last
    assert [url for url in web.urls if not url.endswith("robots.txt")] == [HOME, f"{HOME}a", f"{HOME}b"]


def test_two_crawls_at_a_time_need_two_stores(tmp_path: Path) -> None:
    """EN-67: a store that another process crawls with is refused, with what to do."""
    database = SqliteDatabase.writer(str(tmp_path / "s.db"))
    with pytest.raises(StoreBusy, match="name another store"):
        SqliteDatabase.writer(str(tmp_path / "s.db"))
    database.close()


@pytest.mark.parametrize(("limits", "said"), [({"max_pages": 1}, True), ({}, False)])
def test_what_the_log_says_at_the_end(
    limits: Mapping[str, int], said: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """EN-62, EN-69, AMB-EN-9: a limit and the end are told in the original's words, to whoever listens at INFO."""
    web = FakeWeb({HOME: html("/a", "/b"), f"{HOME}a": html(), f"{HOME}b": html()})
    with caplog.at_level(logging.INFO, logger="purlieu"):
        crawl(web, made_settings(tmp_path / "s.db", {"limits": limits}), FakeClock())
    messages = [record.getMessage() for record in caplog.records]
    assert messages.count("Crawl complete.") == 1
    assert ("URL limit reached, starting shutdown." in messages) is said


@pytest.mark.parametrize(
    "name", [name for name in NO_COUNTERPART if name.startswith(("output.", "log.", "parser.", "plugin."))]
)
def test_output_logging_parser_and_plugins_are_listed(name: str, tmp_path: Path) -> None:
    """EN-70 to EN-73, EN-75 to EN-77, AMB-EN-10: the files, records and plugins are the original's; each property is told."""
    (tmp_path / "site.xml").write_text(
        f"<configuration><property><name>{name}</name><value>x</value></property></configuration>", encoding="utf-8"
    )
    ((told, value, why),) = endeca.read(tmp_path, seeds=[HOME]).not_carried
    assert (told, value) == (name, "x")
    assert why


async def _gives_a_page(_: Received, out: asyncio.StreamWriter) -> bool:
    out.write(message(b"<title>One</title>words"))
    return True


def test_the_message_of_a_domain_is_not_shown_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """EN-74: the DEBUG message of EN-29 is invisible as the log comes, and told in a finding all the same (EN-80)."""
    with Loopback(_gives_a_page) as site:
        (tmp_path / "p.toml").write_text(
            f'seeds = ["{site.origin.replace("127.0.0.1", "localhost")}/"]\n[scope]\nmode = "same-domain"\ndomains = "lists"\n',
            encoding="utf-8",
        )
        places = [
            f"--{name}={tmp_path / file}" for name, file in (("log", "p.log"), ("store", "s.db"), ("output", "out"))
        ]
        assert main(["crawl", "-c", str(tmp_path / "p.toml"), "-q", *places]) == 0
    out, err = capsys.readouterr()
    assert "Failed to get the domain name" not in out + err
    assert "Failed to get the domain name for url: " in (tmp_path / "p.log").read_text("utf-8")
    assert "domains.additional" in out


def test_a_failed_chain_measures_from_the_seed(tmp_path: Path) -> None:
    """AMB-EN-6: a seed that redirects twice is measured from the last hop; where the chain fails, from the seed."""
    second, third = "http://two.test/", "http://three.test/"
    pages: dict[str, Made] = {HOME: redirect(second), second: redirect(third), third: html(f"{HOME}x", "/in")}
    web: dict[str, Made] = {**pages, "http://three.test/in": html(), f"{HOME}x": html()}
    crawl(FakeWeb(web), made_settings(tmp_path / "a.db", {"name": "a"}))
    found = endings(tmp_path / "a.db")
    assert (found["http://three.test/in"], found[f"{HOME}x"]) == ("fetched.ok", "excluded.scope")
    failed: dict[str, Made] = {**web, third: answer(status=404)}
    tree = {"name": "b", "seeds": [HOME, f"{HOME}other"]}
    crawl(FakeWeb({**failed, f"{HOME}other": html("/x")}), made_settings(tmp_path / "b.db", tree))
    assert endings(tmp_path / "b.db")[f"{HOME}x"] == "fetched.ok"
