"""Keep what was fetched, as WARC files with an index, for archives and replays.

Knows the formats and their files; asks no web and knows no ledger.
"""
