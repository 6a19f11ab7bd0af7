"""The closed table of endings (section 6 of the rules)."""

from __future__ import annotations

import pytest

from purlieu.outcome import KINDS, LANGUAGES, MF3_MESSAGES, REASONS, of_status, words_of
from purlieu.response import Fault


def test_every_reason_is_whole() -> None:
    """Each ending has a known kind, a known MF3.0 answer and a sentence in three languages."""
    for name, reason in REASONS.items():
        assert name == f"{reason.kind}.{reason.code}"
        assert reason.kind in KINDS
        assert reason.mf3 in {"", "ok", "landing", *MF3_MESSAGES}
        assert len({reason.sentence(language) for language in LANGUAGES}) == len(LANGUAGES)
        assert all(reason.sentence(language).strip() for language in LANGUAGES)


def test_the_messages_are_word_for_word() -> None:
    """00202 and 00203 have no final full stop, the others have one (MF-20)."""
    assert {code for code, text in MF3_MESSAGES.items() if not text.endswith(".")} == {"00202", "00203"}
    assert MF3_MESSAGES["00205"] == "crawler_batch_00205: Exceeded the maximum number of redirects."


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (200, "fetched.ok"), (204, "fetched.empty"), (205, "fetched.empty"), (206, "fetched.ok"),
        (301, "redirected.permanent"), (302, "redirected.temporary"), (303, "redirected.temporary"),
        (307, "redirected.temporary"), (308, "redirected.permanent"),
        (300, "unreadable.protocol"), (304, "unreadable.protocol"), (305, "unreadable.protocol"),
        (306, "unreadable.protocol"), (100, "unreadable.protocol"), (600, "unreadable.protocol"),
        (999, "unreadable.protocol"), (0, "unreadable.protocol"),
        (401, "refused.unauthorized"), (403, "refused.forbidden"), (404, "missing.not_found"), (410, "missing.gone"),
        (418, "refused.other"), (429, "refused.too_many_requests"), (451, "refused.legal"),
        (500, "server_error.5xx"), (503, "server_error.5xx"),
    ],
)  # fmt: skip
def test_a_status_has_one_ending(status: int, name: str) -> None:
    """300, 304 unasked, 305, 306, 1xx and above 599 are no HTTP that a page can be read from (section 6, ST-42)."""
    assert of_status(status).name == name


@pytest.mark.parametrize("fault", list(Fault))
def test_every_fault_is_a_reason(fault: Fault) -> None:
    """What the fetcher reports has an ending, before the first header byte or after it (R-6.1)."""
    assert {f"unreachable.{fault}", f"unreadable.{fault}"} & REASONS.keys()


def test_every_code_has_a_name_in_words() -> None:
    """Each code is called something short in each language, as no other code of its kind is; an unknown one is itself."""
    for language in LANGUAGES:
        called = [(one.kind, words_of(one.code, language)) for one in REASONS.values()]
        assert len(set(called)) == len(called)
        assert all(0 < len(words) <= 40 for _, words in called)
    assert words_of("not_found") == "not found (404)"
    assert words_of("not_found", "ja") == "見つからない（404）"
    assert words_of("of_another_version", "zh") == "of_another_version"
