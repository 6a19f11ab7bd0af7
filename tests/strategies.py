"""The Hypothesis generators: hosts, URLs, links as the web writes them, and plain junk.

Knows what is likely to break a URL parser. Knows nothing of what the right answer is.
"""

from __future__ import annotations

from hypothesis import strategies as st

LABELS = ("www", "a", "b", "example", "notexample", "com", "co", "uk", "org", "net", "evil", "github", "io", "xn--p1ai")
PIECES = (
    *"aZ09/\\?#@:.;&=%^|~!$'()*+,-_[]{}<>\" \t\n\r\0\x1f\x7f\u00a0\u00e9\u00df\u65e5\u3002\uff0e\u200d\u00ad\ufffd",
    *("//", "http:", "HTTPS://", "https:/", "../", "./", "%2e", "%2E.", "C:/", "C|", "::1", "[::1]", ":80", ":65536"),
    *("xn--", "xn--zca", "xn--a", "0x7f.1", "127.1", "ex.com", "%00", "%41", "%zz", "\u05d0", "\U0001f600", "\ud800"),
    *("mailto:", "javascript:", "data:,", "tel:", "about:blank"),
)

hosts = st.lists(st.sampled_from(LABELS), min_size=1, max_size=5).map(".".join)
ports = st.sampled_from(("", ":80", ":443", ":8080"))
schemes = st.sampled_from(("http", "https"))
paths = st.sampled_from(("/", "/a", "/a/", "/a/b?c=d", "/abc/x", "/?u=http://example.com/", "/@example.com/"))
userinfo = st.sampled_from(("", "", "", "example.com@", "u:p@"))


@st.composite
def hrefs(draw: st.DrawFn) -> str:
    """Draw an http(s) URL of few hosts, ports and paths, so that two of them often have something in common."""
    return f"{draw(schemes)}://{draw(userinfo)}{draw(hosts)}{draw(ports)}{draw(paths)}"


refs = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
junk = st.one_of(refs, st.text(st.characters(codec=None), max_size=40))
