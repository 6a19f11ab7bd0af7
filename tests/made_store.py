"""Makes stores row by row, for tests of what reads them.

Writes through the schema alone, without the frontier; what it leaves out gets a
plain default. Knows nothing of reports.
"""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any, TextIO

import apsw

from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import host_of, key64, origin_of

STARTED_AT = 1_700_000_000.0
HEADERS = "Content-Type: text/html; charset=utf-8\nServer: made\n"
PURPOSES = {"page": 0, "robots": 1, "sitemap": 2}


class MadeStore:
    """A store file that takes rows; ``run`` is the number of its first run."""

    def __init__(self, path: Path) -> None:
        """Make the file."""
        self.path = path
        SqliteDatabase.writer(str(path)).close()
        self.connection = apsw.Connection(str(path))
        self.connection.execute("PRAGMA synchronous = OFF")
        self._hosts: dict[str, int] = {}
        self._origins: dict[tuple[int, str], int] = {}
        self._lock: TextIO | None = None
        self.run = self.add_run()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        self.leave()

    def hold(self) -> None:
        """Hold the store as the crawl does whose run is running."""
        if self._lock is None:
            self._lock = Path(f"{self.path}.lock").open("a")  # noqa: SIM115 - until ``leave``
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def leave(self) -> None:
        """Let go of it, as a crawl does that was killed."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def insert(self, table: str, **values: Any) -> None:
        """Insert one row."""
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))

    def add_run(
        self,
        crawl: str = "made",
        *,
        state: str = "done",
        toml: str = "",
        ended_at: float | None = STARTED_AT + 60,
        **more: Any,
    ) -> int:
        """Insert a run and return its number."""
        self.connection.execute("INSERT OR IGNORE INTO crawl (name) VALUES (?)", (crawl,))
        self.connection.execute("INSERT OR IGNORE INTO config VALUES (?, ?)", (f"hash of {toml}", toml))
        ((number,),) = self.connection.execute("SELECT id FROM crawl WHERE name = ?", (crawl,))
        values = {"stop_reason": "finished" if state == "done" else None, "version": "9.8.7", "started_at": STARTED_AT}
        self.insert("run", crawl=number, config=f"hash of {toml}", state=state, ended_at=ended_at, **(values | more))
        return self.connection.last_insert_rowid()

    def update_run(self, **values: Any) -> None:
        """Change the first run; mappings are written as JSON. Whoever makes it run holds the store."""
        if values.get("state") == "running":
            self.hold()
        for name, value in values.items():
            text = json.dumps(value) if isinstance(value, dict) else value
            self.connection.execute(f"UPDATE run SET {name} = ? WHERE id = ?", (text, self.run))

    def host(self, name: str, run: int | None = None, **cost: Any) -> int:
        """Return a host's number, inserted with its part in the run when new; ``cost`` are columns of run_host."""
        if name not in self._hosts:
            self.insert("host", name=name)
            self._hosts[name] = self.connection.last_insert_rowid()
        number = self._hosts[name]
        key = (run or self.run, number)
        self.connection.execute("INSERT OR IGNORE INTO run_host (run, host) VALUES (?, ?)", key)
        for column, value in cost.items():
            self.connection.execute(f"UPDATE run_host SET {column} = ? WHERE run = ? AND host = ?", (value, *key))
        return number

    def origin(self, href: str, run: int | None = None, ended: str | None = None) -> int:
        """Return the number of an origin's robots.txt, inserted when new."""
        run = run or self.run
        origin = origin_of(href)
        if (run, origin) not in self._origins:
            self.insert("robots", run=run, host=self.host(host_of(href), run), origin=origin, state="known")
            self._origins[run, origin] = self.connection.last_insert_rowid()
        if ended:
            self.connection.execute("UPDATE robots SET ended = ? WHERE id = ?", (ended, self._origins[run, origin]))
        return self._origins[run, origin]

    def entry(
        self, href: str, ending: str | None = "fetched.ok", purpose: str = "page", run: int | None = None, **values: Any
    ) -> None:
        """Insert an entry; ``ending`` is ``kind.reason``, or None for one that is still due."""
        run = run or self.run
        kind, reason = ending.split(".") if ending else (None, None)
        row: dict[str, Any] = {
            "depth": 0, "hops": 0, "nofollow": 0, "found_by": "link", "via": "", "linked": 1, "site": 0, "rule": "same-host",
            "attempts": 1 if ending else 0, "kind": kind, "reason": reason, "ended_at": STARTED_AT + 1 if ending else None,
            "due_at": None if ending else STARTED_AT,
        }  # fmt: skip
        self.insert(
            "entry", run=run, host=self.host(host_of(href), run), purpose=PURPOSES[purpose], hash=key64(href), href=href,
            origin=self.origin(href, run), **(row | values),
        )  # fmt: skip

    def response(
        self, href: str, status: int = 200, purpose: str = "page", run: int | None = None, **values: Any
    ) -> None:
        """Insert what an entry's response said."""
        row: dict[str, Any] = {
            "headers": HEADERS, "content_type": "text/html; charset=utf-8", "title": "A title", "index_reason": "",
            "address": "192.0.2.7", "fetched_at": STARTED_AT + 1.25, "bytes": 1234, "seconds": 0.125,
        }  # fmt: skip
        run = run or self.run
        self.insert(
            "response", run=run, host=self.host(host_of(href), run), purpose=PURPOSES[purpose], hash=key64(href), status=status,
            **(row | values),
        )  # fmt: skip

    def page(
        self,
        href: str,
        ending: str = "fetched.ok",
        status: int = 200,
        entry: dict[str, Any] | None = None,
        **response: Any,
    ) -> None:
        """Insert a page entry and its response."""
        self.entry(href, ending, status=status, **(entry or {}))
        self.response(href, status, **response)

    def redirect(
        self, href: str, to: str, ending: str = "redirected.permanent", status: int = 301, **entry: Any
    ) -> None:
        """Insert a page entry that redirects, with the response that says so."""
        self.entry(href, ending, status=status, redirect_to=to, **entry)
        headers = f"Location: {to}\nServer: made\n"
        self.response(href, status, headers=headers, content_type=None, title=None)

    def refusal(self, href: str, reason: str = "scope", rule: str = "same-host", **values: Any) -> None:
        """Insert a refused URL."""
        host = host_of(href)
        row: dict[str, Any] = {
            "depth": 1,
            "hops": 0,
            "nofollow": 0,
            "found_by": "link",
            "via": "https://a.test/",
            "linked": 1,
        }
        self.insert(
            "refusal", run=self.run, host=self.host(host) if host else 0, hash=key64(href), href=href, reason=reason, rule=rule,
            **(row | values),
        )  # fmt: skip
