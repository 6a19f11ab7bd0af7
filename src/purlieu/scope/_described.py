"""What of the settings describes a scope. ``settings`` lies above this room and is not imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SiteOptions(Protocol):
    """What ``[scope]`` and ``[[site]]`` both say."""

    @property
    def mode(self) -> str: ...
    @property
    def ignore_port(self) -> bool: ...
    @property
    def ignore_scheme(self) -> bool: ...
    @property
    def follow_redirected_seed(self) -> bool: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def www_equivalent(self) -> bool: ...
    @property
    def alternative_suffixes(self) -> tuple[str, ...]: ...
    @property
    def domains(self) -> str: ...
    @property
    def strict(self) -> bool: ...


class _CrawlOptions(SiteOptions, Protocol):
    @property
    def only_seeds(self) -> bool: ...


class _SiteAtUrl(SiteOptions, Protocol):
    @property
    def url(self) -> str: ...


class _Lists(Protocol):
    @property
    def generic(self) -> Sequence[str]: ...
    @property
    def additional(self) -> Sequence[str]: ...


class ScopeSettings(Protocol):
    """What of a ``Settings`` describes a scope."""

    @property
    def seeds(self) -> Sequence[str]: ...
    @property
    def scope(self) -> _CrawlOptions: ...
    @property
    def sites(self) -> Sequence[_SiteAtUrl]: ...
    @property
    def domains(self) -> _Lists: ...
