"""The keys that say how slowly hosts are asked, all of them, one, or several as one.

As ``key.py``, of which this is a part. What they mean is decided by ``politeness.py``.
"""

# ruff: noqa: FBT003  # a default stands beside what is known of its key
from __future__ import annotations

from purlieu.settings.fact import Key, key
from purlieu.value import dataclass

GROUPS = ("host", "domain", "address")


@dataclass(frozen=True, slots=True)
class PolitenessSettings:
    """How slowly each host is asked."""

    delay: float | None = key(
        None,
        Key(
            "The least time between the starts of two requests to one host.",
            least=0,
            most=86_400,
            unit="seconds",
            unset="0.25 s; none on loopback",
        ),
    )
    connections: int | None = key(
        None, Key("How many requests one host may have at the same time.", least=1, most=64, unset="1; 8 on loopback")
    )
    adaptive: bool = key(
        True, Key("Whether the time between two requests is also at least the host's usual response time.")
    )
    group: str = key(
        "host",
        Key(
            "What is asked as if it were one host: `host` is each by itself, `domain` all hosts of a registrable "
            "domain, `address` all that have the same IP address. `[[group]]` lists hosts by name.",
            choices=GROUPS,
        ),
    )
    max_crawl_delay: float = key(
        30.0,
        Key(
            "A site whose robots.txt asks for a longer Crawl-delay is left alone (`abandoned.delay_too_long`). "
            "-1 obeys any.",
            least=0,
            also=-1,
            unit="seconds",
        ),
    )
    max_hosts: int = key(64, Key("How many hosts are asked at the same time.", least=1, most=4096))
    retries: int = key(2, Key("How often a URL is asked again after a failure that may pass.", least=0, most=20))
    retry_seconds: float = key(
        5.0,
        Key("How long the first retry waits; each further one twice as long.", least=0, most=86_400, unit="seconds"),
    )
    max_backoff_seconds: float = key(
        30.0,
        Key(
            "After failures a host is asked more slowly: the extra pause begins at 1 s, doubles up to this, and goes "
            "again with successes. 0 switches it off.",
            least=0,
            most=86_400,
            unit="seconds",
        ),
    )
    max_retry_after_seconds: float = key(
        900.0,
        Key(
            "A host that asks for a longer pause (Retry-After) is left alone (`abandoned.host_given_up`).",
            least=0,
            unit="seconds",
        ),
    )
    give_up_after: int = key(
        20, Key("A host that fails so many times in a row is left alone (`abandoned.host_given_up`).", least=1)
    )


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Exceptions for one host. What is left out is as for all hosts."""

    name: str = key("", Key("The host's name or address, without scheme and port.", form="host", needed=True))
    delay: float | None = key(
        None, Key("As `politeness.delay`.", least=0, most=86_400, unit="seconds", unset="as for all hosts")
    )
    connections: int | None = key(None, Key("As `politeness.connections`.", least=1, most=64, unset="as for all hosts"))
    adaptive: bool | None = key(None, Key("As `politeness.adaptive`.", unset="as for all hosts"))
    max_crawl_delay: float | None = key(
        None, Key("As `politeness.max_crawl_delay`.", least=0, also=-1, unit="seconds", unset="as for all hosts")
    )
    retries: int | None = key(None, Key("As `politeness.retries`.", least=0, most=20, unset="as for all hosts"))
    retry_seconds: float | None = key(
        None, Key("As `politeness.retry_seconds`.", least=0, most=86_400, unit="seconds", unset="as for all hosts")
    )
    max_backoff_seconds: float | None = key(
        None,
        Key("As `politeness.max_backoff_seconds`.", least=0, most=86_400, unit="seconds", unset="as for all hosts"),
    )
    max_retry_after_seconds: float | None = key(
        None, Key("As `politeness.max_retry_after_seconds`.", least=0, unit="seconds", unset="as for all hosts")
    )
    give_up_after: int | None = key(None, Key("As `politeness.give_up_after`.", least=1, unset="as for all hosts"))
    verify: bool = key(
        True, Key("Whether the host's TLS certificate is checked. The report names each host where it is not.")
    )


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Hosts that are asked as if they were one, because one server answers for them all."""

    name: str = key("", Key("What the group is called in reports.", form="name", needed=True))
    hosts: tuple[str, ...] = key((), Key("The names of its hosts.", form="host", needed=True))
