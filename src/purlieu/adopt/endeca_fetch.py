"""An Endeca configuration's HTTP, robots and fetcher properties, as ours, with their units (semantics 1.6, 1.7).

Knows which key decides alike and where the two differ. Reads no file.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from purlieu.adopt.endeca_property import Found
from purlieu.errors import Mistake
from purlieu.settings.check import FORMS, Wrong

_TOKEN: Final = re.compile("[A-Za-z0-9_-]+")  # what settings take for robots.agent
_NAMED: Final = ("http.agent.name", "http.agent.version")
_DAY: Final = 86_400
_GIB: Final = 1024**3


def robots_keys(found: Found) -> None:
    """Write how robots.txt and META robots are obeyed (EN-41 to EN-45)."""
    draft, ignore, agents = found.draft, found.of("http.robots.ignore"), found.of("http.robots.agents")
    obey = not found.flag(ignore.name)
    draft.put("robots.obey", obey, ignore)
    draft.put("links.obey_nofollow", obey, ignore, why="META robots goes with robots.txt")
    names = [one.strip() for one in found.text(agents.name).split(",") if one.strip() not in {"", "*"}]
    token = _TOKEN.match(names[0]) if names else None
    if token:
        draft.put("robots.agent", token[0], agents)
        if token[0] != names[0]:
            draft.warn(
                f'"{token[0]}" stands for the robots.txt name "{names[0]}": such a name ends at its first space.'
            )
    if len(names) > 1 or (agents.place and not token):
        why = f"Purlieu obeys one name in robots.txt, and * where that is not named; left out: {', '.join(names[1:])}"
        draft.leave(agents, why if token else "no name in it is one that robots.txt can have")
    allow = found.of("http.robots.403.allow")
    draft.put("robots.allow_403", found.flag(allow.name), allow)


def fetch_keys(found: Found) -> None:
    """Write how pages are asked for (EN-40)."""
    draft = found.draft
    parts = [found.of(f"http.agent.{name}") for name in ("name", "version", "description", "url", "email")]
    texts = {part.name: " ".join(found.text(part.name).split()) for part in parts}
    if not texts["http.agent.name"]:
        remedy = "the original does not start without it; write the crawler's name"
        found.mistakes.append(Mistake(parts[0].name, "", remedy, parts[0].place))
    foreign = [part for part in parts if not texts[part.name].isascii()]
    for part in foreign:  # a name in another script: the crawler still has to be called something
        draft.leave(part, "what a crawler calls itself to servers is ASCII alone")
        texts[part.name] = ""
    name, version, *about = texts.values()
    told = "; ".join(text for text in about if text)
    agent = (name or "crawler") + (f"/{version}" if version else "") + (f" ({told})" if told else "")
    sources = [part for part in parts if (part.place or part.name in _NAMED) and part not in foreign]
    draft.put("fetch.user_agent", agent, *sources)
    timeout, size = found.of("http.timeout"), found.of("http.content.limit")
    seconds = found.number(timeout.name, 0.1, 3600, scale=0.001)
    draft.put("fetch.timeout_seconds", seconds, timeout, why="milliseconds there; here for the request as a whole")
    draft.put("fetch.connect_timeout_seconds", seconds, timeout)
    limit = found.number(size.name, 1024, _GIB, also=-1)
    draft.put("fetch.page_bytes", _GIB if limit < 0 else int(limit), size)
    host, port, user, password = (found.of(f"http.proxy.{part}") for part in ("host", "port", "username", "password"))
    if address := found.text(host.name):
        login = quote(found.text(user.name), safe="")
        if login and found.text(password.name):
            login += f":{quote(found.text(password.name), safe='')}"
        proxy = f"http://{login}{'@' if login else ''}{address}:{found.text(port.name)}"
        draft.put("fetch.proxy", proxy, host, *(one for one in (port, user, password) if one.place))
    else:
        for one in (host, port, user, password):
            if one.place:
                draft.leave(one, "there is no proxy without http.proxy.host")


def logins_keys(found: Found) -> None:
    """Write ``[[origin]]`` for each login of ``http.auth.basic`` and ``.digest`` that is bound to a host."""
    draft = found.draft
    taken: set[str] = set()
    for scheme in ("basic", "digest"):
        source = found.of(f"http.auth.{scheme}")
        entries = [one for one in found.text(source.name).split("|||") if one.strip()]
        if source.place and not entries:
            draft.agree(source, "origin")
        for number, entry in enumerate(entries, 1):
            parts = [part.strip() for part in entry.split("~~~")]
            origins = _origins(parts[2], parts[3]) if len(parts) == 5 else []
            if len(parts) != 5:
                draft.leave(source, f"entry {number} is not USER~~~PASSWORD~~~HOST~~~PORT~~~REALM")
            elif parts[2] == "ANY_HOST":
                draft.leave(source, f"entry {number}: Purlieu sends a password to the host it belongs to and no other")
            elif not parts[0] or not parts[1] or not origins:
                draft.leave(source, f"entry {number} lacks a user, a password, a host or a port")
            elif taken.intersection(origins):
                draft.leave(source, f"entry {number}: there is a login for {origins[0]} already, and one is all it has")
            else:
                taken.update(origins)
                found.origins.update(origins)
                for origin in origins:
                    login = [("origin", origin), ("user", parts[0]), ("password", parts[1]), ("auth", scheme)]
                    draft.add("origin", login, source, why="the password may stand in the environment: env:NAME")
                draft.warn(f"{source.name}: passwords stand in the settings as they are; env:NAME keeps them out.")
                if parts[4] not in {"", "ANY_REALM"}:
                    draft.warn(f"{source.name}, entry {number}: the login is sent whatever the realm is called.")


def _origins(host: str, port: str) -> list[str]:
    """Return the origins of a host and a port, which does not tell the scheme unless it is a scheme's own."""
    schemes = {"80": ("http",), "443": ("https",)}.get(port, ("http", "https"))
    end = "" if port == "ANY_PORT" else f":{port}"
    checked = [FORMS["origin"](f"{scheme}://{host}{end}") for scheme in schemes] if host and port else []
    return [origin for origin in checked if not isinstance(origin, Wrong)]


def politeness_keys(found: Found) -> None:
    """Write the pace (1.7, EN-50 to EN-54)."""
    draft = found.draft
    delay, longest, total, each, retries, pause = (
        found.of(f"fetcher.{name}")
        for name in ("delay", "delay.max", "threads.total", "threads.per-host", "retry.max", "retry.delay")
    )
    seconds = found.number(delay.name, 0, _DAY)
    connections = int(found.number(each.name, 1, 64))
    draft.put("politeness.connections", connections, each)
    shared = "there for each thread, here for the host as a whole" if connections > 1 else ""
    draft.put("politeness.delay", seconds / connections, delay, why=shared)
    draft.put("politeness.max_crawl_delay", found.number(longest.name, 0, 1e9, also=-1), longest)
    hosts = int(found.number(total.name, 1, 4096)) // connections
    draft.put("politeness.max_hosts", max(hosts, 1), total, why="so that no more requests are under way than there")
    draft.put("politeness.retries", int(found.number(retries.name, 0, 20)), retries)
    wait = max(found.number(pause.name, 0, _DAY), seconds)
    draft.put("politeness.retry_seconds", wait, pause, why="never below the delay between two requests")
