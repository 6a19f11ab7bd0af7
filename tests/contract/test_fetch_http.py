"""What only the real fetcher does: connections, TLS, cookies, credentials, addresses, proxies, codings, clean ends."""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.certificates import made_certificate
from tests.fetching import OPEN, failure, fetched, real_fetcher, response, sends, served

from purlieu.crawl.clock import RealClock
from purlieu.fetch.http import HttpFetcher, transfer
from purlieu.fetch.origin import certificate_end
from purlieu.response import Failure, Fault, Request
from purlieu.settings import FetchSettings, HostSettings, OriginSettings
from purlieu.testing.loopback import Loopback, Received, message

CLOSED = FetchSettings(timeout_seconds=5.0)


def echo(received: Received) -> bytes:
    """Answer with the request's own headers, a line each."""
    return message("\n".join(f"{name}: {value}" for name, value in received.headers.items()).encode())


def on_loop(loop: str, work: Coroutine[Any, Any, None]) -> None:
    """Run on asyncio's own loop or on uvloop."""
    if loop == "uvloop":
        import uvloop

        uvloop.run(work)
    else:
        asyncio.run(work)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_one_connection_serves_many_pages(loop: str) -> None:
    """Keep-alive: one page after another uses one connection, on either loop."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            for number in range(50):
                assert response(await fetcher.fetch(Request(f"{site.origin}/?{number}"))).status == 200

    with sends(message(b"x"), again=True) as site:
        on_loop(loop, ask())
        assert (site.connections, len(site.log)) == (1, 50)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_many_pages_at_once(loop: str) -> None:
    """A fetcher carries many transfers at once, each with its own answer."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            urls = [f"{site.origin}/{number}" for number in range(200)]
            got = await asyncio.gather(*(fetcher.fetch(Request(url)) for url in urls))
        assert [url.rpartition("/")[2].encode() for url in urls] == [response(one).body for one in got]

    with sends(lambda received: message(received.path[1:].encode()), again=True) as site:
        on_loop(loop, ask())


def test_facts_of_an_answer() -> None:
    """House 2: a response keeps version, address, times and wire bytes (those before decoding)."""
    packed = gzip.compress(b"x" * 10_000)
    got = response(fetched(sends(message(packed, headers={"Content-Encoding": "gzip"}))))
    assert (got.http_version, got.address, got.body) == ("1.1", "127.0.0.1", b"x" * 10_000)
    assert got.wire_bytes == len(packed)
    assert 0 < got.first_byte_seconds <= got.seconds < 5


def test_what_is_asked_for() -> None:
    """A request names the crawler, takes HTML first, and offers only codings that can be decoded."""

    async def ask() -> dict[str, str]:
        async with real_fetcher(accept_language="ja") as fetcher:
            await fetcher.fetch(Request(f"{site.origin}/a%20b/../c?q#", headers=(("If-None-Match", '"\xe9"'),)))
        return site.log[0].headers

    with sends(message(b"x")) as site:
        headers = asyncio.run(ask())
    assert site.log[0].target == "/a%20b/../c?q"
    assert headers["user-agent"] == "Tester/1.0"
    assert headers["accept"].startswith("text/html")
    assert headers["accept-language"] == "ja"
    assert headers["if-none-match"] == '"\xe9"'
    assert {"gzip", "deflate", "br"} <= set(headers["accept-encoding"].split(", "))


def test_headers_change_from_page_to_page() -> None:
    """A handle used again sends the headers of its own request only, whatever the last one had."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            for headers in ((), (("X-One", "1"),), (("X-Two", "2"),), ()):
                await fetcher.fetch(Request(site.origin, headers=headers))
            await fetcher.fetch(Request(site.origin, method="HEAD"))
            assert response(await fetcher.fetch(Request(site.origin))).body == b"x"

    with sends(lambda received: message(b"x", with_body=received.method == "GET"), again=True) as site:
        asyncio.run(ask())
    assert [("x-one" in one.headers, "x-two" in one.headers) for one in site.log] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (0, 0),
        (0, 0),
        (0, 0),
    ]
    assert [one.method for one in site.log] == ["GET", "GET", "GET", "GET", "HEAD", "GET"]


def test_a_value_cannot_add_a_header() -> None:
    """The web is hostile: a value with a line end (a stored ETag, say) stays one line."""
    got = response(fetched(sends(echo), headers=(("If-None-Match", 'a"\r\nX-Evil: 1\nX-Worse: 2'),)))
    assert b"x-evil:" not in got.body
    assert b"x-worse:" not in got.body


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/", "file:///etc/hostname", "javascript:1", "gopher://127.0.0.1/", "", "http://", "x"]
)
def test_only_http_is_spoken(url: str) -> None:
    """R-5.2: only http and https are ever spoken."""

    async def ask() -> Fault:
        async with real_fetcher() as fetcher:
            return failure(await fetcher.fetch(Request(url))).fault

    assert asyncio.run(ask()) is Fault.PROTOCOL


def test_nobody_listens() -> None:
    """R-6.1: a refused connection is unreachable.connect."""
    with sends(b"") as site:
        url = site.origin

    async def ask() -> Fault:
        async with real_fetcher() as fetcher:
            return failure(await fetcher.fetch(Request(url))).fault

    assert asyncio.run(ask()) is Fault.CONNECT


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a%24b.invalid", f"{'a' * 64}.invalid"])
def test_no_such_name(host: str) -> None:
    """R-6.1: a name without an address is unreachable.dns, strange names too."""

    async def ask() -> Fault:
        async with real_fetcher() as fetcher:
            return failure(await fetcher.fetch(Request(f"http://{host}/"))).fault

    assert asyncio.run(ask()) is Fault.DNS


def test_every_error_code_has_a_fault() -> None:
    """R-6.1: whatever code libcurl ends with becomes a fault, before the first byte an unreachable one mostly."""
    for code in range(1, 130):
        for begun in (True, False):
            assert isinstance(transfer.fault_of(transfer.Ending(code, "words"), begun=begun), Fault)


# Clean ends.


def test_a_cancelled_fetch_leaves_the_fetcher_whole() -> None:
    """A cancelled fetch drops its transfer, and its handle serves the next page."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            for _ in range(5):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(fetcher.fetch(Request(f"{site.origin}/slow")), 0.05)
                assert response(await fetcher.fetch(Request(f"{site.origin}/"))).body == b"x"

    async def give(received: Received, out: asyncio.StreamWriter) -> bool:
        if received.path == "/slow":
            await asyncio.sleep(20)
        out.write(message(b"x"))
        return True

    with Loopback(give) as site:
        asyncio.run(ask())


def test_close_ends_what_is_in_flight() -> None:
    """Closing ends a fetch in flight with a failure instead of leaving it to hang."""
    asked = threading.Event()

    async def give(_: Received, __: asyncio.StreamWriter) -> bool:
        asked.set()
        await asyncio.sleep(20)
        return False

    async def ask() -> None:
        fetcher = HttpFetcher(OPEN, (), (), "Tester/1.0", RealClock().now)
        waiting = asyncio.ensure_future(fetcher.fetch(Request(site.origin)))
        await asyncio.to_thread(asked.wait)
        await fetcher.close()
        assert failure(await waiting).fault is Fault.RESET

    with Loopback(give) as site:
        asyncio.run(ask())


# Cookies.


def cookie_site(received: Received) -> bytes:
    """Set a cookie for the whole parent domain at /set, and show what was sent elsewhere."""
    if received.path == "/set":
        return message(b"x", headers={"Set-Cookie": "id=7; Domain=site.localhost; Path=/"})
    return message(received.headers.get("cookie", "none").encode())


def test_cookies_stay_with_their_host() -> None:
    """R-4.7: a cookie goes back to the host that set it, and to no other, whatever its Domain says."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:

            async def body(host: str, path: str) -> bytes:
                return response(await fetcher.fetch(Request(f"http://{host}:{site.port}{path}"))).body

            await body("a.site.localhost", "/set")
            assert await body("a.site.localhost", "/") == b"id=7"
            assert await body("b.site.localhost", "/") == b"none"
            assert await body("site.localhost", "/") == b"none"
            assert await body("a.site.localhost", "/") == b"id=7"

    with sends(cookie_site, again=True) as site:
        asyncio.run(ask())


def test_cookies_can_be_off() -> None:
    """``fetch.cookies = false``: nothing is kept."""

    async def ask() -> bytes:
        async with real_fetcher(cookies=False) as fetcher:
            await fetcher.fetch(Request(f"http://a.site.localhost:{site.port}/set"))
            return response(await fetcher.fetch(Request(f"http://a.site.localhost:{site.port}/"))).body

    with sends(cookie_site, again=True) as site:
        assert asyncio.run(ask()) == b"none"


def test_a_jar_has_a_size() -> None:
    """The web is hostile: a host that sets new cookies with every page does not fill the memory."""

    def flood(received: Received) -> bytes:
        lines = "".join(f"Set-Cookie: {received.path[1:]}-{n}={'v' * 900}\r\n" for n in range(20))
        return f"HTTP/1.1 200 OK\r\n{lines}Content-Length: 1\r\n\r\nx".encode()

    async def ask() -> int:
        async with real_fetcher() as fetcher:
            for number in range(40):
                assert response(await fetcher.fetch(Request(f"{site.origin}/{number}"))).status == 200
            jar = fetcher._origins.of(site.origin)
            assert jar is not None
            assert jar.jar is not None
            return jar.jar.received_bytes

    with sends(flood, again=True) as site:
        assert asyncio.run(ask()) <= transfer.JAR_BYTES
    assert "0-0=" not in site.log[-1].headers["cookie"]


# Owner's headers and credentials.


def owned(origin: str, auth: str = "basic") -> tuple[OriginSettings, ...]:
    """Return one origin's headers and credentials."""
    return (OriginSettings(origin, (("X-Key", "secret"),), user="ann", password="pässword", auth=auth),)


def test_credentials_go_to_their_origin_only() -> None:
    """R-4.7: owner's headers and credentials are sent to their origin, and to no other port, host or name."""

    async def ask() -> None:
        async with real_fetcher(origins=owned(mine.origin)) as fetcher:
            urls = [
                f"{mine.origin}/",
                f"{other.origin}/",
                f"http://localhost:{mine.port}/",
                f"http://127.0.0.1:{mine.port}@localhost:{other.port}/",
                f"http://x@127.0.0.1:{mine.port}/",
                f"{mine.origin}/again",
            ]
            got = [response(await fetcher.fetch(Request(url))).body for url in urls]
        sent = [(b"x-key: secret" in body, b"authorization: Basic" in body) for body in got]
        assert [(True, True), *[(False, False)] * 3, (True, True), (True, True)] == sent

    with sends(echo, again=True) as mine, sends(echo, again=True) as other:
        asyncio.run(ask())


def test_a_link_brings_no_credentials() -> None:
    """R-4.7: user and password inside a URL are not sent: only the owner gives credentials."""

    async def ask() -> bytes:
        async with real_fetcher() as fetcher:
            return response(await fetcher.fetch(Request(f"http://eve:pass@127.0.0.1:{site.port}/"))).body

    with sends(echo, again=True) as site:
        assert b"authorization" not in asyncio.run(ask())


def test_digest() -> None:
    """Digest credentials answer the challenge, and the answer after it is the response."""

    def guard(received: Received) -> bytes:
        if received.headers.get("authorization", "").startswith("Digest "):
            return message(b"inside")
        challenge = 'Digest realm="r", nonce="abc", qop="auth", algorithm=MD5'
        return message(b"outside", status=401, headers={"WWW-Authenticate": challenge, "X-Only": "challenge"})

    async def ask() -> None:
        async with real_fetcher(origins=owned(site.origin, "digest")) as fetcher:
            got = response(await fetcher.fetch(Request(site.origin)))
            assert (got.status, got.body, got.header("x-only")) == (200, b"inside", None)

    with sends(guard, again=True) as site:
        asyncio.run(ask())
    assert 'username="ann"' in site.log[-1].headers["authorization"]


# Addresses.


def test_loopback_is_closed_unless_opened() -> None:
    """R-5.1: without a setting or an entry point no address inside is spoken to: not one byte arrives."""

    async def ask() -> None:
        async with real_fetcher(CLOSED) as fetcher:
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "x.localhost"):
                got = failure(await fetcher.fetch(Request(f"http://{host}:{site.port}/")))
                assert got.fault is Fault.ADDRESS_REFUSED, got
                assert "loopback" in got.detail
                assert got.address

    with sends(message(b"x")) as site:
        asyncio.run(ask())
        assert (site.connections, site.log) == (0, [])


def test_an_entry_point_opens_loopback_for_the_scope() -> None:
    """R-5.1: a seed on loopback opens loopback for hosts in scope; what is out of scope may not enter,
    not even over the connection that is already there.
    """  # noqa: D205

    async def ask() -> None:
        async with real_fetcher(CLOSED) as fetcher:
            assert response(await fetcher.fetch(Request(site.origin, opens=True))).status == 200
            assert response(await fetcher.fetch(Request(f"{site.origin}/a"))).status == 200
            assert response(await fetcher.fetch(Request(f"http://localhost:{site.port}/b"))).status == 200
            out = failure(await fetcher.fetch(Request(f"{site.origin}/c", in_scope=False)))
            assert (out.fault, out.address) == (Fault.ADDRESS_REFUSED, "127.0.0.1")
            assert response(await fetcher.fetch(Request(f"{site.origin}/d"))).status == 200

    with sends(message(b"x"), again=True) as site:
        asyncio.run(ask())
        assert [one.path for one in site.log] == ["/", "/a", "/b", "/d"]


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]", "0.0.0.0", "[::]", "10.0.0.1", "100.64.0.1"])
def test_no_redirect_target_inside_is_reached(host: str) -> None:
    """R-5.1: loopback being open opens nothing else: metadata, private and special addresses are refused at once."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            got = failure(await fetcher.fetch(Request(f"http://{host}/latest/meta-data/")))
            assert (Fault.ADDRESS_REFUSED, host.strip("[]")) == (got.fault, got.address)
            assert got.seconds < 1

    asyncio.run(ask())


# Proxies.


def test_through_a_proxy() -> None:
    """R-5.2: the proxy's own address is exempt, names go to it unresolved, literal addresses inside are refused."""

    async def ask() -> None:
        async with real_fetcher(CLOSED, proxy=proxy.origin) as fetcher:
            assert response(await fetcher.fetch(Request("http://example.invalid/a?b"))).body == b"via"
            got = failure(await fetcher.fetch(Request("http://10.0.0.1/")))
            assert (got.fault, got.address) == (Fault.ADDRESS_REFUSED, "10.0.0.1")
            tunnel = failure(await fetcher.fetch(Request("https://example.invalid/")))
            assert tunnel.fault is Fault.PROXY

    def answer(received: Received) -> bytes:
        return message(b"no", status=403) if received.method == "CONNECT" else message(b"via")

    with sends(answer, again=True) as proxy:
        asyncio.run(ask())
        assert proxy.log[0].target == "http://example.invalid/a?b"
        assert not any("10.0.0.1" in one.target for one in proxy.log)


def test_a_dead_proxy() -> None:
    """R-6.1: a proxy that cannot be reached is unreachable.proxy, no fault of the site."""
    with sends(b"") as gone:
        dead = gone.origin

    async def ask() -> None:
        async with real_fetcher(CLOSED, proxy=dead) as fetcher:
            assert failure(await fetcher.fetch(Request("http://example.invalid/"))).fault is Fault.PROXY
        async with real_fetcher(CLOSED, proxy="http://no-such-proxy.invalid:1") as fetcher:
            assert failure(await fetcher.fetch(Request("http://example.invalid/"))).fault is Fault.PROXY

    asyncio.run(ask())


ASK_WITH_ENVIRONMENT = """
import asyncio, sys
from purlieu.crawl.clock import RealClock
from purlieu.fetch.http import HttpFetcher
from purlieu.fetch.origin import certificate_end
from purlieu.response import Request
from purlieu.settings import FetchSettings

async def ask():
    for use in (False, True):
        settings = FetchSettings(allow_addresses=("loopback",), proxy_from_environment=use)
        fetcher = HttpFetcher(settings, (), (), "Tester/1.0", RealClock().now)
        for url in sys.argv[1:]:
            print(getattr(await fetcher.fetch(Request(url)), "body", b"failed").decode())
        await fetcher.close()

asyncio.run(ask())
"""


def test_the_environments_proxy_only_when_asked_for() -> None:
    """R-5.2: a proxy of the environment is used only if set so, and never for its no_proxy hosts."""
    with sends(message(b"direct")) as site, sends(message(b"proxied")) as proxy:
        environment = {**os.environ, "http_proxy": proxy.origin, "no_proxy": "127.0.0.1"}
        command = [sys.executable, "-c", ASK_WITH_ENVIRONMENT, f"{site.origin}/", f"http://localhost:{site.port}/"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["direct", "direct", "direct", "proxied"]


# TLS.


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate for localhost that signs itself; return its file, the key beside it."""
    if not shutil.which("openssl"):
        pytest.skip("the openssl command is absent")
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return folder / "cert.pem"


@pytest.fixture
def secure(certificate: Path) -> Loopback:
    """Return a server over TLS, not yet running."""
    return over_tls(certificate)


def over_tls(certificate: Path) -> Loopback:
    """Return a server with this certificate, not yet running."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, certificate.with_name("key.pem"))

    async def give(_: Received, out: asyncio.StreamWriter) -> bool:
        out.write(message(b"secret"))
        return True

    return Loopback(give, tls=tls)


@pytest.mark.parametrize(
    ("host", "trusted", "hosts", "fault"),
    [
        ("localhost", False, (), Fault.TLS),
        ("localhost", True, (), None),
        ("127.0.0.1", True, (), Fault.TLS),  # the certificate names localhost only
        ("127.0.0.1", False, (HostSettings("127.0.0.1", verify=False),), None),
        ("localhost", False, (HostSettings("127.0.0.1", verify=False),), Fault.TLS),
    ],
)
def test_tls_is_verified(
    secure: Loopback, certificate: Path, host: str, trusted: bool, hosts: tuple[HostSettings, ...], fault: Fault | None
) -> None:
    """TLS: an unknown authority or a wrong name is unreachable.tls; ``ca_file`` adds an authority, and
    ``verify = false`` excepts exactly its own host.
    """  # noqa: D205

    async def ask() -> None:
        async with real_fetcher(hosts=hosts, ca_file=str(certificate) if trusted else "") as fetcher:
            got = await fetcher.fetch(Request(f"https://{host}:{secure.port}/"))
            assert fault is (failure(got).fault if fault else response(got).fault)

    with secure:
        asyncio.run(ask())


def test_verify_false_opens_no_door_for_others(secure: Loopback) -> None:
    """TLS: a connection made without verification is not reused by a host that must be verified, and the other way."""

    async def ask() -> None:
        async with real_fetcher(hosts=(HostSettings("127.0.0.1", verify=False),)) as fetcher:
            for _ in range(3):
                assert response(await fetcher.fetch(Request(f"https://127.0.0.1:{secure.port}/"))).body == b"secret"
                assert failure(await fetcher.fetch(Request(f"https://localhost:{secure.port}/"))).fault is Fault.TLS

    with secure:
        asyncio.run(ask())


def test_plain_http_on_a_tls_port(secure: Loopback) -> None:
    """R-6.1: a server that speaks another protocol is a failure, no exception."""

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            got = failure(await fetcher.fetch(Request(f"http://127.0.0.1:{secure.port}/")))
            assert got.fault in {Fault.RESET, Fault.PROTOCOL}

    with secure:
        asyncio.run(ask())


NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
            location = / {{ default_type text/html; return 200 "<title>Two</title>"; }}
            location / {{ return 404; }} }}
}}
"""


def test_http2(certificate: Path) -> None:
    """HTTP/2 is spoken over TLS where the server offers it, and can be switched off."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is absent")
    folder = certificate.parent
    with sends(b"") as free:
        port = free.port
    (folder / "conf").write_text(NGINX.format(folder=folder, port=port))

    async def ask(*, http2: bool) -> str:
        async with real_fetcher(ca_file=str(certificate), http2=http2) as fetcher:
            got = await fetcher.fetch(Request(f"https://localhost:{port}/"))
            while getattr(got, "fault", None) is Fault.CONNECT:
                got = await fetcher.fetch(Request(f"https://localhost:{port}/"))
            many = await asyncio.gather(*(fetcher.fetch(Request(f"https://localhost:{port}/?{n}")) for n in range(30)))
            missing = response(await fetcher.fetch(Request(f"https://localhost:{port}/no")))
        assert {b"<title>Two</title>"} == {response(one).body for one in (got, *many)}
        assert missing.status == 404
        return response(got).http_version

    server = subprocess.Popen([nginx, "-c", str(folder / "conf")], stderr=subprocess.DEVNULL)
    try:
        assert asyncio.run(asyncio.wait_for(ask(http2=True), 30)) == "2"
        assert asyncio.run(asyncio.wait_for(ask(http2=False), 30)) == "1.1"
    finally:
        server.terminate()
        server.wait()


# Memory and descriptors.


def test_nothing_piles_up() -> None:
    """A long crawl opens no more descriptors than its connections, whatever the pages do."""

    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async def ask() -> None:
        async with real_fetcher() as fetcher:
            for _ in range(3):
                await fetcher.fetch(Request(f"{site.origin}/"))
            before = descriptors()
            for number in range(60):
                path = ("/", "/gone", "/png")[number % 3]
                await fetcher.fetch(Request(f"{site.origin}{path}", classes=frozenset({"HTML"})))
            assert descriptors() <= before + 4

    pages: dict[str, Any] = {"/": "<p>x", "/gone": Fault.RESET, "/png": b"\x89PNG" * 50}
    with served(pages) as site:
        asyncio.run(ask())


def test_settings_are_not_shared() -> None:
    """Two fetchers of one process share no cookie, no connection and no opened address class."""

    async def ask() -> None:
        async with real_fetcher(CLOSED) as one, real_fetcher(replace(CLOSED, cookies=True)) as two:
            await one.fetch(Request(f"{site.origin}/set", opens=True))
            assert failure(await two.fetch(Request(site.origin))).fault is Fault.ADDRESS_REFUSED

    with sends(cookie_site, again=True) as site:
        asyncio.run(ask())


@pytest.mark.parametrize(("year", "verify"), [(2200, True), (2200, False), (2021, True), (2021, False)])
def test_the_end_of_a_certificate_is_told_once_for_an_origin(tmp_path: Path, year: int, verify: bool) -> None:
    """Until when a server's certificate holds comes with the first answer of its origin, and with none after it.

    So too where the connection fails because it has expired; http has none.
    """
    certificate = made_certificate(tmp_path / "made", f"{year}0203040506Z")
    server = over_tls(certificate)
    hosts = () if verify else (HostSettings("localhost", verify=False),)

    async def ask() -> list[float | None]:
        async with real_fetcher(hosts=hosts, ca_file=str(certificate)) as fetcher:
            urls = [f"https://localhost:{server.port}/{number}" for number in range(3)]
            got = [await fetcher.fetch(Request(url)) for url in urls]
            assert all(isinstance(one, Failure) == (year == 2021 and verify) for one in got)
            return [one.certificate_ends_at for one in got]

    with server:
        assert asyncio.run(ask()) == [datetime(year, 2, 3, 4, 5, 6, tzinfo=UTC).timestamp(), None, None]
    assert response(fetched(sends(message(b"x")))).certificate_ends_at is None


@pytest.mark.parametrize("told", ["", "soon", "2026-12-10 00:00:00", "Dec 10 19:21:31 20260 GMT"])
def test_a_certificate_without_a_readable_end_has_none(told: str) -> None:
    """Whoever makes a certificate writes its dates: what is no date is none, and no exception."""
    assert certificate_end([[("Subject", "x"), ("Expire date", told)]]) is None
    assert certificate_end([]) is None
    assert certificate_end([[("Subject", "x")]]) is None
