"""``purlieu crawl --log``: the file says of each URL what ledger and ``explain`` say (issue of scope)."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.edge.test_cli_crawl import Chain, run

from purlieu.cli import log
from purlieu.errors import SettingsError


def lines(path: Path) -> list[dict[str, Any]]:
    """Return what stands in a log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_log_says_what_ledger_and_explain_say(tmp_path: Path) -> None:
    """Each row of the ledger and each explanation has the verdict, rule and reason of the URL's last line (R-2.1)."""
    with Chain() as site:
        run(tmp_path, "crawl", "-q", "--log", "crawl.log", "--format", "jsonl", "--max-depth", "3", f"{site.origin}/1")
    told = {(line["purpose"], line["url"]): line for line in lines(tmp_path / "crawl.log") if "url" in line}
    (ledger,) = tmp_path.rglob("*.jsonl")
    rows = lines(ledger)
    assert {(row["purpose"], row["url"]) for row in rows} == set(told)
    assert {line["accepted"] for line in told.values()} == {True, False}
    for row in rows:
        line = told[row["purpose"], row["url"]]
        assert (line["accepted"], line["rule"]) == (row["kind"] != "excluded", row["rule"])
        if row["purpose"] == "page":
            one = json.loads(run(tmp_path, "explain", row["url"], "--run", "latest", "--json"))
            assert [one[name] for name in ("accepted", "rule", "reason")] == [
                line[name] for name in ("accepted", "rule", "reason")
            ]


def test_a_log_is_added_to(tmp_path: Path) -> None:
    """What stood in the file stays; other records have their message; nothing listens afterwards."""
    path = tmp_path / "a.log"
    path.write_text('{"at": "before"}\n')
    logger = logging.getLogger("purlieu.any")
    with log.to_file(str(path)):
        half = logger.makeRecord("purlieu.any", logging.INFO, "", 0, "half of a character: %s", ("\ud800",), None)
        for handler in logging.getLogger("purlieu").handlers:  # not by the root: what pytest keeps of it must be text
            handler.handle(half)
        logger.error("it failed", exc_info=ValueError("why"))
    logger.warning("not in the file")
    assert not logging.getLogger("purlieu.verdict").isEnabledFor(logging.DEBUG)
    before, first, second = lines(path)
    assert before == {"at": "before"}
    assert (first["level"], first["logger"], first["message"]) == ("INFO", "purlieu.any", "half of a character: \ud800")
    assert "ValueError: why" in second["traceback"]


def test_a_log_that_cannot_be_written_is_a_mistake(tmp_path: Path) -> None:
    """A path that is none for a file is refused before the crawl: what, value, remedy."""
    with pytest.raises(SettingsError, match="--log") as caught, log.to_file(str(tmp_path)):
        pass
    assert str(tmp_path) in str(caught.value)


def test_a_full_disk_ends_the_log_and_not_the_crawl(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing more can be written the log ends, said once, and nobody else notices."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with log.to_file("/dev/full"):
        for number in range(3):
            logging.getLogger("purlieu.any").warning("line %d", number)
    assert capsys.readouterr().err.count("it ends here") == 1
