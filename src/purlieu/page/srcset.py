"""The URLs of a srcset attribute (HTML, 4.8.4.4.1, parsing a srcset attribute). Pure text, linear, never raises."""

from __future__ import annotations

from purlieu import late

_W = r"\t\n\f\r "
_URL = late.pattern(rf"[{_W},]*([^{_W}]+)")
_DESCRIPTORS = late.pattern(r"(?:[^,(]++|\([^)]*+\)?)*+,?")
_DESCRIPTOR = late.pattern(rf"(?:[^{_W}(]++|\([^)]*+\)?)++")
_WIDTH = late.pattern(r"0*[1-9][0-9]*w")
_HEIGHT = late.pattern(r"0*[1-9][0-9]*h")
_DENSITY = late.pattern(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x")


def candidates(srcset: str) -> list[str]:
    """Return the URL of each valid image candidate, in order."""
    found: list[str] = []
    at = 0
    while match := _URL.match(srcset, at):
        url, at = match[1], match.end()
        descriptors = ""
        if url.endswith(","):
            url = url.rstrip(",")
        elif rest := _DESCRIPTORS.match(srcset, at):
            descriptors, at = rest[0].removesuffix(","), rest.end()
        if url and _are_valid(_DESCRIPTOR.findall(descriptors)):
            found.append(url)
    return found


def _are_valid(descriptors: list[str]) -> bool:
    """Say whether the descriptors fit together: one density, or one width with at most one height."""
    widths = sum(1 for text in descriptors if _WIDTH.fullmatch(text))
    heights = sum(1 for text in descriptors if _HEIGHT.fullmatch(text))
    densities = sum(1 for text in descriptors if _DENSITY.fullmatch(text) and float(text[:-1]) >= 0)
    if widths + heights + densities != len(descriptors):
        return False
    return densities <= 1 >= heights and widths <= 1 and not (densities and (widths or heights)) and heights <= widths
