"""An Endeca configuration's URL filter and URL normalisers, as ``[filter]`` and ``[normalise]`` (R-3.4, R-3.5).

Knows the properties, and which patterns need the slow engine. Matches nothing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from purlieu.adopt import endeca_file
from purlieu.adopt.adopted import Source
from purlieu.adopt.endeca_file import Folders
from purlieu.adopt.endeca_property import Found
from purlieu.errors import Mistake
from purlieu.normalise import mistakes
from purlieu.pattern import mend
from purlieu.value import dataclass

SLASHES: Final = "(?<!:)/{2,}"
"""The normaliser rule of Nutch's sample that looks behind; ``collapse_slashes`` does the same to the path (UF-23)."""
_PLACEHOLDER: Final = "MY.DOMAIN.NAME"
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    replace: str
    line: int


@dataclass(frozen=True, slots=True)
class _Rules:
    """As ``normalise.mistakes`` asks for them."""

    rules: tuple[_Rule, ...]
    collapse_slashes: bool = True
    loops: int = 1


def filter_keys(found: Found, folders: Folders) -> None:
    """Write the ordered rules of the URL filter (UF-1 to UF-11)."""
    draft, source, seeds = found.draft, found.of("urlfilter.regex.file"), found.of("urlfilter.filter-seeds")
    order = found.of("urlfilter.order")
    if foreign := [name for name in found.text(order.name).split() if _class(name) != "RegexURLFilter"]:
        draft.leave(order, f"Purlieu takes no plugins, and {', '.join(foreign)} is one")
    elif order.place:
        draft.agree(order, "filter.rules")
    draft.put("filter.apply_to_seeds", found.flag(seeds.name), seeds)
    path = _named(found, folders, source.name)
    if path is None:
        if source.place:
            draft.leave(source, "the file is missing")
        return
    rules: list[str] = []
    slow: list[str] = []
    for line, sign, text in endeca_file.filter_rules(path, found.mistakes):
        rules.append(sign + (text or "."))
        if remedy := mend(text, unsafe=True):
            found.mistakes.append(Mistake(f"line {line}", text[:200], remedy, str(path)))
        elif mend(text):
            slow.append(f"line {line}")
        if _PLACEHOLDER in text:
            draft.warn(f"{path.name}, line {line}: {_PLACEHOLDER} is the template's placeholder; write your domain.")
    if not rules or rules[-1][1:] != ".":
        rules.append("-.")  # UF-3; said in words, so that the file tells it
    place = Source(source.name, path.name, source.place)
    draft.put("filter.rules", rules, place, why="the first rule that matches decides; what none matches is refused")
    if slow:
        told = f"{path.name}, {', '.join(slow)}"
        draft.put("filter.unsafe_patterns", value=True, why=f"needed by {told}")
        draft.warn(
            f"{told}: looks ahead or behind, or refers back, which only the slow engine knows; it refuses a URL for "
            "which it needs more than 10 ms."
        )


def _class(name: str) -> str:
    """Return a Java class's name without its package."""
    return name.rpartition(".")[2]


def _named(found: Found, folders: Folders, name: str) -> Path | None:
    """Return the file that a property names; one that is named by the owner has to be there."""
    bare, source = found.text(name), found.of(name)
    if not bare or Path(bare).name != bare:
        found.mistakes.append(Mistake(name, bare, "write the bare name of a file in the folder", source.place or None))
        return None
    path = folders.find(bare)
    if path is None and source.place == "site.xml":
        found.mistakes.append(Mistake(name, bare, "there is no such file in the folder; put it there", source.place))
    elif path is None:
        found.draft.warn(f"There is no {bare}; nothing was taken from it.")
    return path


def normalise_keys(found: Found, folders: Folders) -> None:
    """Write the normalisers: the basic one, then the rules of the regex one (UF-20 to UF-26)."""
    draft, order = found.draft, found.of("urlnormalizer.order")
    loops, seeds = found.of("urlnormalizer.loop.count"), found.of("urlnormalizer.normalize-seeds")
    names = [_class(name) for name in found.text(order.name).split()]
    fits = names in ([], ["BasicURLNormalizer"], ["BasicURLNormalizer", "RegexURLNormalizer"])
    if not fits:
        draft.leave(order, "Purlieu's order is fixed: the standard's own form first, then the rules")
    elif order.place:
        draft.agree(order, "normalise.rule")
    draft.put("normalise.collapse_slashes", value=True, why="as the basic normaliser does")
    draft.put("normalise.session_ids", value=False, why="only the rules below take anything out")
    draft.put("normalise.apply_to_seeds", found.flag(seeds.name), seeds)
    draft.put("normalise.loops", int(found.number(loops.name, 1, 10)), loops)
    source = found.of("urlnormalizer.regex.file")
    path = _named(found, folders, source.name)
    if path is None:
        if source.place:
            draft.leave(source, "the file is missing")
        return
    rules: list[_Rule] = []
    for line, text, substitution in endeca_file.normalise_rules(path, found.mistakes):
        if text == SLASHES and substitution == "/":
            draft.warn(f"{path.name}, line {line}: collapse_slashes stands for this rule, and leaves the query alone.")
        else:
            rules.append(_Rule(text, substitution, line))
    for key, value, remedy in mistakes(_Rules(tuple(rules))):
        line = rules[int(_NUMBER.findall(key)[0]) - 1].line
        found.mistakes.append(Mistake(f"line {line}", value[:200], remedy, str(path)))
    draft.agree(Source(source.name, path.name, source.place), "normalise.rule")
    for rule in rules:
        why = f"{path.name}, line {rule.line}"
        draft.add("normalise.rule", [("pattern", rule.pattern), ("replace", rule.replace)], why=why)
