"""robots.txt by RFC 9309: each test states one rule of ST-1 to ST-15."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import robots

HOST = "https://example.com"


def may(body: str | bytes, path: str, agent: str = "purlieu") -> bool:
    """Judge a path both ways, which must agree."""
    read = robots.read(body.encode() if isinstance(body, str) else body)
    verdict = read.judge(agent, HOST + path)
    assert verdict.accepted == read.allowed(agent, HOST + path)
    return verdict.accepted


def test_an_empty_file_allows_all() -> None:
    """No group means no rules (ST-7)."""
    verdict = robots.read(b"").judge("purlieu", "https://example.com/a")

    assert (verdict.accepted, verdict.rule) == (True, "robots:none")


def test_the_verdict_quotes_the_deciding_line() -> None:
    """A refusal names the line's number and quotes the line (house rule 6)."""
    verdict = robots.read(b"# hello\r\n\r\nUser-agent: *\r\nDisallow: /private/ # mine\r\n").judge(
        "purlieu", "https://example.com/private/x"
    )

    assert verdict.rule == "robots:4"
    assert (
        verdict.reason == 'robots.txt, line 4, "Disallow: /private/" (for "*") forbids "https://example.com/private/x".'
    )


def test_a_quoted_line_shows_no_control_characters() -> None:
    """What a hostile line holds cannot reach the owner's terminal, and its length is bounded."""
    reason = (
        robots.read(b"User-agent: *\nDisallow: /\x1b[31m\xff" + b"x" * 9999)
        .judge("purlieu", "/%1b[31m%ff" + "x" * 9999)
        .reason
    )

    assert reason.isprintable()
    assert len(reason) < 600


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Allow: /p\nDisallow: /", "/page", True),
        ("Allow: /folder\nDisallow: /folder", "/folder/page", True),
        ("Disallow: /folder\nAllow: /folder", "/folder/page", True),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", False),
        ("Allow: /page\nDisallow: /*.ph", "/page.php5", True),
        ("Allow: /$\nDisallow: /", "/", True),
        ("Allow: /$\nDisallow: /", "/page.htm", False),
        ("Disallow: /Fish", "/fish", True),
        ("Disallow:", "/fish", True),
        ("Allow:\nDisallow: /", "/fish", False),
        ("Disallow: fish", "/fish", True),
    ],
)
def test_the_longest_match_in_octets_wins(rules: str, path: str, allowed: bool) -> None:
    """Longest pattern wins, a tie allows, case counts, an empty or rootless pattern matches nothing (ST-6)."""
    assert allowed is may("User-agent: *\n" + rules, path)


def test_octets_not_letters_are_measured() -> None:
    """A letter outside ASCII weighs as its percent-encoded octets (ST-6, ST-10)."""
    assert not may("User-agent: *\nAllow: /*aaaaaaa\nDisallow: /ツ", "/ツaaaaaaa")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/fish", "/fish.html", True),
        ("/fish*", "/fishheads/yummy.html", True),
        ("/fish*", "/catfish", False),
        ("/*.php$", "/a/b.php", True),
        ("/*.php$", "/a/b.php?x=1", False),
        ("/*.php$", "/b.php.php", True),
        ("/a*b*c", "/a-b-c-d", True),
        ("/a*b*c", "/a-c-b", False),
        ("/a*b$", "/ab-b", True),
        ("/ab*ba$", "/aba", False),
        ("/a**b", "/ab", True),
        ("/fish*$", "/fish/x", True),
        ("/fish$", "/fishes", False),
        ("*/x/", "/a/x/b", True),
        ("*", "/anything", True),
        ("/a$b", "/a$bc", True),
        ("/a$b", "/a", False),
        ("/?", "/?x", True),
        ("/a#b", "/a", True),
    ],
)
def test_star_and_dollar(pattern: str, path: str, matches: bool) -> None:
    """``*`` is any characters, a last ``$`` the end, another ``$`` itself, ``#`` a comment (ST-9)."""
    assert matches is not may(f"User-agent: *\nDisallow: {pattern}", path)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%e3%83%84", "/foo/bar/ツ", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/%7Ejoe/", "/~joe/index.html", True),
        ("/~joe/", "/%7ejoe/index.html", True),
        ("/a%2Fb", "/a/b", False),
        ("/a/b", "/a%2fb", False),
        ("/a<b", "/a%3Cb", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-x.html", False),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/foo?baz=https://foo.bar", "/foo?baz=https%3A%2F%2Ffoo.bar", True),
        ("/100%", "/100%", True),
    ],
)
def test_octets_are_compared_in_one_spelling(pattern: str, path: str, matches: bool) -> None:
    """Percent-encoding is normalised on both sides before comparison (ST-10; RFC 9309, 2.2.2 and 2.2.3)."""
    assert matches is not may(f"User-agent: *\nDisallow: {pattern}", path)


def test_an_allow_with_escaped_letters_allows_only_what_both_readings_do() -> None:
    """Where RFC 9309 and the reference parser read an Allow differently, the less is allowed (ST-10)."""
    body = "User-agent: *\nDisallow: /\nAllow: /foo/bar/%62%61%7A\nAllow: /%7Ejoe"

    assert [may(body, path) for path in ("/foo/bar/%62%61%7A", "/foo/bar/baz", "/~joe")] == [True, False, True]


@pytest.mark.parametrize(
    ("body", "agent", "allowed"),
    [
        ("User-agent: *\nDisallow: /\nUser-agent: purlieu\nDisallow:", "purlieu", True),
        ("User-agent: PURLIEU\nDisallow: /", "Purlieu", False),
        ("User-agent: purlieu/1.0\nDisallow: /", "purlieu", False),
        ("User-agent: purlieu\nDisallow: /", "purlieu/1.0", False),
        ("User-agent: purlieus\nDisallow: /", "purlieu", True),
        ("User-agent: mj12bot\nDisallow: /", "MJ12bot", False),
        (
            "User-agent: purlieu\nDisallow: /y\nUser-agent: other\nDisallow: /z\nUser-agent: purlieu\nDisallow: /x",
            "purlieu",
            False,
        ),
        ("User-agent: other\nUser-agent: purlieu\nDisallow: /", "purlieu", False),
        ("Disallow: /\nUser-agent: *\nAllow: /y", "purlieu", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: purlieu\n\n", "purlieu", True),
        ("User-agent: purlieu\nDisallow: /\nUser-agent: *\nAllow: /", "", True),
    ],
)
def test_groups(body: str, agent: str, allowed: bool) -> None:
    """Groups of one token are merged, a specific one hides ``*``, rules before any group are ignored (ST-7, ST-8)."""
    assert allowed is may(body, "/x", agent)


@pytest.mark.parametrize(
    "line", ["Sitemap: https://example.com/s.xml", "Crawl-delay: 9", "Noindex: /a", "nonsense", ""]
)
def test_other_lines_do_not_close_a_group(line: str) -> None:
    """Only Allow and Disallow end a run of User-agent lines (ST-11)."""
    body = f"User-agent: purlieu\n{line}\nUser-agent: *\nDisallow: /"

    assert [may(body, "/x", "purlieu"), may(body, "/x", "other")] == [False, False]


@pytest.mark.parametrize(
    ("body", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\ncrawl-DELAY: 0", 0.0),
        ("User-agent: *\nCrawl-delay: 86400", 86400.0),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: ten", None),
        ("User-agent: *\nCrawl-delay: nan\nCrawl-delay: inf\nCrawl-delay: ١\nCrawl-delay:", None),
        ("User-agent: *\nCrawl-delay: 3\nCrawl-delay: 7\nCrawl-delay: 5", 7.0),
        ("User-agent: *\nCrawl-delay: 3\nUser-agent: purlieu\nAllow: /", None),
        ("User-agent: purlieu\nCrawl-delay: 3\nUser-agent: *\nCrawl-delay: 9", 3.0),
        ("Crawl-delay: 3\nUser-agent: *\nAllow: /", None),
        ("", None),
    ],
)
def test_crawl_delay(body: str, delay: float | None) -> None:
    """A number of seconds of the agent's own group, the largest; nonsense is ignored and nothing capped (ST-12)."""
    assert delay == robots.read(body.encode()).crawl_delay("purlieu")


def test_sitemaps_are_kept_as_written() -> None:
    """Sitemap lines belong to no group, once each and in order (ST-11, SM-44)."""
    body = b"Sitemap: https://example.com/b.xml\nUser-agent: *\nsitemap:/a.xml # x\nSitemap:\nSITEMAP: https://example.com/b.xml"

    assert robots.read(body).sitemaps == ("https://example.com/b.xml", "/a.xml")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_ends(end: str) -> None:
    """CR, LF and CRLF end a line, each once in the count of lines."""
    read = robots.read(end.join(["#", "", "User-agent: *", "Disallow: /x"]).encode())

    assert read.judge("purlieu", "/x").rule == "robots:4"


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
        b"\xef\xbbUser-agent: *\nDisallow: /x",
        "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16-le"),
        "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16-be"),
        b"User-agent: *\nDisallow: /x\n\xff\xfe\x00\n",
        b"  User-agent :\t*  \n\tDisallow\t:/x  ",
        b"User-agent *\nDisallow /x",
        b"User-agent: *\nDisalow: /x",
        b"User-agent: *\nDisallow: /\xe3\x83\nDisallow: /x",
    ],
)
def test_what_owners_and_their_editors_do_to_the_file(body: bytes) -> None:
    """Byte order marks, stray bytes, white space and the forgiven slips leave the rules standing (ST-13)."""
    assert not may(body, "/x")


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html><body><p>User-agent: *<br>Disallow: /</p></body></html>",
        b"<html>\n<script>\nvar a = {disallow: '/'};\n</script>\n</html>",
        b"\x00" * 1000,
        b"\x1f\x8b\x08\x00\x00\x00",
    ],
)
def test_a_body_that_is_no_robots_txt_has_no_rules(body: bytes) -> None:
    """HTML and binary instead of robots.txt forbid nothing."""
    assert may(body, "/")


def test_a_rule_cut_at_the_limit_is_not_used() -> None:
    """Only 512,000 bytes count, and the line that the limit cuts is dropped (ST-5, R-8.3)."""
    start = b"User-agent: *\nDisallow: /private/\n#"
    padding = b"x" * (robots.LIMIT_BYTES - len(start) - len(b"\nDisallow: /p"))
    body = start + padding + b"\nDisallow: /public/\nDisallow: /late/"
    whole = start + padding + b"\nDisallow: /p\nDisallow: /late/"

    assert [may(body, path) for path in ("/private/", "/public/", "/late/")] == [False, True, True]
    assert [may(whole, path) for path in ("/public/", "/late/")] == [False, True]


def test_a_rule_cut_by_the_fetcher_is_not_used() -> None:
    """A body that the fetcher cut loses its last line as well (ST-5)."""
    body = b"User-agent: *\nDisallow: /private/\nDisallow: /"

    assert robots.read(body, cut=True).allowed("purlieu", "/public/")
    assert not robots.read(body, cut=True).allowed("purlieu", "/private/")


def test_robots_txt_itself_is_always_allowed() -> None:
    """RFC 9309, 2.2.2: the URI /robots.txt is implicitly allowed."""
    assert [may("User-agent: *\nDisallow: /", path) for path in ("/robots.txt", "/robots.txt.bak")] == [True, False]


def test_an_allowed_index_page_allows_its_folder() -> None:
    """``Allow: /x/index.html`` allows ``/x/`` and no more of it (ST-13, and both parsers of the corpus)."""
    body = "User-agent: *\nDisallow: /x/\nAllow: /x/index.html"

    assert [may(body, path) for path in ("/x/", "/x/index.html", "/x/y")] == [True, True, False]


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, "parse"), (204, "parse"), (299, "parse"),
        (100, "allow"), (301, "allow"), (304, "allow"), (399, "allow"),
        (400, "allow"), (401, "allow"), (403, "allow"), (404, "allow"), (410, "allow"), (499, "allow"),
        (429, "disallow"), (500, "disallow"), (503, "disallow"), (599, "disallow"),
        (0, "disallow"), (99, "disallow"), (777, "disallow"),
    ],
)  # fmt: skip
def test_of_status(status: int, answer: str) -> None:
    """What a status means for the whole origin (ST-1 to ST-3, ST-14, AMB-ST-1, AMB-ST-2, R-4.5)."""
    assert answer == robots.of_status(status)


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://example.com?x=/y", "https://example.com#/y", "//example.com/", "/"]
)
def test_the_root(url: str) -> None:
    """A URL without a path is judged as ``/``, and neither query nor fragment are taken for one."""
    read = robots.read(b"User-agent: *\nDisallow: /y\nDisallow: //")

    assert read.allowed("purlieu", url)


@given(st.binary(max_size=300), st.text(max_size=40), st.text(max_size=80))
def test_nothing_makes_it_raise(body: bytes, agent: str, url: str) -> None:
    """No bytes, agent or URL raise, and both ways of asking agree."""
    read = robots.read(body + b"\nUser-agent: *\n" + body)

    assert read.judge(agent, url).accepted == read.allowed(agent, url)


@given(
    st.lists(st.sampled_from(["/", "a", "b", "*", "$", "%61", "%2a", "?", "ツ", "%3A", "<"]), max_size=8).map("".join)
)
def test_a_pattern_matches_the_path_that_spells_it_out(pattern: str) -> None:
    """A Disallow that does not end in ``$`` matches its own text, stars and all (ST-9, ST-10)."""
    pattern = "/" + pattern.rstrip("$")

    assert not may(f"User-agent: *\nDisallow: {pattern}", pattern + "x")


def test_many_stars_take_linear_time() -> None:
    """A pattern of stars against a path that almost matches costs no backtracking."""
    body = b"User-agent: *\n" + b"Disallow: /" + b"*a" * 4000 + b"*b$\n"
    read = robots.read(body * 20)

    assert read.allowed("purlieu", "/" + "a" * 60_000 + "c")


def test_many_agents_times_many_rules_is_no_product() -> None:
    """A group of thousands of agents and thousands of rules or delays is read in time linear in the file."""
    agents = b"".join(b"User-agent: a%d\n" % number for number in range(10_000))
    read = [
        robots.read(agents + line * 10_000)
        for line in (b"Disallow: /x\n", b"Crawl-delay: 1\n", b"User-agent: *\nCrawl-delay: 1\n")
    ]

    assert not read[0].allowed("a9999", "/x")
    assert read[1].crawl_delay("a9999") == 1
