"""Links that lead out of scope are asked once whether they are there, and nothing of them is followed (R-3.3)."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu import settings as settings_text
from purlieu.cli.main import main
from purlieu.crawl.local import Crawl
from purlieu.crawl.result import Result
from purlieu.response import Fault, Request
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import FakeWeb, answer, redirect

FAR: Final = "http://far.test/"
CHECKING: Final[dict[str, Any]] = {"links": {"check_external": True}}


def no_head(request: Request) -> Any:
    """Answer as a server that knows no HEAD."""
    return 405 if request.method == "HEAD" else "here"


WEB: Final[dict[str, Any]] = {
    f"{HOME}robots.txt": f"Sitemap: {HOME}map.xml\n",
    f"{HOME}map.xml": '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    f"<url><loc>{FAR}only-in-the-sitemap</loc></url></urlset>",
    HOME: html("/a", "/out", f"{FAR}fine", f"{FAR}gone", f"{FAR}hop", f"{FAR}no-head", "http://dead.test/", "mailto:x@y.test",
               head=f'<link rel="canonical" href="{FAR}canonical">'),
    f"{HOME}a": html(f"{FAR}fine", f"{FAR}gone#part", f"{FAR}hop-to-gone", "http://wall.test/", "http://slow.test/",
                     f"{FAR}loop", f"{FAR}home", body=f'<img src="{FAR}image">'),
    f"{HOME}out": redirect(f"{FAR}redirect-target"),
    f"{FAR}fine": html(f"{FAR}deeper", "http://deeper.test/"),
    f"{FAR}hop": redirect("http://else.test/x", 302),
    "http://else.test/x": redirect("http://else.test/y"),
    "http://else.test/y": html("http://deeper.test/2"),
    f"{FAR}hop-to-gone": redirect(f"{FAR}gone"),
    f"{FAR}loop": redirect(f"{FAR}loop2"),
    f"{FAR}loop2": redirect(f"{FAR}loop"),
    f"{FAR}home": redirect(f"{HOME}a"),
    f"{FAR}no-head": no_head,
    "http://wall.test/": answer(status=999),
    "http://dead.test/": Fault.DNS,
    "http://slow.test/": Fault.TIMEOUT,
}  # fmt: skip
CHECKED: Final = {
    f"{FAR}fine": "fetched.ok",
    f"{FAR}gone": "missing.not_found",
    f"{FAR}hop": "redirected.temporary",
    "http://else.test/x": "redirected.permanent",
    "http://else.test/y": "fetched.ok",
    f"{FAR}hop-to-gone": "redirected.permanent",
    f"{FAR}loop": "redirected.permanent",
    f"{FAR}loop2": "redirected.permanent",
    f"{FAR}home": "redirected.permanent",
    f"{HOME}a": "fetched.ok",
    f"{FAR}no-head": "fetched.ok",
    "http://wall.test/": "unreadable.protocol",
    "http://dead.test/": "unreachable.dns",
    "http://slow.test/": "unreachable.timeout",
}


def asked(web: FakeWeb) -> Counter[tuple[str, str]]:
    """Return how often what was asked for outside the site, and how."""
    return Counter((one.request.method, one.url) for one in web.asked if not one.url.startswith(HOME))


def crawled(
    store: Path,
    tree: Mapping[str, Any] = CHECKING,
    web: Any = WEB,
    clock: FakeClock | None = None,
    *,
    resume: bool = False,
) -> tuple[FakeWeb, Result]:
    """Crawl, and insist on balanced books."""
    made = FakeWeb(web)
    result = crawl(made, made_settings(store, tree), clock, resume=resume)
    assert result.books_balanced, result.faults
    return made, result


def audited(store: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, dict[str, str]]:
    """Return what an audit tells of foreign links: by rule, the detail by address."""
    assert main(["audit", "--store", str(store), "--json", *more]) == 0
    told: dict[str, dict[str, str]] = {}
    for one in json.loads(capsys.readouterr().out)["faults"]:
        if "external" in one["rule"]:
            told.setdefault(one["rule"], {})[one["url"]] = one["detail"]
    return told


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one crawl of that site, links checked."""
    path = tmp_path_factory.mktemp("external") / "s.db"
    crawled(path)
    return path


def test_each_foreign_link_has_one_ending_and_the_name_of_its_grant(store: Path) -> None:
    """R-3.3: what pages link to out of scope, and where that redirects, has a row ``check`` with rule ``foreign-link``.

    The page's own verdict stays ``excluded.scope``; targets of the site's redirects, canonicals and sitemaps are no links.
    """
    assert endings(store, purpose="check") == CHECKED
    rows = ledger(store)
    assert {row["rule"] for (purpose, _), row in rows.items() if purpose == "check"} == {"foreign-link"}
    assert endings(store)[f"{FAR}gone"] == "excluded.scope"
    assert (rows["check", f"{FAR}gone"]["via"], rows["check", f"{FAR}gone"]["depth"]) == (HOME, 1)


def test_a_link_is_asked_by_head_and_again_by_get_where_that_is_refused(tmp_path: Path) -> None:
    """Each address gets one HEAD, and one GET where an error came; nothing that checked pages link to, no robots.txt.

    What answers nothing is tried as often as a page is.
    """
    web, result = crawled(tmp_path / "s.db", CHECKING | {"politeness": {"retries": 1}})
    twice = {f"{FAR}gone", f"{FAR}no-head", "http://wall.test/"}
    heads = {("HEAD", url): 1 for url in CHECKED.keys() - {f"{HOME}a"}}
    heads |= {("HEAD", url): 2 for url in ("http://dead.test/", "http://slow.test/")}
    assert asked(web) == heads | {("GET", url): 1 for url in twice}
    assert all(one.request.plain and not one.request.opens for one in web.asked if not one.url.startswith(HOME))
    assert result.good == 2


def test_nothing_is_asked_unless_the_owner_wants_it(tmp_path: Path) -> None:
    """``links.check_external`` is off as delivered: nothing out of scope is asked."""
    assert not asked(crawled(tmp_path / "s.db", {})[0])


def test_the_audit_tells_what_is_broken_and_what_could_not_be_verified(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Broken links are problems with what their server did; redirects that arrive are notes.

    What turns programs away, or redirects in a circle, is a rule of its own.
    """
    assert audited(store, capsys) == {
        "broken_external_link": {
            "http://dead.test/": "unreachable.dns",
            f"{FAR}gone": "missing.not_found 404",
            f"{FAR}hop-to-gone": f"{FAR}gone missing.not_found 404",
            "http://slow.test/": "unreachable.timeout",
        },
        "external_redirect": {f"{FAR}hop": "http://else.test/y", f"{FAR}home": f"{HOME}a"},
        "external_unverified": {"http://wall.test/": "unreadable.protocol 999", f"{FAR}loop": f"{FAR}loop2 loop"},
    }


def test_a_broken_link_names_the_pages_that_have_it_in_every_format(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text, HTML, JSON, SARIF and JUnit tell the pages that link to a foreign address."""
    assert main(["audit", "--store", str(store), "--json"]) == 0
    (fault,) = [one for one in json.loads(capsys.readouterr().out)["faults"] if one["url"] == f"{FAR}gone"]
    assert (fault["severity"], fault["pages"], fault["examples"]) == ("problem", 2, [HOME, f"{HOME}a"])
    for form in ("html", "sarif", "junit"):
        assert main(["audit", "--store", str(store), "--format", form, "--fail-on", "problem"]) == 1
        out = capsys.readouterr().out
        assert f"{FAR}gone" in out
        assert f"{HOME}a" in out
        if form == "junit":
            failing = {case.get("name") for case in ET.fromstring(out) if case.find("failure") is not None}
            assert "broken_external_link" in failing
            assert "external_unverified" not in failing


def test_explain_and_the_books_tell_of_the_check(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``explain`` says that the page is out of scope and that the link was checked, by which grant; books count it apart."""
    assert main(["explain", f"{FAR}gone", "--run", "1", "--store", str(store), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    page, check = told["rows"]
    assert (page["purpose"], page["accepted"], check["purpose"], check["accepted"]) == ("page", False, "check", True)
    assert (check["outcome"], check["rule"], check["agrees"]) == ("missing.not_found", "foreign-link", True)
    assert "links.check_external" in check["reason"]
    assert main(["explain", f"{FAR}gone", "--run", "1", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert "foreign-link: a page links to it out of scope" in out
    assert "it was not asked for: links to this origin are checked" in out
    assert main(["report", "1", "--store", str(store), "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["endings"]
    checks = {f"{one['kind']}.{one['reason']}": one["count"] for one in lines if one["purpose"] == "check"}
    assert checks == Counter(CHECKED.values())


@pytest.mark.parametrize("at", [4, 6, 9, 15])
def test_a_kill_while_links_are_checked_loses_nothing(tmp_path: Path, store: Path, at: int) -> None:
    """What a killed process leaves before and while links are checked resumes to the rows of an undisturbed run (R-1.6)."""
    made, count, left = tmp_path / "s.db", 0, tmp_path / "left.db"

    def reply(request: Request) -> Any:
        nonlocal count
        count += 1
        if count == at:
            for end in ("", "-wal"):
                shutil.copy(f"{made}{end}", f"{left}{end}")
        entry = WEB.get(request.url, 404)
        return entry(request) if callable(entry) else entry

    crawled(made, web=reply)
    crawled(left, resume=True)
    told = [{key: {**row, "attempts": 0} for key, row in ledger(one).items()} for one in (left, store)]
    assert told[0] == told[1]


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    """A link that was checked before a stop is not asked again after it."""
    made, web = tmp_path / "s.db", FakeWeb(WEB)

    async def stopped() -> Result:
        async with Crawl(made_settings(made, CHECKING), fetcher=web, clock=FakeClock()) as run:
            async for visit in run:
                if visit.url.startswith(FAR):
                    run.stop()
        return run.result

    assert asyncio.run(stopped()).books_balanced
    first = asked(web)
    second = asked(crawled(made, resume=True)[0])
    assert first
    assert second
    answered = {url for _, url in first} - {"http://dead.test/", "http://slow.test/"}
    assert not answered & {url for _, url in second}
    assert endings(made, purpose="check") == CHECKED


def test_a_revisit_asks_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a revisit leaves alone of the site, the links of its pages are checked anew (R-2.4)."""
    made, again = tmp_path / "s.db", CHECKING | {"revisit": True}
    crawled(made, again, clock=FakeClock(START))
    web, result = crawled(made, again, {**WEB, f"{FAR}gone": "back"}, FakeClock(START + 60.0))
    assert result.counts["unchanged.not_due"]
    assert {url for _, url in asked(web)} == CHECKED.keys() - {f"{HOME}a"}
    assert f"{FAR}gone" not in audited(made, capsys)["broken_external_link"]


def found(store: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Return the codes of a run's findings."""
    assert main(["report", "1", "--store", str(store), "--json"]) == 0
    return {one["code"] for one in json.loads(capsys.readouterr().out)["findings"]}


def test_limits_of_pages_do_not_count_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """R-8.1: checks are no pages; a run that ends by its limit checks nothing more, and says so until it is resumed."""
    _, result = crawled(tmp_path / "a.db", CHECKING | {"limits": {"max_pages": 3, "pages_per_host": 3}})
    assert result.stop_reason == "finished"
    assert endings(tmp_path / "a.db", purpose="check") == CHECKED
    web, result = crawled(tmp_path / "b.db", CHECKING | {"limits": {"max_pages": 1}})
    assert (result.stop_reason, asked(web)) == ("limit:pages", Counter())
    assert "links_not_checked" in found(tmp_path / "b.db", capsys)
    crawled(tmp_path / "b.db", CHECKING, resume=True)
    assert endings(tmp_path / "b.db", purpose="check") == CHECKED
    assert "links_not_checked" not in found(tmp_path / "b.db", capsys)


def test_redirects_of_a_link_are_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A chain of redirects is followed ``limits.max_redirects`` hops far, and then could not be verified."""

    def reply(request: Request) -> Any:
        number = int(request.url.rpartition("/")[2] or 0)
        return html(f"{FAR}1") if request.url == HOME else redirect(f"{FAR}{number + 1}")

    tree = CHECKING | {"limits": {"max_redirects": 3}, "robots": {"obey": False}, "sitemap": {"use": False}}
    crawled(tmp_path / "s.db", tree, lambda request: "" if request.url.endswith(".txt") else reply(request))
    rows = {url: end for url, end in endings(tmp_path / "s.db", purpose="check").items() if end != "excluded.scope"}
    assert rows == {f"{FAR}{number}": "redirected.permanent" for number in range(1, 5)}
    assert list(audited(tmp_path / "s.db", capsys)["external_unverified"]) == [f"{FAR}1"]


def test_rules_of_foreign_sites_are_asked_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With ``links.external_robots`` the robots.txt of a foreign origin is asked first, and what it forbids is not asked.

    That could not be verified; of a host that is dead the reason is told all the same.
    """
    web = {**WEB, f"{FAR}robots.txt": "User-agent: *\nDisallow: /fine\n", "http://dead.test/robots.txt": Fault.DNS}
    tree = {"links": {"check_external": True, "external_robots": True}, "robots": {"tries": 1}}
    made, _ = crawled(tmp_path / "s.db", tree, web)
    assert ("GET", f"{FAR}robots.txt") in asked(made)
    assert ("HEAD", f"{FAR}fine") not in asked(made)
    told = audited(tmp_path / "s.db", capsys)
    assert told["external_unverified"][f"{FAR}fine"] == "excluded.robots"
    assert told["broken_external_link"]["http://dead.test/"] == "unreachable.dns"


def test_rules_of_the_own_site_hold_for_links_out_of_its_folder(tmp_path: Path) -> None:
    """A link to another part of a site whose robots.txt is known is checked only where that allows it."""
    web = {
        f"{HOME}robots.txt": "User-agent: *\nDisallow: /secret\n",
        f"{HOME}in/": html("/in/a", "/other", "/secret/x"),
        f"{HOME}in/a": html(),
        f"{HOME}other": html("/deeper"),
    }
    tree = CHECKING | {"seeds": [f"{HOME}in/"], "scope": {"mode": "same-dir"}}
    crawled(tmp_path / "s.db", tree, web)
    found = endings(tmp_path / "s.db", purpose="check")
    assert found == {f"{HOME}other": "fetched.ok", f"{HOME}secret/x": "excluded.robots"}


def test_a_list_of_pages_has_its_links_checked(tmp_path: Path) -> None:
    """Where exactly a list is crawled, every other link of its pages is foreign; what is on the list is asked once."""
    web = {HOME: html("/a", "/b", FAR), f"{HOME}a": html("/c"), f"{HOME}b": 404, f"{HOME}c": "c"}
    tree = CHECKING | {"seeds": [HOME, f"{HOME}a"], "scope": {"only_seeds": True}}
    made, _ = crawled(tmp_path / "s.db", tree, web)
    found = endings(tmp_path / "s.db", purpose="check")
    assert found == {f"{HOME}b": "missing.not_found", f"{HOME}c": "fetched.ok", FAR: "missing.not_found"}
    assert Counter(made.urls)[f"{HOME}a"] == 1


def test_off_again_at_a_resume(tmp_path: Path) -> None:
    """Who resumes without the setting has the links that wait left alone; they end out of scope, and the books balance."""
    made = tmp_path / "s.db"

    async def stopped() -> None:
        async with Crawl(made_settings(made, CHECKING), fetcher=FakeWeb(WEB), clock=FakeClock()) as run:
            async for visit in run:
                if visit.url.startswith("http://") and not visit.url.startswith(HOME):
                    run.stop()

    asyncio.run(stopped())
    assert not asked(crawled(made, {}, resume=True)[0])
    left = {end for end in endings(made, purpose="check").values() if end.startswith("excluded")}
    assert left == {"excluded.scope"}


# -- the real web ----------------------------------------------------------------------------------


class Site:
    """Two servers on loopback: one is crawled, and the other is what it links to. Both set cookies."""

    def __init__(self) -> None:
        """Serve nothing yet."""
        self.far = Loopback(self._far)
        self.near = Loopback(self._near)

    async def _far(self, received: Received, out: Any) -> bool:
        status = 404 if "gone" in received.path else 200
        out.write(message(b"far", status=status, headers={"Set-Cookie": "seen=1"}, with_body=received.method != "HEAD"))
        return True

    async def _near(self, received: Received, out: Any) -> bool:
        links = "".join(f'<a href="{self.far.origin}/{name}">x</a>' for name in ("fine", "gone", "fine/2", "gone/2"))
        inner = "".join(f'<a href="/{number}">n</a>' for number in range(8))
        out.write(message(f"<title>t</title>{links}{inner}".encode(), headers={"Set-Cookie": "near=1"}))
        return True


@pytest.mark.parametrize("workers", [1, 2])
def test_strangers_get_nothing_of_the_owners(tmp_path: Path, workers: int) -> None:
    """R-4.7: in one process or several, a check carries no cookie, header or credentials, not even to their own origin.

    Each link is asked once, and the books balance.
    """
    site = Site()

    async def work(tree: dict[str, Any]) -> Result:
        async with Crawl(settings_text.of(tree)) as run:
            await run.run()
        return run.result

    with site.far, site.near:
        tree = {
            **CHECKING, "seeds": [f"{site.near.origin}/"], "store": str(tmp_path / "s.db"), "formats": [],
            "output": str(tmp_path / "out"), "workers": workers, "politeness": {"retries": 0},
            "origin": [
                {"origin": site.far.origin, "headers": {"X-Secret": "owner"}, "auth": "bearer", "token": "env:TOKEN_X"}
            ] if workers == 1 else [],
        }  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TOKEN_X", "hush")
            result = asyncio.run(work(tree))
    assert result.books_balanced, result.faults
    assert Counter((one.method, one.path) for one in site.far.log) == {
        ("HEAD", "/fine"): 1, ("HEAD", "/fine/2"): 1, ("HEAD", "/gone"): 1, ("HEAD", "/gone/2"): 1,
        ("GET", "/gone"): 1, ("GET", "/gone/2"): 1,
    }  # fmt: skip
    sent = {name.lower() for one in site.far.log for name in one.headers}
    assert not sent & {"cookie", "x-secret", "authorization"}
    assert any("cookie" in {name.lower() for name in one.headers} for one in site.near.log)


def test_links_lead_into_no_private_network(tmp_path: Path) -> None:
    """R-5.1: a foreign name that leads to loopback is not connected to, though the seed is there itself."""
    site = Site()
    with site.far, site.near:
        near = site.near.origin
        page = f'<a href="http://localhost:{site.far.port}/fine">x</a>'.encode()

        async def give(_: Received, out: Any) -> bool:
            out.write(message(page))
            return True

        with Loopback(give) as only:
            tree = {**CHECKING, "seeds": [f"{only.origin}/"], "store": str(tmp_path / "s.db"), "formats": []}

            async def work() -> Result:
                async with Crawl(settings_text.of({**tree, "output": str(tmp_path / "out")})) as run:
                    await run.run()
                return run.result

            result = asyncio.run(work())
    assert near
    assert not site.far.log
    assert result.counts["unreachable.address_refused"] == 1
