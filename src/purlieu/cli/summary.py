"""What is said of a run at its end: the books, the hosts, the findings, the files.

Gathers it from a reader and lays it out in lines. Counts nothing itself and prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from purlieu.cli.words import Say, clock, padded, safe, size, speaker, width
from purlieu.finding import Finding, Severity
from purlieu.outcome import GOOD_KINDS
from purlieu.report import books, findings, savings
from purlieu.report.hosts import most_failing, slowest
from purlieu.report.savings import NOTHING_SAVED, Savings
from purlieu.store.reader import HostRow, Reader, RunRow
from purlieu.suspicion import is_suspicious
from purlieu.value import dataclass

SHOWN_HOSTS = 3
SHOWN_FINDINGS = 20


@dataclass(frozen=True, slots=True)
class Summary:
    """A run at its end. ``files`` are the paths written; ``resume`` is the command that goes on, "" for none."""

    books: books.Books
    requests: int = 0
    size_bytes: int = 0
    slowest: tuple[HostRow, ...] = ()
    most_failing: tuple[HostRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    resume: str = ""
    savings: Savings = NOTHING_SAVED

    @property
    def good(self) -> int:
        """Return how many pages ended fetched, unchanged or redirected."""
        return sum(map(self.books.of_kind, GOOD_KINDS))

    @property
    def is_suspicious(self) -> bool:
        """Return whether a finding says that the result should not be trusted as it is (R-8.1)."""
        return is_suspicious(self.findings)


def of_run(reader: Reader, run: RunRow, files: tuple[str, ...] = (), resume: str = "") -> Summary:
    """Return what is to be said of a run."""
    hosts = list(reader.hosts(run))
    told = books.of_run(reader, run)
    return Summary(
        told,
        requests=sum(host.requests for host in hosts),
        size_bytes=sum(host.size_bytes for host in hosts),
        slowest=tuple(slowest(hosts, SHOWN_HOSTS)),
        most_failing=tuple(most_failing(hosts, SHOWN_HOSTS)),
        findings=tuple(findings.of_run(reader, run, told)),
        files=files,
        resume=resume,
        savings=savings.of_run(run),
    )


def status(summary: Summary, *, strict: bool) -> int:
    """Return the exit status of a run that ended (R-8.2)."""
    run = summary.books.run
    if run.stop_reason == "interrupted":
        return 130
    if run.state != "done" or not summary.books.balanced or not summary.good:
        return 1
    return 3 if strict and summary.is_suspicious else 0


def lines(summary: Summary, language: str) -> Iterator[str]:
    """Yield the lines that end a run on the terminal."""
    say = speaker(language)
    yield _state(summary.books.run, say)
    yield say(
        "{requests} requests in {elapsed}, {size}",
        requests=f"{summary.requests:,}",
        elapsed=clock(summary.books.run.active_seconds),
        size=size(summary.size_bytes),
    )
    yield from _savings(summary.savings, say)
    yield ""
    yield from _books(summary.books, say, language)
    yield from _hosts(summary, say)
    if summary.findings:
        yield from ("", say("Findings"))
        worst_first = sorted(summary.findings, key=lambda one: [*Severity].index(one.severity), reverse=True)
        yield from (f"  {safe(one.sentence(language))}" for one in worst_first[:SHOWN_FINDINGS])
        if len(worst_first) > SHOWN_FINDINGS:
            yield "  " + say("... and {count} more", count=len(worst_first) - SHOWN_FINDINGS)
    if summary.files:
        yield from ("", say("Files"))
        yield from (f"  {safe(file)}" for file in summary.files)
    if summary.resume:
        yield from ("", say("To go on: {command}", command=summary.resume))


def _savings(saved: Savings, say: Say) -> Iterator[str]:
    """Yield what a revisit left alone, and what its sample says of that (issue: requests saved, changes missed)."""
    if saved.left_alone or saved.sampled:
        yield say("{count} requests saved: the history knows these pages", count=f"{saved.left_alone:,}")
    if saved.sampled:
        yield say(
            "{sampled} pages asked for as a sample of them, of which {missed} had changed",
            sampled=f"{saved.sampled:,}",
            missed=f"{saved.missed:,}",
        )


def facts(summary: Summary) -> dict[str, Any]:
    """Return the same as values for JSON."""
    run = summary.books.run
    return {
        **of_row(run),
        "balanced": summary.books.balanced,
        "faults": list(summary.books.faults),
        "endings": [
            {"purpose": line.purpose, "kind": line.kind, "reason": line.reason, "count": line.count}
            for line in books.text(summary.books)
        ],
        "requests": summary.requests,
        "bytes": summary.size_bytes,
        "slowest": [host._asdict() for host in summary.slowest],
        "most_failing": [host._asdict() for host in summary.most_failing],
        "findings": [
            {"code": one.code, "severity": one.severity, "subject": one.subject, "arguments": dict(one.arguments)}
            for one in summary.findings
        ],
        "saved": {
            "requests": summary.savings.left_alone,
            "sampled": summary.savings.sampled,
            "missed": summary.savings.missed,
        },
        "files": list(summary.files),
        "resume": summary.resume,
    }


def of_row(run: RunRow, counts: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return a run as values for JSON."""
    return {
        "run": run.id,
        "crawl": run.crawl,
        "state": run.state,
        "stop_reason": run.stop_reason,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "seconds": round(run.active_seconds, 3),
        **({} if counts is None else {"counts": dict(counts)}),
    }


def _state(run: RunRow, say: Say) -> str:
    reason, _, detail = (run.stop_reason or "").partition(":")
    name = safe(run.crawl)
    if run.state == "done" and reason == "limit":
        return say(
            "Run {run} of {name} is done: it reached {limit}.", run=run.id, name=name, limit=f"limits.max_{detail}"
        )
    if run.state == "done":
        return say("Run {run} of {name} is done.", run=run.id, name=name)
    if run.state == "running":
        return say("Run {run} of {name} has not ended.", run=run.id, name=name)
    if reason == "interrupted":
        return say("Run {run} of {name} was stopped.", run=run.id, name=name)
    why = safe(detail or reason or run.state)
    return say("Run {run} of {name} was broken off: {reason}.", run=run.id, name=name, reason=why)


def _books(kept: books.Books, say: Say, language: str) -> Iterator[str]:
    """Yield a row for each ending of pages, the sum, and what is no page."""
    told = books.text(kept, language)
    rows = [(f"{line.kind}.{line.reason}", f"{line.count:,}", line.sentence) for line in told if line.purpose == "page"]
    yield from table([*rows, (say("URLs in all"), f"{kept.total():,}", "")])
    headings = {
        "robots": say("robots.txt files"),
        "sitemap": say("sitemaps"),
        "check": say("only checked"),
        books.UNLISTED: say("not listed"),
    }
    for purpose, heading in headings.items():
        parts = [f"{line.kind}.{line.reason} {line.count:,}" for line in told if line.purpose == purpose]
        if parts:
            yield f"  {heading}: {', '.join(parts)}"
    yield ""
    if kept.balanced:
        yield say("The books balance: every URL has one ending.")
    elif kept.balanced is None:
        yield say("The books are closed when the run ends.")
    else:
        yield say("The books do NOT balance. Keep the store and report this.")
        yield from (f"  {safe(fault)}" for fault in kept.faults)


def _hosts(summary: Summary, say: Say) -> Iterator[str]:
    if summary.slowest:
        yield from ("", say("Slowest hosts"))
        yield from table(
            (safe(host.name), say("{seconds} s a request", seconds=f"{host.mean_seconds:.3f}"), "")
            for host in summary.slowest
        )
    if summary.most_failing:
        yield from ("", say("Most failing hosts"))
        yield from table(
            (
                safe(host.name),
                say("{failures} of {requests} requests", failures=f"{host.failures:,}", requests=f"{host.requests:,}"),
                say("given up") if host.is_given_up else "",
            )
            for host in summary.most_failing
        )


def table(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield rows of a name, a figure and a remark, in columns, two spaces in."""
    kept = list(rows)
    first = max((width(name) for name, _, _ in kept), default=0)
    second = max((width(figure) for _, figure, _ in kept), default=0)
    for name, figure, remark in kept:
        yield f"  {padded(name, first)}  {padded(figure, second, right=True)}  {remark}".rstrip()
