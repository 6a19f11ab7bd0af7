"""One value, one line of JSON."""

from __future__ import annotations

import json

from purlieu import jsonl


def test_only_a_line_feed_ends_a_line() -> None:
    """What a reader may take for the end of a line is written as an escape, and the value reads back the same."""
    value = {"a": "one\x85two\u2028three\u2029four\nfive\x0bsix", "ja": "日本語"}
    text = jsonl.line(value)
    assert text.splitlines() == [text]
    assert "日本語" in text
    assert json.loads(text) == value
