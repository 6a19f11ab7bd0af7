"""The properties of an Endeca Web Crawler configuration: their names, defaults, and why some have no counterpart.

Knows ``default.xml`` and ``site.xml`` with their precedence (EN-1 to EN-8). Knows nothing of
what a property decides.
"""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import Final

from purlieu.adopt import plain_xml
from purlieu.adopt.adopted import SECRET, Draft, Source
from purlieu.errors import Mistake, SettingsError
from purlieu.settings.secret import MASK
from purlieu.value import dataclass, field

DEFAULTS: Final = {
    "crawlscope.mode": "SAME_HOST",
    "crawlscope.on-redirected-seed": "true",
    "crawlscope.top-level-domains.generic": "",
    "crawlscope.top-level-domains.additional": "",
    "urlfilter.regex.file": "crawl-urlfilter.txt",
    "urlfilter.order": "",
    "urlfilter.filter-seeds": "false",
    "urlnormalizer.order": "",
    "urlnormalizer.regex.file": "regex-normalize.xml",
    "urlnormalizer.loop.count": "1",
    "urlnormalizer.normalize-seeds": "false",
    "http.agent.name": "endeca webcrawler",
    "http.agent.version": "WebCrawler",
    "http.agent.description": "",
    "http.agent.url": "",
    "http.agent.email": "",
    "http.robots.ignore": "false",
    "http.robots.agents": "endeca webcrawler,*",
    "http.robots.403.allow": "true",
    "http.timeout": "10000",
    "http.content.limit": "1048576",
    "http.auth.basic": "",
    "http.auth.digest": "",
    "http.auth.form.credentials.file": "form-credentials.xml",
    "http.proxy.host": "",
    "http.proxy.port": "8080",
    "http.proxy.username": "",
    "http.proxy.password": "",
    "fetcher.delay": "2.0",
    "fetcher.delay.max": "30",
    "fetcher.threads.total": "100",
    "fetcher.threads.per-host": "1",
    "fetcher.retry.max": "3",
    "fetcher.retry.delay": "5",
    "parser.html.form.use_action": "false",
}
"""What is carried over, with what holds where no file says it (semantics 1.2 to 1.7)."""

_OUTPUT: Final = "Purlieu writes result files of its own; choose them with formats"
_PARSER: Final = "Purlieu reads every page by the HTML Standard"
_PLUGIN: Final = "Purlieu takes no plugins"
_COOKIES: Final = "Purlieu keeps the cookies that servers set; give yours by origin.cookies_file"
NO_COUNTERPART: Final = {
    "http.auth.ntlm": "it is version 1 alone, which no server should take; see origin.auth",
    "http.cookies": _COOKIES,
    "http.proxy.realm": "Purlieu logs in to its proxy whatever the realm",
    "output.dom.include": _OUTPUT,
    "output.file.binary.file-size-max": _OUTPUT,
    "output.file.directory": "the folder for result files is output, and the store is store",
    "output.file.is-compressed": _OUTPUT,
    "output.file.is-xml": _OUTPUT,
    "output.file.name": _OUTPUT,
    "output.records.properties.excludes": _OUTPUT,
    "log.interval": "the terminal shows progress at its own pace",
    "log.interval.summary": "the terminal shows progress at its own pace",
    "parser.character.encoding.default": _PARSER,
    "parser.html.impl": _PARSER,
    "plugin.auto-activation": _PLUGIN,
    "plugin.excludes": _PLUGIN,
    "plugin.folders": _PLUGIN,
    "plugin.includes": _PLUGIN,
}
OTHER_FILES: Final = {
    "mime-types.xml": "the classes of content that are wanted are fetch.classes",
    "parse-plugins.xml": _PLUGIN,
    "log4j.properties": "what is logged is set by -q, -v and -vv",
}
"""Files of a configuration set that are not read (EN-6), and why."""

_UNKNOWN: Final = "there is no such property; it has no effect"
_MOST_SUBSTITUTIONS: Final = 20
_VARIABLE: Final = re.compile(r"\$\{([^}$\s]{1,200})\}")


@dataclass(slots=True)
class Found:
    """The properties as they hold, and a note of what was made of each."""

    draft: Draft
    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    origins: set[str] = field(default_factory=set)
    _final: set[str] = field(default_factory=set)

    def read(self, body: bytes, file: str) -> None:
        """Take the properties of one file; they stand over those taken before, unless those said ``final`` (EN-1)."""
        root = plain_xml.read(body, file)
        if root.name != "configuration":
            raise SettingsError((Mistake(f"line {root.line}", f"<{root.name}>", "write <configuration>", file),))
        for element in root.children:
            name = element.child("name")
            if element.name != "property" or name is None or not name.text.strip():
                what = f"<{element.name}>" if element.name != "property" else "a <property> without <name>"
                self.draft.warn(f"{file}, line {element.line}: {what} says nothing and was passed over.")
                continue
            self._set(name.text.strip(), element, file)

    def _set(self, name: str, element: plain_xml.Element, file: str) -> None:
        value, final = element.child("value"), element.child("final")
        if value is None:
            return
        if name in self._final and self.values[name][1] != file:
            self.draft.warn(f"{file}: {name} is final in {self.values[name][1]} and stays as it is there.")
            return
        self.values[name] = (value.text.strip(), file)
        if final is not None and final.text.strip() == "true":
            self._final.add(name)

    def text(self, name: str) -> str:
        """Return a property's value, or its default; ``${other}`` in it stands for the other one's."""
        value = self.values.get(name, (DEFAULTS[name], ""))[0]
        for _ in range(_MOST_SUBSTITUTIONS):
            variable = _VARIABLE.search(value)
            if variable is None:
                break
            other = self.values.get(variable[1], (DEFAULTS.get(variable[1]), ""))[0]
            if other is None:
                break
            value = value[: variable.start()] + other + value[variable.end() :]
        return value

    def flag(self, name: str) -> bool:
        """Return a property's boolean. As in the original, what is neither true nor false is the default."""
        text = self.text(name)
        if text in {"true", "false"}:
            return text == "true"
        return self._default(name, "write true or false") == "true"

    def number(self, name: str, least: float, most: float, *, also: float | None = None, scale: float = 1.0) -> float:
        """Return a property's number times ``scale``, brought within what the setting takes.

        ``also`` is let through whatever the bounds are. As in the original, what is no number is the default.
        """
        try:
            given = float(self.text(name))
        except ValueError:
            given = math.nan
        if not math.isfinite(given):
            given = float(self._default(name, "write a number"))
        value = given * scale
        if given == also or least <= value <= most:
            return given if given == also else value
        near = min(max(value, least), most)
        self.draft.warn(f"{name} = {self.text(name)} is out of reach; {near:g} is taken instead of {value:g}.")
        return near

    def of(self, name: str) -> Source:
        """Return where a property comes from, secrets masked."""
        value, file = self.values.get(name, (DEFAULTS.get(name, ""), ""))
        return Source(name, MASK if value and SECRET.search(name) else value, file)

    def leave_the_rest(self) -> None:
        """Note every property that has no counterpart, and warn of each that is a misspelt one (AMB-EN-1)."""
        known = {**DEFAULTS, **NO_COUNTERPART}
        for name in self.values:
            if name in DEFAULTS:
                continue
            why = NO_COUNTERPART.get(name, _UNKNOWN)
            if why is _UNKNOWN and (near := _meant(name, list(known))):
                file = self.values[name][1]
                self.draft.warn(f'{file}: "{name}" is no property and has no effect; did you mean "{near}"?')
                why = f'{_UNKNOWN}; did you mean "{near}"?'
            self.draft.leave(self.of(name), why)

    def _default(self, name: str, remedy: str) -> str:
        default = DEFAULTS[name]
        self.draft.warn(f'{name} = "{self.text(name)}" counts as its default, {default}; {remedy}.')
        return default


def _meant(name: str, known: list[str]) -> str:
    """Return the property that a name was meant to be, "" when none is like it."""
    folded = {re.sub(r"[^a-z0-9]", "", one.lower()): one for one in known}
    found = get_close_matches(re.sub(r"[^a-z0-9]", "", name[:200].lower()), folded, n=1, cutoff=0.84)
    return folded[found[0]] if found else ""
