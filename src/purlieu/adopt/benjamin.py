"""A Benjamin TaskConfig to a settings file that decides the same: entry points, follow policy, extra sites, limits.

Knows the four policies, their options, and everything that Benjamin's validation refuses
(BJ-1 to BJ-43, R-3.6). How the text is written is ``task_config.py``'s.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Final

from purlieu.adopt import task_config
from purlieu.adopt.adopted import SECRET, Adopted, Draft, Source
from purlieu.domain import is_address, registrable, second_level
from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.settings.check import FORMS, Wrong, nearest
from purlieu.settings.secret import MASK
from purlieu.settings.tree import written
from purlieu.url import Url, parse
from purlieu.value import dataclass, field

MODES: Final = {"SameTLD": "same-domain", "SameDomain": "same-host", "SameDir": "same-dir", "SameSLD": "same-sld"}
_POLICY: Final = ("policy", "ignore_port", "alternative_domain_suffix")
_TOP: Final = (
    "entry_points",
    "featured_entry_point",
    "follow_policy",
    "sites",
    "max_time_seconds",
    "max_target",
)
_SLIPS: Final = {"ignore_ports": "ignore_port", "domain_policy": "follow_policy"}
"""Names that readers of the documentation take for fields (AMB-BJ-1, AMB-BJ-18)."""


def read(text: str, *, source: str, strict: bool = False) -> Adopted:
    """Return the settings file for a TaskConfig in JSON or YAML; ``source`` is its file's name, as it is told.

    ``strict``: SameTLD of an address is the error that was announced, instead of SameDomain with a warning (BJ-11).
    Raises SettingsError with every mistake.
    """
    fields = task_config.read(text, source)
    heading = (f"Adopted from the Benjamin TaskConfig in {source}.", "Its follow policy decides as it does there.")
    reading = _Reading(source, strict, Draft(heading))
    reading.whole(fields)
    if reading.mistakes:
        raise SettingsError(tuple(dict.fromkeys(reading.mistakes)))
    return reading.draft.adopted(source)


@dataclass(slots=True)
class _Reading:
    """One pass over the fields; collects mistakes."""

    source: str
    strict: bool
    draft: Draft
    mistakes: list[Mistake] = field(default_factory=list)
    _place: str = field(init=False)
    _sites: list[list[tuple[str, object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._place = PurePath(self.source).name

    def whole(self, fields: Mapping[str, Any]) -> None:
        """Write everything."""
        entries = self._entry_points(fields.get("entry_points"))
        self._limit("max_time_seconds", fields.get("max_time_seconds"), "limits.max_seconds")
        self._limit("max_target", fields.get("max_target"), "limits.max_targets")
        named = fields.get("featured_entry_point")
        if named:
            self._site("follow_policy", fields.get("follow_policy"), named, "featured_entry_point")
        elif entries:
            self._site("follow_policy", fields.get("follow_policy"), entries[0], "entry_points[1]")
        else:
            self._wrong("entry_points", "", "write the URLs to start from")
        extra = fields.get("sites") or []
        if not isinstance(extra, list):
            self._wrong("sites", extra, "write a list of sites, each with url and policy")
            extra = []
        for number, site in enumerate(extra, 1):
            self._site(f"sites[{number}]", site)
        for name, value in fields.items():
            if name in _SLIPS:
                self._wrong(name, value, f"there is no such field; write {_SLIPS[name]}")
            elif name not in _TOP:
                self._leave(name, value)

    def _entry_points(self, value: object) -> list[str]:
        """Write the seeds, which are fetched whatever the policy says and widen no site (BJ-2, AMB-BJ-12)."""
        if value is not None and not isinstance(value, list):
            self._wrong("entry_points", value, "write a list of URLs")
            return []
        urls = [
            url.href if url else ""
            for number, one in enumerate(value or [], 1)
            for url in (self._url(one, f"entry_points[{number}]"),)
        ]
        given = Source("entry_points", _shown(value), self._place)
        self.draft.put("seeds", list(dict.fromkeys(urls)), given, why="fetched whatever the policy says")
        return [str(one) for one in value or []]

    def _limit(self, name: str, value: object, key: str) -> None:
        """Write a soft limit; none, or 0, is unlimited (BJ-40, BJ-43)."""
        if isinstance(value, str) and value.isascii() and value.isdigit():  # protobuf writes 64-bit numbers so in JSON
            value = int(value)
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15 or value % 1:
            self._wrong(name, value, "write a whole number of at least 0; 0 is no limit")
        elif value:
            self.draft.put(key, int(value), Source(name, str(value), self._place), why="what is under way is finished")
        else:
            self.draft.agree(Source(name, str(value), self._place), key)

    def _site(self, where: str, fields: object, url: object = None, url_at: str = "") -> None:
        """Write one site: the featured one, whose URL stands elsewhere, or an extra one (BJ-4, AMB-BJ-18)."""
        is_extra = not url_at
        if fields is None and not is_extra:
            fields = {}
        if not isinstance(fields, Mapping):
            self._wrong(where, fields, "write its fields: policy, ignore_port, alternative_domain_suffix")
            return
        try:
            said = task_config.snake(dict(fields), self.source, f"{where}.")
        except SettingsError as error:
            self.mistakes += error.mistakes
            return
        known = ("url", *_POLICY) if is_extra else _POLICY
        for name in said:
            if name not in known:
                near = _SLIPS.get(name) or nearest(name, known)
                remedy = f"there is no such field; did you mean {near}?" if near else "there is no such field"
                self._wrong(f"{where}.{name}", said[name], remedy)
        before = len(self.mistakes)
        place = url_at or f"{where}.url"
        featured = self._url(said.get("url") if is_extra else url, place)
        policy, port, suffixes = self._policy(where, said), self._flag(where, said), self._suffixes(where, said)
        if featured and policy:
            mode = self._validated(where, place, featured, policy, suffixes)
            if len(self.mistakes) == before:
                options = {"ignore_port": port, "alternative_suffixes": suffixes}
                self._write(featured, mode, options, self._sources(where, said, place, featured))

    def _policy(self, where: str, said: Mapping[str, Any]) -> str:
        policy = said.get("policy") or "SameDomain"  # AMB-BJ-16
        if isinstance(policy, str) and policy in MODES:
            return policy
        self._wrong(f"{where}.policy", policy, f"write one of: {', '.join(MODES)}")
        return ""

    def _flag(self, where: str, said: Mapping[str, Any]) -> bool:
        value = said.get("ignore_port")
        if value is not None and not isinstance(value, bool):
            self._wrong(f"{where}.ignore_port", value, "write true or false")
        return value is True

    def _suffixes(self, where: str, said: Mapping[str, Any]) -> list[str]:
        value, key = said.get("alternative_domain_suffix"), f"{where}.alternative_domain_suffix"
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            self._wrong(key, value, 'write a list of suffixes: [".com", ".com.cn"]')
            return []
        return list(dict.fromkeys(one.lower() for one in value))

    def _validated(self, where: str, place: str, featured: Url, policy: str, suffixes: Sequence[str]) -> str:
        """Return the mode of a site, after everything that Benjamin's validation says about it."""
        host = featured.host.removesuffix(".")
        for key, value, remedy in _refused(policy, featured, host, suffixes):
            at = place if key == "url" else f"{where}.{key}"
            self._wrong(at, value, remedy)
        if policy == "SameTLD" and registrable(host, private=False) is None:
            what = "an address" if is_address(host) else "no domain that someone can own"
            if self.strict:
                self._wrong(f"{where}.policy", policy, f"{host} is {what}; write SameDomain")
            else:
                self.draft.warn(f"{where}: {host} is {what}, so SameTLD counts as SameDomain. Write SameDomain.")
            return "same-host"
        if policy == "SameSLD" and (second_level(host) or ("", ""))[1]:
            self.draft.warn(f"{where}: no list tells the second-level name of {host}; the label before the last is it.")
        return MODES[policy]

    def _sources(self, where: str, said: Mapping[str, Any], place: str, featured: Url) -> list[Source]:
        """Return the entries that a site came from; the entry points are told with the seeds."""
        url = [] if place.startswith("entry_points") else [Source(place, featured.href, self._place)]
        options = [(f"{where}.{name}", said[name]) for name in _POLICY if name in said]
        return [*url, *(Source(key, _shown(value), self._place) for key, value in options)]

    def _write(self, featured: Url, mode: str, options: Mapping[str, Any], sources: Sequence[Source]) -> None:
        """Write ``[[site]]``; one that stands there already is not written again."""
        pairs: list[tuple[str, object]] = [("mode", mode)]
        pairs += [(name, value) for name, value in options.items() if value or name == "ignore_port"]
        pairs += [("domains", "psl-icann")] if mode == "same-domain" else []
        pairs.append(("follow_redirected_seed", False))
        pairs.insert(0, ("url", featured.href))
        if pairs in self._sites:
            for source in sources:
                self.draft.agree(source, "site")
        else:
            self._sites.append(pairs)
            self.draft.add("site", pairs, *sources)

    def _url(self, value: object, key: str) -> Url | None:
        """Return a URL; one without scheme is a host and a path (AMB-BJ-4)."""
        if not isinstance(value, str) or not value.strip():
            self._wrong(key, value, "write a URL")
            return None
        text = value.strip()
        checked = FORMS["url"](text if "://" in text else f"http://{text}")
        if isinstance(checked, Wrong):
            self._wrong(key, checked.value, checked.remedy)
            return None
        return parse(checked)

    def _leave(self, name: str, value: object) -> None:
        if near := get_close_matches(name, _TOP, n=1, cutoff=0.8):
            self.draft.warn(f'"{name}" is no field that tells where to crawl; did you mean "{near[0]}"?')
        shown = MASK if SECRET.search(name) else "" if isinstance(value, list | Mapping) else _shown(value)
        self.draft.leave(Source(name, shown), "it says nothing about where to crawl, and has no counterpart")

    def _wrong(self, key: str, value: object, remedy: str) -> None:
        self.mistakes.append(Mistake(key, _shown(value), remedy, self.source))


def _refused(policy: str, featured: Url, host: str, suffixes: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (field, value, remedy) for each thing that Benjamin's validation refuses (BJ-14, 18, 20, 32)."""
    if policy == "SameDir" and (not featured.path.endswith("/") or featured.query is not None or featured.fragment):
        yield "url", featured.href, "SameDir needs a URL that ends with /, without ? and #"
    if policy == "SameSLD" and is_address(host):
        yield "url", featured.href, "SameSLD cannot be used with an address; write SameDomain"
    elif policy == "SameSLD" and "." not in host:
        yield "url", featured.href, "SameSLD needs a host with a dot; write SameDomain"
    key = "alternative_domain_suffix"
    if not suffixes:
        return
    shown = written(list(suffixes))
    for suffix in suffixes:
        if not suffix.startswith("."):
            yield key, suffix, f'write it with a dot in front: ".{suffix}"'
    if len(suffixes) < 2:
        yield key, shown, "write at least two different suffixes, or leave the field out"
    if policy == "SameSLD":
        yield key, shown, "SameSLD ignores the suffix anyway; leave the field out"
    if is_address(host):
        yield key, shown, f"{host} is an address and has no suffix; leave the field out"
        return
    if host in {suffix.removeprefix(".") for suffix in suffixes}:
        yield key, shown, f"{host} is nothing but a suffix; write the URL of a host under it"
    elif not any(host.endswith(_ascii(suffix)) for suffix in suffixes):
        yield key, shown, f"none of them ends {host}; write the one that does too"


def _ascii(suffix: str) -> str:
    """Return a suffix as hosts are written (AMB-BJ-14)."""
    try:
        return parse(f"http://x.{suffix.lstrip('.')}/").host[1:]
    except UrlError:
        return suffix


def _shown(value: object) -> str:
    """Return a value in few words, however deep it is: a text as it is, all else as JSON."""
    if value is None or isinstance(value, str):
        return (value or "")[:200]
    try:
        return json.dumps(value, ensure_ascii=False, default=str)[:200]
    except (ValueError, TypeError, RecursionError):
        return reprlib.repr(value)
