"""An Endeca Web Crawler configuration to a settings file that decides the same.

Knows the steps, and where seeds and scope come from (R-3.6). The rest of the properties is
``endeca_filter.py``'s and ``endeca_fetch.py``'s; how files are written is ``endeca_property.py``'s
and ``endeca_file.py``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from purlieu.adopt import endeca_file
from purlieu.adopt.adopted import Adopted, Draft, Source
from purlieu.adopt.endeca_fetch import fetch_keys, logins_keys, politeness_keys, robots_keys
from purlieu.adopt.endeca_file import Folders
from purlieu.adopt.endeca_filter import filter_keys, normalise_keys
from purlieu.adopt.endeca_form import forms_keys
from purlieu.adopt.endeca_property import OTHER_FILES, Found
from purlieu.domain import GENERIC, TldLists
from purlieu.errors import Mistake, SettingsError
from purlieu.settings.key import FOLLOWED
from purlieu.url import parse

MODES: Final = {"ANY": "any", "SAME_DOMAIN": "same-domain", "SAME_HOST": "same-host"}


def read(
    folder: Path,
    *,
    seeds: Sequence[str] = (),
    defaults: Path | None = None,
    depth: int | None = None,
    limit: int | None = None,
) -> Adopted:
    """Return the settings file for a configuration folder (the original's ``-c``).

    ``seeds`` are URLs, or files with one a line (``-s``); without any, the one list of seeds in the folder.
    ``defaults`` is the folder with ``default.xml``, read first (EN-2); without it the folder's own is, and without
    that the documented defaults hold. ``depth`` and ``limit`` are ``-d`` and ``-l`` (EN-61, EN-62). Raises
    SettingsError with every mistake.
    """
    draft = Draft((f"Adopted from the Endeca Web Crawler configuration in {folder}.", "It decides as that does."))
    found = Found(draft)
    folders = Folders(folder, defaults)
    steps: tuple[Callable[[], None], ...] = (
        lambda: _properties(found, folders),
        lambda: _seeds(found, folders, seeds),
        lambda: _scope(found),
        lambda: filter_keys(found, folders),
        lambda: normalise_keys(found, folders),
        lambda: robots_keys(found),
        lambda: fetch_keys(found),
        lambda: logins_keys(found),
        lambda: forms_keys(found, folders),
        lambda: politeness_keys(found),
        lambda: _limits(found, depth, limit),
        lambda: _links(found),
    )
    for step in steps:
        try:
            step()
        except SettingsError as error:
            found.mistakes += error.mistakes
    if found.mistakes:
        raise SettingsError(tuple(dict.fromkeys(found.mistakes)))
    found.leave_the_rest()
    for name, why in OTHER_FILES.items():
        if folders.find(name):
            draft.leave(Source(name, ""), why)
    return draft.adopted(str(folder))


def _properties(found: Found, folders: Folders) -> None:
    """Read ``default.xml``, then ``site.xml`` over it (EN-1 to EN-4)."""
    first = (folders.default or folders.own) / "default.xml"
    if folders.default and not endeca_file.is_file(first):
        remedy = "there is no default.xml in it; the original does not start without it, so give the folder that has it"
        found.mistakes.append(Mistake("--defaults", str(folders.default), remedy))
    own = folders.own / "site.xml"
    there = [path for path in (first, own) if endeca_file.is_file(path)]
    if not there and not folders.default:
        remedy = "there is neither default.xml nor site.xml in it; give the folder of the original's -c"
        raise SettingsError((Mistake("DIR", str(folders.own), remedy),))
    if first not in there and not folders.default:
        found.draft.warn("There is no default.xml; what site.xml does not say is as the product's guide says.")
    for path in there:
        try:
            found.read(endeca_file.content(path), path.name)
        except SettingsError as error:
            found.mistakes += error.mistakes


def _seeds(found: Found, folders: Folders, typed: Sequence[str]) -> None:
    """Write the seeds; a line of a list that is no URL is passed over with a warning, as in the original (EN-68)."""
    draft = found.draft
    given = endeca_file.named(typed, folders)
    lists = folders.seed_lists() if not given else []
    if len(lists) > 1:
        names = ", ".join(path.name for path in lists)
        draft.warn(f"There are several lists of seeds ({names}); none was taken. Name one with --seed.")
    urls: list[str] = []
    for one in given or lists[: 1 if len(lists) == 1 else 0]:
        if isinstance(one, str):
            if fault := endeca_file.seed_fault(one):
                found.mistakes.append(Mistake("--seed", one, fault))
            else:
                urls.append(one)
            continue
        for number, text in endeca_file.seeds(one):
            if fault := endeca_file.seed_fault(text):
                draft.warn(f'{one.name}, line {number}: "{text[:200]}" was passed over: {fault}.')
            else:
                urls.append(text)
    if not urls:
        draft.warn("There are no seeds; give them to crawl, or write seeds = [...].")
    found.seeds = list(dict.fromkeys(urls))
    draft.put("seeds", found.seeds, why="the seeds (-s)")


def _scope(found: Found) -> None:
    """Write the scope (EN-10 to EN-34, EN-81)."""
    draft, mode = found.draft, found.text("crawlscope.mode")
    if mode not in MODES:
        remedy = f"write {', '.join(MODES)}, in capitals"
        raise SettingsError((Mistake("crawlscope.mode", mode, remedy, found.of("crawlscope.mode").place),))
    draft.put("scope.mode", MODES[mode], found.of("crawlscope.mode"))
    redirected = "crawlscope.on-redirected-seed"
    draft.put("scope.follow_redirected_seed", found.flag(redirected), found.of(redirected))
    draft.put("scope.judge_against", "own-seed", why="a link is held against the seed that it descends from")
    draft.put("scope.ignore_port", value=True, why="hosts and domains are compared without port ...")
    draft.put("scope.ignore_scheme", value=True, why="... and without scheme")
    draft.put("scope.domains", "lists", why="domains are told by two lists of top-level domains, not by the public one")
    generic, additional = (found.of(f"crawlscope.top-level-domains.{name}") for name in ("generic", "additional"))
    names = _names(found.text(generic.name))
    if names:
        draft.put("domains.generic", names, generic)
        if set(names) != GENERIC:
            draft.warn(
                f"{generic.place}: {generic.name} is not the list that Purlieu holds; a changed list may change how "
                "domain names are derived."
            )
    elif generic.place:
        draft.put("domains.generic", [], generic)
        draft.warn(f"{generic.place}: {generic.name} is empty, which may change how domain names are derived.")
    more = _names(found.text(additional.name))
    draft.put("domains.additional", more, additional)
    if mode == "SAME_DOMAIN":
        _warn_of_domains(found, TldLists(names if generic.place else GENERIC, more))


def _warn_of_domains(found: Found, lists: TldLists) -> None:
    """Warn of each seed whose domain neither list tells, so that its whole registry may be in scope (EN-80)."""
    for seed in found.seeds:
        domain, was_found = lists.domain(parse(seed).host)
        if not was_found:
            found.draft.warn(
                f'The domain of {seed} is told by neither list, and "{domain}" is taken. If that is no domain of '
                f'one owner, add "{domain}" to crawlscope.top-level-domains.additional and adopt it again.'
            )


def _names(text: str) -> list[str]:
    """Return the names of a list: any white space parts them, case and dots around them do not count (AMB-EN-13)."""
    return list(dict.fromkeys(name for one in text.split() if (name := one.strip(".").lower())))


def _limits(found: Found, depth: int | None, limit: int | None) -> None:
    """Write where a run ends (EN-61, EN-62)."""
    draft = found.draft
    for flag, value in (("--depth", depth), ("--limit", limit)):
        if value is not None and value < 0:
            found.mistakes.append(Mistake(flag, str(value), "write a whole number of at least 0"))
    if depth is None:
        draft.warn("The original asks for a depth (-d) with every crawl; without limits.max_depth there is none here.")
    else:
        draft.put("limits.max_depth", depth, why="-d: a seed is level 0")
    if limit:
        draft.put("limits.max_pages", limit, why="-l: what is under way is finished")
    draft.put("limits.repeated_segment", 0, why="endless paths are left to the filter's own rules")


def _links(found: Found) -> None:
    """Write what the original finds URLs in: links alone, and forms if it says so."""
    draft, forms = found.draft, found.of("parser.html.form.use_action")
    kinds = [*FOLLOWED, "form"] if found.flag(forms.name) else list(FOLLOWED)
    draft.put("links.kinds", kinds, forms)
    draft.put("links.canonical", value=False, why="it knows no canonical URLs ...")
    draft.put("sitemap.use", value=False, why="... and no sitemaps")
