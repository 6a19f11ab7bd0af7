"""Keys of what happens once a run has ended: how long it is kept, and who is told.

Knows their types, limits and sentences. Knows nothing of how a run is pruned or anybody told.
"""

from __future__ import annotations

from purlieu.settings.fact import Key, key
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long runs are kept. History, totals and findings are kept for ever."""

    ledger_runs: int | None = key(
        None,
        Key(
            "Of how many finished runs of the crawl the ledger is kept, the newest first. Older runs lose their rows "
            "at the end of `purlieu crawl` and by `purlieu store prune`.",
            least=1,
            unset="of all",
        ),
    )
    result_days: int = key(
        60,
        Key(
            "For so many days after its end a run's `crawl_result` can be written. -1 is for ever.",
            least=1,
            most=36_500,
            also=-1,
        ),
    )


@dataclass(frozen=True, slots=True)
class AfterSettings:
    """Who is told that `purlieu crawl` has ended. A failure of this is a finding and never fails the run."""

    command: tuple[str, ...] = key(
        (),
        Key(
            "A program and its arguments, run without a shell. It reads the result as one JSON object on its standard "
            "input.",
            unset="no command",
            is_lines=True,
        ),
    )
    webhook: str = key(
        "",
        Key(
            "An address to which the result is sent as a JSON body by POST. May be `env:NAME`, for an address that is "
            "a secret.",
            form="webhook",
            unset="no webhook",
        ),
    )
    timeout_seconds: float = key(
        60.0, Key("How long the command, and the webhook, may take.", least=1, most=3600, unit="seconds")
    )
