"""Whether settings of two runs read and judge alike."""

from __future__ import annotations

from purlieu.settings.reading import judge_alike

BASE = 'seeds = ["http://a.test/"]\n'


def test_pace_and_files_judge_nothing() -> None:
    """A resume with another pace, other files or more processes judges nothing again; one with another scope or filter does (R-2.1)."""
    assert judge_alike(BASE, f"{BASE}formats = []\nworkers = 3\n[politeness]\nmax_hosts = 8\n")
    assert not judge_alike(BASE, f'{BASE}[scope]\nmode = "any"\n')
    assert not judge_alike(BASE, 'seeds = ["http://b.test/"]\n')
