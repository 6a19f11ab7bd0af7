"""What a search engine is told of changed pages, in the bulk form of each, and what its answer means.

Takes values and gives bytes, takes bytes and gives values. Sends nothing and knows no page: a document is what it is
handed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from purlieu import jsonl
from purlieu.value import dataclass

REMOVED: Final = "removed"
_NDJSON: Final = "application/x-ndjson"
_JSON: Final = "application/json"
_MOST_REASON: Final = 300
_BUSY: Final = (429, 502, 503, 504)
"""What a server answers, to all changes or to single ones, that will take them later."""
FRAME: Final[Mapping[str, tuple[bytes, bytes, bytes]]] = {"solr": (b"{", b",\n", b"}\n")}
"""What stands before, between and after changes; a form that is not here has nothing of the kind."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one page: added, changed or removed. ``document`` is None where it is removed."""

    what: str
    id: str
    url: str
    document: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Where changes go: the form, the address of the server ("" for a file) and the index in it."""

    form: str
    url: str
    index: str

    @property
    def name(self) -> str:
        """Return what tells it from others, without any secret."""
        return f"{self.form} {self.url or 'file'} {self.index}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What to send by POST: path below the server's address, media type, body."""

    path: str
    content_type: str
    body: bytes


class Meaning(StrEnum):
    """What a server's answer to some changes means for all of them together."""

    READ = "read"  # each change was accepted or refused
    TASK = "task"  # it will be known when the task has ended
    WAIT = "wait"  # not now
    SPLIT = "split"  # not these together; one alone is refused
    STOP = "stop"  # nothing of the kind will be accepted


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer as it is understood.

    ``refused`` maps places among the changes to reasons, ``busy`` those of which the server wants to hear later;
    ``told`` explains the rest.
    """

    meaning: Meaning
    refused: Mapping[int, str] | None = None
    busy: Mapping[int, str] | None = None
    told: str = ""
    task: int = 0


def id_of(url: str) -> str:
    """Return the document id of an address: its SHA-256 in hex, which every engine takes."""
    return sha256(url.encode("utf-8", "replace")).hexdigest()


def asked(target: Target, changes: Sequence[Change]) -> Asked:
    """Return how changes are told; of Meilisearch's, all are removals or none."""
    return _FORMS[target.form](target, changes)


def _encoded(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _bulk(target: Target, changes: Sequence[Change]) -> Asked:
    """Return the bulk form of OpenSearch and Elasticsearch: a line that says what, and the document below it."""
    lines = []
    for change in changes:
        operation = "delete" if change.document is None else "index"
        lines.append(jsonl.line({operation: {"_index": target.index, "_id": change.id}}))
        if change.document is not None:
            lines.append(jsonl.line(change.document))
    return Asked("/_bulk", _NDJSON, _encoded(lines))


def _meilisearch(target: Target, changes: Sequence[Change]) -> Asked:
    path = f"/indexes/{quote(target.index, safe='')}/documents"
    if changes and changes[0].document is None:
        return Asked(f"{path}/delete-batch", _JSON, jsonl.line([change.id for change in changes]).encode())
    return Asked(f"{path}?primaryKey=id", _NDJSON, _encoded([jsonl.line(change.document) for change in changes]))


def _solr(target: Target, changes: Sequence[Change]) -> Asked:
    """Return Solr's JSON commands; it reads a name that stands several times as several commands."""
    told = [
        f'"delete":{jsonl.line({"id": change.id})}'
        if change.document is None
        else f'"add":{jsonl.line({"doc": change.document})}'
        for change in changes
    ]
    body = "{" + ",\n".join(told) + "}\n"
    return Asked(f"/{quote(target.index, safe='')}/update?commitWithin=10000", _JSON, body.encode("utf-8", "replace"))


def _jsonl(_target: Target, changes: Sequence[Change]) -> Asked:
    lines = [jsonl.line({"change": one.what, "id": one.id, "url": one.url, **(one.document or {})}) for one in changes]
    return Asked("", _NDJSON, _encoded(lines))


_FORMS: Final[Mapping[str, Callable[[Target, Sequence[Change]], Asked]]] = {
    "opensearch": _bulk,
    "elasticsearch": _bulk,
    "meilisearch": _meilisearch,
    "solr": _solr,
    "jsonl": _jsonl,
}
FORMS: Final = tuple(_FORMS)
"""Every form by the name that ``--to`` takes."""


def answered(target: Target, changes: Sequence[Change], status: int, body: bytes) -> Verdict:
    """Return what an answer to changes means."""
    if status in _BUSY:
        return Verdict(Meaning.WAIT, told=f"status {status}")
    told = _reason(body)
    if status in {400, 413, 422}:
        return Verdict(Meaning.SPLIT, told=f"status {status}: {told}")
    if not 200 <= status < 300:
        return Verdict(Meaning.STOP, told=f"status {status}: {told}")
    if target.form in {"opensearch", "elasticsearch"}:
        return _of_bulk(changes, _read(body))
    if target.form == "meilisearch":
        task = _read(body).get("taskUid")
        return Verdict(Meaning.TASK, task=task) if isinstance(task, int) else _no_answer(target)
    if target.form == "solr":
        header = _read(body).get("responseHeader")
        return Verdict(Meaning.READ) if isinstance(header, dict) and header.get("status") == 0 else _no_answer(target)
    return Verdict(Meaning.READ)


def of_task(target: Target, body: bytes) -> Verdict:
    """Return what Meilisearch says of a task: that it goes on, or what became of its changes together."""
    task = _read(body)
    if task.get("status") in {"enqueued", "processing"}:
        return Verdict(Meaning.WAIT)
    if task.get("status") == "succeeded":
        return Verdict(Meaning.READ)
    return Verdict(Meaning.SPLIT, told=_reason(body)) if task.get("status") == "failed" else _no_answer(target)


def _of_bulk(changes: Sequence[Change], told: Mapping[str, Any]) -> Verdict:
    """Return what became of each change; one that removes what is not there has done its work."""
    items = told.get("items")
    if not isinstance(items, list) or len(items) != len(changes):
        return Verdict(Meaning.STOP, told="its answer does not say what became of each record")
    refused: dict[int, str] = {}
    busy: dict[int, str] = {}
    for place, (change, item) in enumerate(zip(changes, items, strict=True)):
        result = next(iter(item.values()), None) if isinstance(item, dict) else None
        status = result.get("status") if isinstance(result, dict) else None
        is_done = isinstance(status, int) and 200 <= status < 300
        if not is_done and not (change.document is None and status == 404):
            error = result.get("error") if isinstance(result, dict) else None
            (busy if status in _BUSY else refused)[place] = f"status {status}: {_worded(error)}"
    return Verdict(Meaning.READ, refused, busy)


def _no_answer(target: Target) -> Verdict:
    return Verdict(Meaning.STOP, told=f"its answer is none of {target.form}")


def _read(body: bytes) -> dict[str, Any]:
    """Return the object that an answer is, an empty one where it is none."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _reason(body: bytes) -> str:
    """Return why a server refuses, as far as it says so."""
    told = _read(body)
    return _worded(told.get("error") or told.get("message") or body[:_MOST_REASON].decode("utf-8", "replace"))


def _worded(error: object) -> str:
    if isinstance(error, dict):
        error = ": ".join(str(error[name]) for name in ("type", "reason", "message", "msg") if error.get(name))
    text = " ".join(str(error or "no reason given").split())
    return text[:_MOST_REASON]
