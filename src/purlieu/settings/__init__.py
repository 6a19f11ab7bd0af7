"""One TOML text to one frozen, checked object.

Knows every key, its default and its limits. Knows nothing of how a crawl runs,
and reads no file and no environment: texts come in, values go out.
"""

from __future__ import annotations

from typing import Any

from purlieu.settings.agreement import with_rules
from purlieu.settings.belonging import (
    DomainSettings,
    FilterSettings,
    NormaliseRule,
    NormaliseSettings,
    ScopeSettings,
    SiteSettings,
)
from purlieu.settings.door import OriginSettings
from purlieu.settings.ending import AfterSettings, RetentionSettings
from purlieu.settings.host import group_of, has_own_delay, is_grouped, politeness_of
from purlieu.settings.key import (
    FetchSettings,
    HistorySettings,
    LedgerSettings,
    LimitSettings,
    LinkSettings,
    RobotsSettings,
    Settings,
    SitemapSettings,
)
from purlieu.settings.pacing import GroupSettings, HostSettings, PolitenessSettings
from purlieu.settings.place import result_folder
from purlieu.settings.profile import PUBLIC, ProfileSettings
from purlieu.settings.secret import resolve
from purlieu.settings.trapping import TrapSettings
from purlieu.settings.tree import checked, dump, of, read

__all__ = [
    "PUBLIC",
    "AfterSettings",
    "DomainSettings",
    "FetchSettings",
    "FilterSettings",
    "GroupSettings",
    "HistorySettings",
    "HostSettings",
    "LedgerSettings",
    "LimitSettings",
    "LinkSettings",
    "NormaliseRule",
    "NormaliseSettings",
    "OriginSettings",
    "PolitenessSettings",
    "ProfileSettings",
    "RetentionSettings",
    "RobotsSettings",
    "ScopeSettings",
    "Settings",
    "SiteSettings",
    "SitemapSettings",
    "TrapSettings",
    "checked",
    "dump",
    "group_of",
    "has_own_delay",
    "is_grouped",
    "of",
    "politeness_of",
    "read",
    "resolve",
    "result_folder",
    "schema",
    "with_rules",
]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the settings file (draft 2020-12)."""
    from purlieu.settings.json_schema import schema as made

    return made()
