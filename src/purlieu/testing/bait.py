"""The bait of the leak kit: every way we know to spell an address that a crawler may take for another.

Knows spellings and the markup that carries them, as text. Serves nothing, and does not know which of them a crawl may
take: that is for the scope to say.
"""

from __future__ import annotations

from html import escape
from typing import Final

from purlieu.url import parse

SPELLINGS: Final = (
    # Elsewhere, plainly. {e} is a foreign host, {n} names the bait.
    "http://{e}{n}", "//{e}{n}", "HTTP://{E}{n}", "https://{e}{n}", "http://{e}:81{n}", "http://{e}.{n}",
    # Look-alikes of the own host {h} and of the domain {d} that it is under; {a} is the host with its port.
    "http://not{a}{n}", "http://evil-{a}{n}", "http://{a}.{e}{n}", "http://{h}.{e}{n}", "http://{h}evil.test{n}",
    "http://{h}-evil.test{n}", "http://evil.{a}{n}", "http://{d}{n}", "http://not{d}{n}", "http://evil.{d}{n}",
    "http://{d}.evil.test{n}", "http://www.{a}{n}", "http://{h}.co.uk{n}", "http://{h}m{n}", "http://{t}{n}",
    "http://evil.{t}{n}", "http://{s}.test{n}", "http://{s}.co.uk{n}", "http://{s}{n}", "http://{s}.github.io{n}",
    # Logins.
    "http://{a}@{e}{n}", "http://{h}:80@{e}{n}", "http://{h}%40{e}{n}", "http://evil%2Etest@{a}{n}",
    "http://{h}:{h}@{e}{n}", "http://x@{a}@{e}{n}", "http://user:word@{a}{n}", "http://@{e}{n}",
    # Backslashes, too few slashes, too many.
    "http://{e}\\@{a}{n}", "http://{a}\\@{e}{n}", "\\\\{e}{n}", "/\\{e}{n}", "\\/{e}{n}", "http:\\\\{e}{n}",
    "http:{e}{n}", "http:/{e}{n}", "http:///{e}{n}", "///{e}{n}", "////{e}{n}", "https:/{e}{n}", "https:{e}{n}",
    # Where an authority ends.
    "http://{e}#@{a}{n}", "http://{e}?@{a}{n}", "http://{e}/@{a}{n}", "http://{e};{a}{n}", "http://{e},{a}{n}",
    # Control characters and spaces.
    "ht\ttp://{e}{n}", "http://{e_cut}{n}", "\x01http://{e}{n}", " \n//{e}{n} ", "http://{h} .{e}{n}",
    "/\t/{e}{n}", "http://{h}\x00.{e}{n}", "http://{h}%00.{e}{n}", "http://{h}%0d%0a.{e}{n}", "http://{h}%09.{e}{n}",
    # Dots and percent signs.
    "http://{h}.{n}", "http://{h}..{n}", "http://.{a}{n}", "http://{h}%2e{e}{n}", "http://{h}%2F.{e}{n}",
    "http://{h}%23.{e}{n}", "http://{h}%3F.{e}{n}", "http://{h}%5C.{e}{n}", "http://%65vil.test{n}",
    # Names in other scripts: wide letters and dots, letters that look alike or vanish, punycode.
    "http://ｅｖｉｌ．ｔｅｓｔ{n}", "http://{h}。evil.test{n}", "http://{h}．evil.test{n}", "http://{lookalike}{n}",
    "http://e\u00advil.test{n}", "http://\u200b{h}{n}", "http://{h}℀evil.test{n}", "http://xn--{h}{n}",
    "http://{h}／.evil.test{n}", "http://ⓔⓥⓘⓛ.test{n}", "http://straße.{d}{n}",
    # Ports and schemes.
    "http://{h}:81{n}", "http://{h}:8080{n}", "http://{h}:0{n}", "http://{h}:65536{n}", "http://{h}:{n}",
    "http://{h}:443{n}", "https://{h}{n}", "https://{h}:80{n}", "http://{h}:080{n}", "http://{h}:8o{n}",
    "ftp://{a}{n}", "ws://{a}{n}", "gopher://{e}{n}", "file://{e}{n}", "view-source:http://{e}{n}",
    "blob:http://{e}{n}", "feed:http://{e}{n}", "javascript:location='http://{e}{n}'", "data:text/html,<a href=/>",
    # Addresses in every spelling.
    "http://2130706434{p}{n}", "http://0x7f000002{p}{n}", "http://0177.0.0.2{p}{n}", "http://127.2{p}{n}",
    "http://0x7f.1{p}{n}", "http://127.0.0.2.{p}{n}", "http://①②⑦.⓪.⓪.②{p}{n}", "http://[::ffff:127.0.0.2]{p}{n}",
    "http://[::1]{p}{n}", "http://[::]{p}{n}", "http://0{p}{n}", "http://localhost{p}{n}", "http://127.0.0.2{p}{n}",
    "http://127.0.0.2.evil.test{n}", "http://127.0.0.1%00.evil.test{n}", "http://169.254.169.254{n}",
    "http://[::ffff:7f00:2%25lo]{p}{n}", "http://4294967298{p}{n}",
    # Out of the folder {f}, and back into it.
    "/outside{n}", "..{n}", "../../..{n}", "{f}..{n}", "{f}%2e%2e{n}", "{f}%2E%2e/%2e.{n}", "{f}..%2f{n}",
    "{f}..\\{n}", "{f}.%09.{n}", "{f_bare}side{n}", "{f_upper}{n}", "{f}..;{n}", "//{a}/outside{n}",
)  # fmt: skip
"""Addresses as they stand in a page. Several are no addresses at all, and some lie within most scopes."""

LISTS: Final = {
    "a": '<a href="{}">x</a>',
    "area": '<map name="m"><area href="{}"></map>',
    "frame": '<frame src="{}">',
    "iframe": '<iframe src="{}"></iframe>',
    "next": '<link rel="next" href="{}">',
    "prev": '<link rel="prev" href="{}">',
    "alternate": '<link rel="alternate" hreflang="ja" href="{}">',
    "sitemap-link": '<link rel="sitemap" href="{}">',
    "script": '<script src="{}"></script>',
    "image": '<img src="{}" srcset="{} 2x">',
    "style": '<link rel="stylesheet" href="{}">',
    "form": '<form action="{}"></form>',
    "entry": "<url><loc>{}</loc></url>",
    "translation": '<url><loc>{home}</loc><xhtml:link rel="alternate" hreflang="ja" href="{}"/></url>',
    "child": "<sitemap><loc>{}</loc></sitemap>",
}
"""What carries many addresses in one file. The last three are of sitemaps, the others of pages."""
OF_SITEMAPS: Final = ("entry", "translation", "child")
ONE_BY_ONE: Final = ("refresh", "refresh-header", "canonical", "canonical-header", "base", "redirect", "redirect-twice")
"""What carries one address."""
CODES: Final = (301, 302, 303, 307, 308)


def spelt(home: str, foreign: str, carrier: str, number: int) -> str:
    """Return one spelling, for the page ``home`` (an absolute URL), with a path that names carrier and number."""
    page = parse(home)
    host = page.host or ""
    port = f":{page.port}" if page.port else ""
    labels = host.split(".")
    folder = page.path[: page.path.rfind("/") + 1]
    evil = foreign.partition("://")[2]
    return SPELLINGS[number].format(
        n=f"/leak/{carrier}-{number}",
        e=evil,
        E=evil.upper(),
        e_cut=f"{evil[:2]}\n{evil[2:]}",
        h=host,
        p=port,
        a=host + port,
        d=".".join(labels[1:]) or host,
        t=labels[-1],
        s=labels[-2] if len(labels) > 1 else host,
        lookalike=host.replace("e", "\u0435").replace("o", "\u043e").replace("a", "\u0430"),
        f=folder,
        f_bare=folder.rstrip("/"),
        f_upper=folder.upper(),
    )


def listing(carrier: str, home: str, foreign: str) -> str:
    """Return a page or sitemap that carries every spelling."""
    wrap = LISTS[carrier].replace("{home}", escape(home))
    texts = (escape(spelt(home, foreign, carrier, number)) for number in range(len(SPELLINGS)))
    if carrier not in OF_SITEMAPS:
        items = "\n".join(wrap.replace("{}", text) for text in texts)
        return f"<!doctype html><title>{carrier}</title><p>Bait.</p>\n{items}"
    # XML holds no control characters; what is left of the address is bait still.
    items = "\n".join(wrap.replace("{}", "".join(sign for sign in text if sign >= " ")) for text in texts)
    root = "sitemapindex" if carrier == "child" else "urlset"
    return (
        f'<?xml version="1.0"?>\n<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        f'xmlns:xhtml="http://www.w3.org/1999/xhtml">\n{items}\n</{root}>'
    )
