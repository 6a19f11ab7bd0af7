"""``keep = "body"``: what was fetched is in WARC files that others read, and can be replayed from their index."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from hashlib import sha512
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from tests.crawling import HOME, crawl, endings, html, made_settings
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from purlieu.archive import cdxj
from purlieu.archive.salvage import index, salvage
from purlieu.archive.warc import OPEN, WarcWriter
from purlieu.crawl.archiving import INDEX, decoded
from purlieu.response import Fault, Request, Response
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.serve import ServedFolder
from purlieu.testing.web import FakeWeb, answer, redirect
from purlieu.value import replace

TEXT = html("same", "other", "hop", "gone", "../", title="Home")
SITE: dict[str, Any] = {
    HOME: TEXT,
    f"{HOME}same": html(title="Twice"),
    f"{HOME}other": html(title="Twice"),
    f"{HOME}hop": redirect("/same"),
    f"{HOME}gone": answer("gone", status=404),
}


def folder_of(store: Path, run: int = 1) -> Path:
    """Return the archive of a run."""
    return store.parent / "out" / "site.test" / str(run) / "archive"


def records(folder: Path) -> list[dict[str, Any]]:
    """Return every record of a folder as warcio reads it."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                http = record.http_headers
                found.append({
                    "type": record.rec_type, "url": record.rec_headers.get_header("WARC-Target-URI"),
                    "headers": dict(record.rec_headers.headers), "status": http.get_statuscode() if http else None,
                    "http": dict(http.headers) if http else {}, "body": record.raw_stream.read(),
                })  # fmt: skip
    return found


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The archive of a small site."""
    store = tmp_path / "s.db"
    crawl(FakeWeb(SITE), made_settings(store, {"keep": "body"}))
    return folder_of(store)


def test_every_answer_is_a_record_that_two_readers_read_alike(kept: Path) -> None:
    """Each hop has a response (or revisit), a request and a metadata record; warcio and fastwarc read the same."""
    found = records(kept)
    answers = {one["url"]: one["status"] for one in found if one["type"] in {"response", "revisit"}}
    assert answers == {
        HOME: "200", f"{HOME}same": "200", f"{HOME}other": "200", f"{HOME}hop": "301", f"{HOME}gone": "404",
        f"{HOME}robots.txt": "404",
    }  # fmt: skip
    for kind in ("request", "metadata"):
        assert sorted(one["url"] for one in found if one["type"] == kind) == sorted(answers)
    assert next(one["body"] for one in found if one["type"] == "response" and one["url"] == HOME) == TEXT.encode()
    fast: list[tuple[str | None, str | None, bytes]] = []
    for path in sorted(kept.glob("*.warc.gz")):
        fast += [
            (record.headers.get("WARC-Type"), record.headers.get("WARC-Target-URI"), record.reader.read())
            for record in FastIterator(str(path), parse_http=True, record_types=WarcRecordType.any_type)
        ]
    assert fast == [(one["type"], one["url"], one["body"]) for one in found]


def test_the_records_pass_a_checker(kept: Path) -> None:
    """Digests and structure hold before warcio's own check."""

    class Asked:
        inputs = [str(path) for path in kept.glob("*.warc.gz")]  # noqa: RUF012 - as the checker takes it
        verbose = False

    checker = Checker(Asked())
    checker.process_all()
    assert not checker.exit_value


def test_a_body_that_was_kept_before_is_a_revisit_record(kept: Path) -> None:
    """The second of two equal bodies refers to the first, has no body, and says by which profile."""
    (one,) = [record for record in records(kept) if record["type"] == "revisit"]
    first = {f"{HOME}same": f"{HOME}other", f"{HOME}other": f"{HOME}same"}[one["url"]]
    assert one["headers"]["WARC-Refers-To-Target-URI"] == first
    assert one["headers"]["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert one["body"] == b""


def test_a_revisit_refers_to_bodies_of_earlier_runs(tmp_path: Path) -> None:
    """A run that revisits keeps no body again which an earlier one has; it does where that is not there any more."""
    store = tmp_path / "s.db"
    site = {HOME: html("a", "b", title="Home"), f"{HOME}a": html(title="A"), f"{HOME}b": html(title="B")}

    def run(number: int, **more: Any) -> dict[str, dict[str, Any]]:
        settings = made_settings(store, {"keep": "body", "traps": {"soft_404": False}, **more})
        crawl(FakeWeb(site), settings, FakeClock(START + number * 40 * 86_400))
        found = [one for one in records(folder_of(store, number)) if one["type"] in {"response", "revisit"}]
        return {one["url"].removeprefix(HOME): one for one in found if "robots" not in one["url"]}

    first = run(1)
    site[f"{HOME}b"] = html(title="B anew")
    second = run(2, revisit=True)
    assert {url: one["type"] for url, one in second.items()} == {"": "revisit", "a": "revisit", "b": "response"}
    said = second["a"]["headers"]
    assert said["WARC-Refers-To-Target-URI"] == f"{HOME}a"
    assert said["WARC-Refers-To-Date"] == first["a"]["headers"]["WARC-Date"]
    assert said["WARC-Payload-Digest"] == first["a"]["headers"]["WARC-Payload-Digest"]
    third = run(3, revisit=True)
    assert third["b"]["headers"]["WARC-Refers-To-Date"] == second["b"]["headers"]["WARC-Date"]
    assert third["a"]["headers"]["WARC-Refers-To-Date"] == first["a"]["headers"]["WARC-Date"]
    for path in folder_of(store, 1).glob("*.warc.gz"):
        path.unlink()
    fourth = run(4, revisit=True)
    assert {url: one["type"] for url, one in fourth.items()} == {"": "response", "a": "response", "b": "revisit"}
    assert {one["type"] for one in run(5).values()} == {"response"}, "a full run refers to no other"


def test_the_site_can_be_replayed_from_the_index(kept: Path) -> None:
    """Each address is found in the sorted index, and its record, read at its offset alone, is what the site answered."""
    lines = (kept / INDEX).read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines)
    for url, made in SITE.items():
        (captured,) = cdxj.find(kept / INDEX, url)
        with (kept / captured.filename).open("rb") as file:
            file.seek(captured.offset)
            piece = file.read(captured.length)
        record = next(iter(ArchiveIterator(BytesIO(piece))))
        assert record.rec_headers.get_header("WARC-Target-URI") == url
        if captured.mime != "warc/revisit":
            assert record.content_stream().read() == (made.encode() if isinstance(made, str) else made.body)
        else:
            assert captured.digest == next(cdxj.find(kept / INDEX, record.rec_headers.get_header(
                "WARC-Refers-To-Target-URI"))).digest  # fmt: skip
    assert list(cdxj.find(kept / INDEX, f"{HOME}never")) == []


def test_an_answer_of_304_is_a_revisit_record(tmp_path: Path) -> None:
    """What the server says is not modified refers to the address, by the profile for it."""
    writer = WarcWriter(tmp_path, "a", {}, 1 << 20)
    writer.take(Request(HOME), (), answer("", url=HOME, status=304), coded=False)
    writer.close()
    (one,) = [record for record in records(tmp_path) if record["type"] == "revisit"]
    assert one["headers"]["WARC-Profile"].endswith("/1.1/revisit/server-not-modified")


def test_files_are_ended_at_a_size_and_their_indexes_merged(tmp_path: Path) -> None:
    """A file that is large enough is followed by the next; one index answers for all."""
    store = tmp_path / "s.db"
    noise = ["".join(sha512(b"%d %d" % (n, i)).hexdigest() for i in range(6_000)) for n in range(4)]
    pages = {f"{HOME}{n}": html(body=text) for n, text in enumerate(noise)}
    settings = made_settings(store, {"keep": "body", "archive": {"file_bytes": 1024 * 1024}})
    crawl(FakeWeb({HOME: html(*pages), **pages}), settings)
    files = sorted(folder_of(store).glob("*.warc.gz"))
    assert len(files) > 1
    assert {next(cdxj.find(folder_of(store) / INDEX, url)).filename for url in pages} <= {path.name for path in files}
    assert not list(folder_of(store).glob(f"*{OPEN}"))


KILLED = """
import os, signal, sys
from pathlib import Path
from purlieu.archive.warc import WarcWriter
from purlieu.response import Request
from purlieu.testing.web import answer
writer = WarcWriter(Path(sys.argv[1]), "a", {"software": "x"}, 1 << 30)
for number in range(3):
    url = f"{sys.argv[2]}{number}"
    writer.take(Request(url), (), answer(f"{number}" * 2000, url=url), coded=False)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("torn", [1, 40, 400, 1500])
def test_what_a_kill_left_is_cut_behind_the_last_whole_record(tmp_path: Path, torn: int) -> None:
    """A half written record is cut off, the rest has its name and index; the next file begins after it."""
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), HOME], check=False)
    assert killed.returncode == -9
    (path,) = tmp_path.glob(f"*.warc.gz{OPEN}")
    data = path.read_bytes()
    path.write_bytes(data[:-torn])  # as if the disk had not had it all yet
    (whole,) = salvage(tmp_path)
    found = records(tmp_path)
    assert [one["url"] for one in found if one["type"] == "response"][:2] == [f"{HOME}0", f"{HOME}1"]
    told = [cdxj.read(text) for text in whole.with_name("a-00001.cdxj").read_text(encoding="utf-8").splitlines()]
    assert sorted(one.url for one in told) == sorted(one["url"] for one in found if one["type"] == "response")
    again = WarcWriter(tmp_path, "a", {}, 1 << 30)
    again.take(Request(HOME), (), answer("x", url=HOME), coded=False)
    again.close()
    assert {path.name for path in tmp_path.glob("*.warc.gz")} == {"a-00001.warc.gz", "a-00002.warc.gz"}


def test_a_full_disk_ends_the_run_and_resume_goes_on(tmp_path: Path) -> None:
    """The run is stopped by the system with words and remedy (R-8.1); resumed, every page is there, in ledger and files."""
    count = 12
    settings = made_settings(tmp_path / "s.db", {"keep": "body"})
    site = {HOME: html("0"), **{f"{HOME}{n}": html(f"{n + 1}", body=f"{n}" * 1000) for n in range(count)}}
    blocked = folder_of(tmp_path / "s.db")
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(Exception, match=r"archive .* cannot be written") as raised:
        crawl(FakeWeb(site), settings)
    assert "--resume" in str(raised.value)
    blocked.unlink()
    result = crawl(FakeWeb(site), settings, resume=True)
    assert result.state == "done"
    fetched = {url for url, ending in endings(tmp_path / "s.db").items() if ending == "fetched.ok"}
    assert fetched == set(site)
    assert fetched <= {one["url"] for one in records(blocked) if one["type"] in {"response", "revisit"}}


def _coded(body: bytes, coding: str) -> Response:
    return answer(body, url=HOME, headers={"Content-Encoding": coding, "Content-Type": "text/html"})


BARE = zlib.compressobj(9, zlib.DEFLATED, -15)


@pytest.mark.parametrize(
    ("body", "coding", "gives", "fault"),
    [
        (gzip.compress(b"words"), "gzip", b"words", None),
        (gzip.compress(b"wo") + gzip.compress(b"rds"), "x-gzip", b"words", None),
        (zlib.compress(b"words"), "deflate", b"words", None),
        (BARE.compress(b"words") + BARE.flush(), "deflate", b"words", None),
        (gzip.compress(zlib.compress(b"words")), "deflate, gzip", b"words", None),
        (gzip.compress(b"words" * 100)[:-9], "gzip", b"words" * 100, Fault.DECODING),
        (b"no gzip at all", "gzip", b"", Fault.DECODING),
        (gzip.compress(bytes(10_000_000)), "gzip", bytes(1000), Fault.TOO_LARGE),
        (b"plain", "identity", b"plain", None),
        (b"", "gzip", b"", None),
    ],
    ids=["gzip", "members", "zlib", "bare deflate", "two codings", "cut", "none", "bomb", "identity", "empty"],
)
def test_a_body_as_sent_is_decoded_for_reading(body: bytes, coding: str, gives: bytes, fault: Fault | None) -> None:
    """Kept as sent, read decoded, within the limit of the page; what is no such coding is an outcome (R-6.1)."""
    made = decoded(_coded(body, coding), 1000)
    assert (made.body, made.fault) == (gives, fault)


def test_a_body_is_kept_as_it_was_sent_on_request(tmp_path: Path) -> None:
    """``archive.as_sent``: the bytes of the coding are in the record, with the header that names it."""
    packed = gzip.compress(b"words")
    for coded in (True, False):
        writer = WarcWriter(tmp_path, f"c{coded}", {}, 1 << 20)
        writer.take(Request(HOME), (), _coded(packed, "gzip"), coded=coded)
        writer.close()
    kept, renamed = [one for one in records(tmp_path) if one["type"] == "response"][::-1]
    assert kept["body"] == packed
    assert kept["http"]["Content-Encoding"] == "gzip"
    assert renamed["http"]["X-Archive-Orig-Content-Encoding"] == "gzip"


def _manifest(conformance: Path) -> Iterator[dict[str, Any]]:
    for line in (conformance / "warc" / "warc_manifest.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def test_files_of_others_are_indexed(conformance: Path) -> None:
    """Every response and revisit of the conformance files is in the index at its offset; broken files end, not crash."""
    seen = 0
    for case in _manifest(conformance):
        found = [(one.url, one.offset) for one in index(conformance / "warc" / "files" / case["file"], "x")]
        if case.get("warcio_error"):
            continue
        wanted = [
            ((one["uri"] or "").replace(" ", "%20"), one["offset"])
            for one in case["records"]
            if one["type"] in {"response", "revisit"}
        ]
        assert found == wanted, case["file"]
        seen += len(found)
    assert seen > 10


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.com/", "com,example)/"),
        ("https://example.com:8443/A/b/?z=1&a=2", "com,example:8443)/a/b?a=2&z=1"),
        ("http://192.0.2.7/x", "192.0.2.7)/x"),
        ("http://[::1]/x", "::1)/x"),
        ("http://www2.example.co.jp", "jp,co,example)/"),
    ],
)
def test_addresses_are_sorted_by_host_and_path(url: str, key: str) -> None:
    """The key has the host reversed, no default port and no www; that is how replays look an address up."""
    assert cdxj.key(url) == key


def test_no_credentials_are_written(tmp_path: Path) -> None:
    """A login that is sent is in no record: not in the request, nor anywhere else."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(html(), encoding="utf-8")
    with ServedFolder(tmp_path / "site") as site:
        text = f"""
seeds = ["{site.origin}/index.html"]
name = "site.test"
keep = "body"
store = "{tmp_path / "s.db"}"
output = "{tmp_path / "out"}"
[[origin]]
origin = "{site.origin}"
auth = "basic"
user = "env:PURLIEU_TEST_USER"
password = "env:PURLIEU_TEST_PASSWORD"
[origin.headers]
X-Secret = "env:PURLIEU_TEST_SECRET"
"""
        (tmp_path / "purlieu.toml").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "purlieu", "crawl", "-q", "-c", str(tmp_path / "purlieu.toml")]
        secrets = {
            "PURLIEU_TEST_USER": "ann-secret",
            "PURLIEU_TEST_PASSWORD": "pass-secret",
            "PURLIEU_TEST_SECRET": "x-secret",
        }
        done = subprocess.run(command, env={**os.environ, **secrets}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = list((tmp_path / "out").rglob("*.warc.gz"))
    assert files
    for path in files:
        assert b"secret" not in gzip.decompress(path.read_bytes())


def test_octets_of_a_head_are_kept_and_none_of_them_begins_another_header(tmp_path: Path) -> None:
    """Reasons and values that are no ASCII stand as received; a line break in a value is a space."""
    hostile = (
        ("X-Word", "Não"),
        ("X-Two", "a\r\nInjected: b"),
        ("X-Browser", "日本\udc80"),
        ("Set-Cookie", "a=1\nb=2"),
    )
    writer = WarcWriter(tmp_path, "a", {}, 1 << 20)
    writer.take(Request(HOME), (("User-Agent", "日本"),), replace(
        answer("x", url=HOME), reason="Não há\r\nX: y", headers=hostile), coded=False)  # fmt: skip
    writer.close()
    (one,) = [record for record in records(tmp_path) if record["type"] == "response"]
    assert "Injected" not in one["http"]
    assert "X" not in one["http"]
    assert one["http"]["X-Two"].split() == ["a", "Injected:", "b"]
    assert one["http"]["Set-Cookie"] == "a=1 b=2"
    writer = WarcWriter(tmp_path / "latin", "a", {}, 1 << 20)
    writer.take(Request(HOME), (), replace(answer("x", url=HOME), reason="Não", headers=hostile[:1]), coded=False)
    writer.close()
    (path,) = (tmp_path / "latin").glob("*.gz")
    assert "200 Não\r\nX-Word: Não\r\n".encode("latin-1") in gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("coding", ["br", "zstd", "utf-8", ", ".join(["gzip"] * 6)])
def test_a_body_in_a_coding_that_nobody_asked_for_is_not_read_as_a_page(coding: str) -> None:
    """What cannot be unpacked, or is packed too often, is the fault ``decoding`` and no text."""
    body = b"<p>x"
    for _ in range(6):
        body = gzip.compress(body)
    made = decoded(replace(answer("", url=HOME), body=body, headers=(("Content-Encoding", coding),)), 1 << 20)
    assert (made.body, made.fault) == (b"", Fault.DECODING)


def test_many_members_are_unpacked() -> None:
    """A gzip body of many members is their bodies one behind the other, wherever a slice of the work ends."""
    body = b"".join(gzip.compress(b"%d," % number) for number in range(2_000))
    made = decoded(replace(answer("", url=HOME), body=body, headers=(("Content-Encoding", "identity, gzip"),)), 1 << 20)
    assert made.body == b"".join(b"%d," % number for number in range(2_000))
    assert made.fault is None


def test_more_indexes_than_may_be_open_are_merged(tmp_path: Path) -> None:
    """However many files a folder has, one sorted index holds all their lines, and nothing else is left."""
    lines = [f"com,example)/{number:04} 2026 {{}}\n" for number in range(260)]
    paths = [tmp_path / f"{number}.cdxj" for number in range(260)]
    for path, line in zip(paths, reversed(lines), strict=True):
        path.write_text(line, encoding="utf-8")
    cdxj.merge(paths, tmp_path / "index")
    assert (tmp_path / "index").read_text(encoding="utf-8") == "".join(lines)
    assert len(list(tmp_path.iterdir())) == 261


FILLED = """
import os, resource, sys
from pathlib import Path
from purlieu.archive.warc import WarcWriter
from purlieu.errors import ArchiveFull
from purlieu.response import Request
from purlieu.testing.web import answer
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
writer = WarcWriter(Path(sys.argv[1]), "a", {"software": "x"}, 1 << 30)
for number in range(100):
    url = f"{sys.argv[2]}{number}"
    try:
        writer.take(Request(url), (), answer(os.urandom(3_000), url=url), coded=False)
    except ArchiveFull:
        break
else:
    sys.exit("it was never full")
writer.close()
print(number)
"""


def test_a_file_that_cannot_grow_keeps_its_whole_records(tmp_path: Path) -> None:
    """A write that fails in the middle of a record raises ArchiveFull, also at the end, and leaves what was whole."""
    done = subprocess.run(
        [sys.executable, "-c", FILLED, str(tmp_path), HOME], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    salvage(tmp_path)
    found = [one["url"] for one in records(tmp_path) if one["type"] == "response"]
    assert found == [f"{HOME}{number}" for number in range(int(done.stdout))]
