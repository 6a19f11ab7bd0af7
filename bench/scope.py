"""How long one link takes to be judged, as a ratio to ``urllib.parse.urljoin`` of the same link in the same run.

    python bench/scope.py            a table
    python bench/scope.py --json     one JSON object

Knows scopes of one site and of a thousand. The links are made here: most in scope, some not, few hosts twice.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from time import process_time
from typing import Any, Final
from urllib.parse import urljoin

from purlieu import settings
from purlieu.admission import Admission
from purlieu.candidate import Facts, Purpose
from purlieu.scope import Scope
from purlieu.url import Joiner, host_of

HOSTS: Final = 1000
LINKS: Final = 4000
ROUNDS: Final = 15
BASE: Final = "https://www.site0.example.com/docs/guide/index.html"


def links() -> list[tuple[str, str]]:
    """Return hrefs with their hosts: of pages of all the sites, of other hosts, and of look-alikes."""
    made = []
    for number in range(LINKS):
        host = f"www.site{number % HOSTS}.example.com"
        if number % 5 == 4:
            host = (f"cdn{number % 50}.example.net", f"{host}.evil.example")[number % 2]
        href = f"https://{host}/docs/part{number % 17}/page{number}.html"
        made.append((href, host_of(href)))
    return made


def scope(sites: int, **how: object) -> Scope:
    """Return a scope of so many sites, all landed where they are."""
    seeds = [f"https://www.site{number}.example.com/docs/" for number in range(sites)]
    made = Scope.of(settings.of({"seeds": seeds, "scope": how}))
    return made.all_landed({site: made.seed(site) for site in made.pending})


def microseconds(call: Callable[[str, str], object], asked: list[tuple[str, str]]) -> float:
    """Return the median CPU time of one call, over rounds in which every link is asked once.

    CPU time, since others may have the processor meanwhile.
    """
    times = []
    for _ in range(ROUNDS):
        before = process_time()
        for href, host in asked:
            call(href, host)
        times.append((process_time() - before) / len(asked) * 1e6)
    return statistics.median(times)


def measured() -> dict[str, float]:
    """Return the time of each case by its name, in microseconds."""
    asked = links()
    relative = [(f"../part{number % 17}/page{number}.html", "") for number in range(LINKS)]
    joiner = Joiner(BASE)
    found = {
        "urllib urljoin": microseconds(lambda ref, _: urljoin(BASE, ref), relative),
        "url.Joiner": microseconds(lambda ref, _: joiner(ref), relative),
        "host_of": microseconds(lambda href, _: host_of(href), asked),
    }
    for sites in (1, HOSTS):
        for mode in ("same-host", "same-domain", "same-dir", "same-sld", "any"):
            found[f"accepts, {sites} x {mode}"] = microseconds(scope(sites, mode=mode).accepts, asked)
    one_host = Scope.of(
        settings.of(
            {
                "seeds": ["https://www.site0.example.com/"],
                "site": [
                    {"url": f"https://www.site0.example.com/docs/part{number}/", "mode": "same-dir"}
                    for number in range(HOSTS)
                ],
            }
        )
    )
    own = [link for link in asked if link[1] == "www.site0.example.com"]
    found[f"accepts, {HOSTS} folders of one host"] = microseconds(one_host.accepts, own)
    twenty = {"filter": {"rules": [*(f"-/x{n}/" for n in range(19)), "+."]}}
    for name, tree in (("no filter", {}), ("20 rules", twenty), ("no search for traps", {"traps": {"detect": False}})):
        facts = Facts(1)
        admission = Admission.of(settings.of({"seeds": [BASE], "scope": {"mode": "any"}, **tree}))
        found[f"admission, {name}"] = microseconds(
            lambda href, host, one=admission, facts=facts: one.judge(href, host, facts, Purpose.PAGE), asked
        )
    return found


def main() -> None:
    """Print the times and their ratios to ``urljoin``."""
    found = measured()
    join = found["urllib urljoin"]
    if "--json" in sys.argv[1:]:
        rows: dict[str, Any] = {name: {"us": round(us, 3), "ratio": round(us / join, 3)} for name, us in found.items()}
        print(json.dumps(rows))
        return
    for name, us in found.items():
        print(f"{name:38} {us:7.2f} us   {us / join:6.3f} x urljoin")


if __name__ == "__main__":
    main()
