"""Whether settings of two runs read and judge alike."""

from __future__ import annotations

from purlieu.settings.reading import judge_alike, keeps_more

BASE = 'seeds = ["http://a.test/"]\n'


def test_pace_and_files_judge_nothing() -> None:
    """A resume with another pace, other files or more processes judges nothing again; one with another scope or filter does (R-2.1)."""
    assert judge_alike(BASE, f"{BASE}formats = []\nworkers = 3\n[politeness]\nmax_hosts = 8\n")
    assert not judge_alike(BASE, f'{BASE}[scope]\nmode = "any"\n')
    assert not judge_alike(BASE, 'seeds = ["http://b.test/"]\n')


def test_documents_that_were_not_read_are_fetched_again() -> None:
    """Where documents are read and were not before, an answer of 304 would leave their text out (issue 8)."""
    text = f'{BASE}keep = "text"\n'
    reads = f"{text}[documents]\nread = true\n"
    assert keeps_more(reads, text, "text")
    assert not keeps_more(reads, reads, "text")
    assert not keeps_more(text, reads, "text")
