"""What holds for one host: the politeness of all with the host's own exceptions."""

from __future__ import annotations

from dataclasses import fields, replace

from purlieu.settings.key import PolitenessSettings, Settings


def politeness_of(settings: Settings, host: str) -> PolitenessSettings:
    """Return ``[politeness]`` as it holds for a host: what its ``[[host]]`` says stands before what holds for all."""
    own = next((one for one in settings.hosts if one.name == host), None)
    if own is None:
        return settings.politeness
    said = {one.name: getattr(own, one.name, None) for one in fields(PolitenessSettings)}
    return replace(settings.politeness, **{name: value for name, value in said.items() if value is not None})
