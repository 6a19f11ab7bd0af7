"""Last-Modified as the MF3.0 file shows it (MF-8, AMB-MF-9, AMB-MF-10)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.report.last_modified import is_older, rfc2822

NOW = 1_700_000_000.0  # November 2023
NOVEMBER_6 = "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize(
    "text",
    [
        NOVEMBER_6,
        "Sun, 6 Nov 1994 08:49:37 +0900",
        "6 Nov 1994 08:49 -0000",
        "sun, 06 nov 1994 08:49:37 gmt",
        "06 Nov 94 08:49:37 UT",
        "Sun, 06 Nov 1994 08:49:37 +0000 (UTC)",
        "Thu, 29 Feb 2024 00:00:00 EST",
        "Fri, 30 Jun 1972 23:59:60 GMT",
    ],
)
def test_rfc_2822_stays_as_it_is(text: str) -> None:
    """A date that reads as RFC 2822 keeps its text and its zone (AMB-MF-10, ST-50)."""
    assert rfc2822(f" {text}\t", NOW) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sunday, 06-Nov-94 08:49:37 GMT", NOVEMBER_6),
        ("Tuesday, 14-Nov-23 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("Wednesday, 14-Nov-73 00:00:00 GMT", "Tue, 14 Nov 2073 00:00:00 GMT"),
        ("Wednesday, 14-Nov-74 00:00:00 GMT", "Thu, 14 Nov 1974 00:00:00 GMT"),
        ("Sun Nov  6 08:49:37 1994", NOVEMBER_6),
        ("Sun Nov 06 08:49:37 1994", NOVEMBER_6),
    ],
)
def test_old_http_dates_are_written_anew(text: str, expected: str) -> None:
    """RFC 850 and asctime forms are HTTP-dates and come out in RFC 2822 form; a year over 50 ahead is past (ST-43)."""
    assert rfc2822(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    [
        None, "", "0", "-1", "yesterday", "2024-01-02T03:04:05Z", "1700000000",
        "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 25:00:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT", f"{NOVEMBER_6}\nX: y", f"{NOVEMBER_6}, {NOVEMBER_6}", "日曜日, 06 Nov 1994",
    ],
)  # fmt: skip
def test_no_date_is_empty(text: str | None) -> None:
    """What is no date of the three forms gives nothing (MF-8, AMB-MF-9)."""
    assert rfc2822(text, NOW) == ""


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """Whatever a server sends, the answer is empty or reads as a date."""
    written = rfc2822(text, NOW)

    assert written == "" or parsedate_to_datetime(written.partition("(")[0]).year > 0


def test_long_texts_take_linear_time() -> None:
    """A header of a hundred thousand characters is judged at once."""
    for hostile in (
        " " * 100_000,
        "1 Nov " + " " * 100_000,
        NOVEMBER_6 + " " * 100_000 + "(",
        NOVEMBER_6 + "(" * 100_000,
    ):
        assert rfc2822(hostile, NOW) == ""


@pytest.mark.parametrize(("seconds", "expected"), [(60 * 86_400, False), (60 * 86_400 + 1, True), (0, False)])
def test_kept_for_sixty_days(seconds: int, expected: bool) -> None:
    """A result of exactly sixty days is still there, an older one is not (MF-31, AMB-MF-12)."""
    assert is_older(NOW - seconds, NOW, 60) is expected
