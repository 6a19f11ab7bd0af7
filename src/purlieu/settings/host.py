"""What holds for one host: the politeness of all with the host's own exceptions."""

from __future__ import annotations

from purlieu import domain
from purlieu.settings.key import Settings
from purlieu.settings.pacing import PolitenessSettings
from purlieu.value import fields, replace


def politeness_of(settings: Settings, host: str) -> PolitenessSettings:
    """Return ``[politeness]`` as it holds for a host: what its ``[[host]]`` says stands before what holds for all."""
    own = next((one for one in settings.hosts if one.name == host), None)
    if own is None:
        return settings.politeness
    said = {one.name: getattr(own, one.name, None) for one in fields(PolitenessSettings)}
    return replace(settings.politeness, **{name: value for name, value in said.items() if value is not None})


def has_own_delay(settings: Settings, host: str) -> bool:
    """Return whether a ``[[host]]`` says how slowly this host is asked."""
    return any(one.name == host and one.delay is not None for one in settings.hosts)


def is_grouped(settings: Settings) -> bool:
    """Return whether several hosts may be asked as if they were one (R-4.1)."""
    return settings.politeness.group != "host" or bool(settings.groups)


def group_of(settings: Settings, host: str) -> str:
    """Return the name of the group a host is in by the owner's lists or its domain; "" where these name none.

    With ``group = "address"`` a host that no list names is in the group of its address, which only the network knows.
    """
    listed = next((group.name for group in settings.groups if host in group.hosts), None)
    if listed is not None:
        return f"list:{listed}"
    if settings.politeness.group != "domain":
        return ""
    return f"domain:{domain.registrable(host) or host}"
