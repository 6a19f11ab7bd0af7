"""The site of the leak kit: it tempts a crawler out of scope in every way, and writes down who was asked.

It is served as an HTTP proxy too, so that every name there could be, look-alikes and all, is answered here and nothing
leaves the machine; or at addresses and ports of loopback itself. Knows what it sends; what a crawl may take of it is
``leak.py``'s to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from html import escape
from typing import Final, Self

from purlieu import page, robots
from purlieu.errors import UrlError
from purlieu.testing import bait
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.url import host_of, origin_of, parse, without_login
from purlieu.value import dataclass

HOME: Final = "http://www.example.com/in/"
SESSION: Final = "session-of-the-kit"
"""The cookie that a login by the form at ``/login`` of a home brings."""
FOREIGN: Final = "http://evil.test"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that reached the server, with what its answer led to: all absolute, "" or empty for nothing."""

    url: str
    redirect: str = ""
    sitemaps: tuple[str, ...] = ()
    succeeded: bool = True
    carried: str = ""
    """Its headers and body, for those who look for a secret in them."""
    method: str = "GET"
    links: tuple[str, ...] = ()
    """What the page that was sent links to."""


class LeakSite:
    """Serves the kit for the length of a ``with`` block.

    ``homes`` are imitated (http only). ``moved``: seeds are elsewhere and redirect there twice. ``robots_hops``
    redirects lead to each robots.txt of a home. ``by_address``: no names, only addresses and ports of loopback.
    ``granted_robots_move``: the robots.txt of any other host redirects too.
    """

    def __init__(
        self,
        homes: Sequence[str] = (HOME,),
        *,
        moved: bool = False,
        robots_hops: int = 3,
        by_address: bool = False,
        granted_robots_move: bool = False,
    ) -> None:
        """Prepare; ``with`` starts it."""
        self._wanted = tuple(homes)
        self._moved = moved
        self._robots_hops = robots_hops
        self._by_address = by_address
        self._granted_robots_move = granted_robots_move
        self._stack = ExitStack()
        self.homes: tuple[str, ...] = ()
        self.proxy = ""
        self.log: list[Asked] = []

    def __enter__(self) -> Self:
        """Listen: by name on one port, by address on two ports and on further addresses where the system has them."""
        first = self._stack.enter_context(Loopback(self._give))
        self.proxy = "" if self._by_address else first.origin
        self.homes = self._wanted
        self._elsewhere = [FOREIGN]
        if self._by_address:
            self.homes = tuple(f"{first.origin}{parse(home).path}" for home in self._wanted[:1])
            self._elsewhere = [self._stack.enter_context(Loopback(self._give)).origin]
            for number in (2, 3):
                with suppress(OSError):  # some systems have 127.0.0.1 only
                    more = Loopback(self._give, address=f"127.0.0.{number}", port=first.port)
                    self._elsewhere.insert(0, self._stack.enter_context(more).origin)
        self._origins = [origin_of(home) for home in self.homes]
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._stack.close()

    @property
    def seeds(self) -> tuple[str, ...]:
        """Return where a crawl starts, one URL for each home."""
        if not self._moved:
            return self.homes
        return tuple(f"{self._other('start', 0)}/go/{index}/1/" for index in range(len(self.homes)))

    @property
    def url(self) -> str:
        """Return where a crawl starts."""
        return self.seeds[0]

    @property
    def hosts(self) -> dict[str, int]:
        """Return how often each host was asked."""
        hosts = [host_of(one.url) for one in self.log]
        return {host: hosts.count(host) for host in sorted(set(hosts))}

    def _other(self, name: str, number: int) -> str:
        """Return a foreign origin, of its own where names are served."""
        return self._elsewhere[number % len(self._elsewhere)] if self._by_address else f"http://{name}{number}.test"

    # -- answers -----------------------------------------------------------------------------------

    async def _give(self, received: Received, out: asyncio.StreamWriter) -> bool:
        target = received.target
        if received.method == "CONNECT":  # as far as anyone gets with https here
            carried = str(received.headers)
            tunnel = f"https://{target.removesuffix(':443')}/"
            self.log.append(Asked(tunnel, succeeded=False, carried=carried, method="CONNECT"))
            out.write(message(status=502))
            return False
        url = target if target.startswith("http://") else f"http://{received.headers.get('host', '')}{target}"
        status, headers, body = self._answer(url)
        named = robots.read(body).sitemaps if headers.get("Content-Type") == "text/plain" else ()
        target = headers.get("Location") or headers.get("Refresh", "").partition("=")[2]
        sitemaps = tuple(found for name in named if (found := met(name, url)))
        carried = f"{received.headers}\n{received.body.decode('latin-1')}"
        links = _links(url, headers, body) if received.method == "GET" and "Content-Type" not in headers else ()
        led = met(target, url) if target else ""
        self.log.append(Asked(url, led, sitemaps, status // 100 == 2, carried, received.method, links))
        out.write(message(body, status=status, headers=headers, with_body=received.method != "HEAD"))
        return True

    def _answer(self, url: str) -> tuple[int, dict[str, str], bytes]:
        href = met(url, url)
        origin, path = origin_of(href), parse(href).path if href else ""
        index = self._origins.index(origin) if origin in self._origins else -1
        match path.strip("/").split("/"):
            case ["go", which, ("0" | "1") as left] if _below(which, len(self.homes)):
                way = f"{self._other('way', 1)}/go/{which}/0"
                return _to(way, 301) if left == "1" else _to(self.homes[int(which)], 302)
            case ["robots.txt"] if index >= 0:
                return self._robots(index, 0)
            case ["robots.txt"] if self._granted_robots_move:
                return _to(f"{self._other('beyond', 1)}/beyond/{host_of(href)}", 301)
            case ["robots.txt"] | [
                "beyond",
                _,
            ]:  # for a host that is granted or has leaked: what it names gains nothing
                return _text(f"User-agent: *\nDisallow:\nSitemap: {origin}/leak/unnamed.xml\n")
            case ["hop", which, hop] if _below(which, len(self.homes)) and _below(hop, self._robots_hops + 1):
                return self._robots(int(which), int(hop))
            case ["login"] if index >= 0:
                return _html("<form method=post action=/enter><input name=user><input name=pass></form>")
            case ["enter"] if index >= 0:
                return 200, {"Set-Cookie": f"kit={SESSION}; Path=/"}, b"in"
            case ["named.xml"]:  # granted by the robots.txt of a home: it may be read, and what it names gains nothing
                return _xml("entry", f"{origin}/in/", f"{origin}")
            case ["moved.xml"]:
                return _to(f"{self._other('mapped', 2)}/leak/moved-sitemap.xml", 302)
            case ["map", carrier] if index >= 0 and carrier in bait.OF_SITEMAPS:
                return _xml(carrier, self.homes[index], self._elsewhere[0])
        return self._page(index, path)

    def _robots(self, index: int, hop: int) -> tuple[int, dict[str, str], bytes]:
        """Return a hop of the robots.txt of a home, and at last the file."""
        if hop < self._robots_hops:
            return _to(f"{self._other('hop', hop + 1)}/hop/{index}/{hop + 1}", bait.CODES[hop % 5])
        origin = self._origins[index]
        maps = [f"{origin}/map/{carrier}" for carrier in bait.OF_SITEMAPS]
        maps += [f"{self._other('named', 1)}/named.xml", f"{origin}/moved.xml", f"ftp://{host_of(origin)}/leak/robots"]
        return _text("".join(f"Sitemap: {one}\n" for one in maps))

    def _page(self, index: int, path: str) -> tuple[int, dict[str, str], bytes]:
        """Return a page: the index of a home, one with bait, or any other."""
        home = self.homes[index] if index >= 0 else ""
        folder = path_folder(home) if home else ""
        if not home or not path.startswith(folder):
            return _html('<a href="/leak/followed">on</a><a href="/">top</a>')
        name, _, number = path.removeprefix(folder).removeprefix("bait/").partition("/")
        if path == parse(home).path or not name:
            return _html("".join(f'<a href="{escape(link)}">x</a>\n' for link in self._tempting(index, folder)))
        if not path.startswith(f"{folder}bait/"):
            return _html("Nothing to see.")
        number, _, rest = number.partition("/")
        if not _below(number, len(bait.SPELLINGS)):
            if name not in bait.LISTS or name in bait.OF_SITEMAPS:
                return _html("No such bait.")
            return _html(bait.listing(name, home, self._elsewhere[0]))
        return self._single(home, name, int(number), twice=rest == "on")

    def _tempting(self, index: int, folder: str) -> Iterator[str]:
        """Yield the links of an index."""
        yield from (f"{folder}bait/{name}" for name in bait.LISTS if name not in bait.OF_SITEMAPS)
        yield from (f"{folder}bait/{name}/{n}" for name in bait.ONE_BY_ONE for n in range(len(bait.SPELLINGS)))
        for home in (*self.homes[:index], *self.homes[index + 1 :]):  # for own-seed: another's, found from here alone
            yield f"{origin_of(home)}{path_folder(home)}only-from-{index}"

    def _single(self, home: str, name: str, number: int, *, twice: bool) -> tuple[int, dict[str, str], bytes]:
        text = bait.spelt(home, self._elsewhere[0], name, number)
        line = "".join(sign for sign in text if sign not in "\r\n\0")
        in_header = line.encode().decode("latin-1")  # raw UTF-8, as servers send it
        if name == "redirect-twice" and not twice:
            return _to(f"{parse(home).path.rpartition('/')[0]}/bait/{name}/{number}/on", 302)
        match name:
            case "redirect" | "redirect-twice":
                return _to(in_header, bait.CODES[number % len(bait.CODES)])
            case "refresh-header":
                return 200, {"Refresh": f"0; url={in_header}"}, b"<!doctype html><title>Refresh</title>"
            case "canonical-header":
                return 200, {"Link": f'<{in_header}>; rel="canonical"'}, b"<!doctype html><title>Canonical</title>"
            case "refresh":
                return _html("", f'<meta http-equiv="refresh" content="0; url={escape(text)}">')
            case "canonical":
                return _html("", f'<link rel="canonical" href="{escape(text)}">')
        return _html('<a href="relative">x</a><a href="?q">x</a>', f'<base href="{escape(text)}">')


def _links(url: str, headers: dict[str, str], body: bytes) -> tuple[str, ...]:
    """Return what a page links to, as a visitor would follow it."""
    href = met(url, url)
    if not href:
        return ()
    sent = page.read(body, url=href, content_type="text/html; charset=utf-8", headers=tuple(headers.items()))
    return tuple(dict.fromkeys(target for link, *_ in sent.raw_links if (target := met(link, href))))


def path_folder(home: str) -> str:
    """Return the folder of a URL, with its last slash."""
    path = parse(home).path
    return path[: path.rfind("/") + 1]


def _below(text: str, most: int) -> bool:
    return text.isdecimal() and int(text[:9]) < most


def _to(location: str, status: int) -> tuple[int, dict[str, str], bytes]:
    return status, {"Location": location}, b""


def _text(body: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "text/plain"}, body.encode()


def _xml(carrier: str, home: str, foreign: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/xml"}, bait.listing(carrier, home, foreign).encode()


def _html(body: str, head: str = "") -> tuple[int, dict[str, str], bytes]:
    return 200, {}, f"<!doctype html><title>Kit</title>{head}<p>Words.</p>{body}".encode("utf-8", "replace")


def met(text: str, base: str) -> str:
    """Return an address as it is asked for: absolute, without fragment and login; "" for what is none of the web."""
    try:
        href = parse(text, base).href
    except UrlError:
        return ""
    return without_login(href) if host_of(href) else ""
