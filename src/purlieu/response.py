"""What came back from one hop, or why nothing did. Both are values.

Keeps what archives and replays need: status line, header pairs as received,
body, timings and the address spoken to. Follows nothing, decides nothing.
"""

from __future__ import annotations

from enum import StrEnum

from purlieu.value import dataclass


class Fault(StrEnum):
    """Why a hop gave no whole response; each is the reason code of an outcome (R-6.1)."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    PROXY = "proxy"
    ADDRESS_REFUSED = "address_refused"
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    DECODING = "decoding"
    PROTOCOL = "protocol"
    LOGIN_FAILED = "login_failed"


@dataclass(frozen=True, slots=True)
class Request:
    """One hop to ask for.

    ``body_bytes`` limits the decoded body; a body whose class (``response.content_class``)
    is not in ``classes`` is not downloaded (None: every class is). ``opens`` marks an entry
    point, which may open the address class it resolves to (R-5.1). ``headers`` are added as given.
    ``body`` goes with POST alone, which no crawl uses (SM-74): only what the owner submits does.
    ``via`` is where the address was found; it is not sent. ``plain``: nothing of the owner's goes with it, neither
    headers nor credentials nor cookies, and cookies that come are dropped.
    """

    url: str
    body_bytes: int = 10 * 1024 * 1024
    classes: frozenset[str] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    opens: bool = False
    in_scope: bool = True
    body: bytes = b""
    via: str = ""
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to one hop, headers in order as received, body decoded from its content codings.

    ``cut`` says that the body was left out because its content class is unwanted;
    ``fault`` that it is incomplete and why (too_large, truncated, decoding, timeout, reset).
    ``seconds`` from request start to last byte, ``started_at`` in seconds since the epoch. ``certificate_ends_at`` is
    until when the server's certificate holds, told once for an origin and None else.
    """

    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    http_version: str
    address: str
    started_at: float
    seconds: float
    first_byte_seconds: float
    wire_bytes: int
    cut: bool = False
    fault: Fault | None = None
    certificate_ends_at: float | None = None

    def header(self, name: str) -> str | None:
        """Return the first value of a header (name in any case), or None."""
        size, wanted = len(name), name.lower()
        for key, value in self.headers:  # the length first spares lowering every name
            if len(key) == size and key.lower() == wanted:
                return value
        return None

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a header in the order received."""
        size, wanted = len(name), name.lower()
        return tuple([value for key, value in self.headers if len(key) == size and key.lower() == wanted])


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no response at all: nothing of a header had arrived (R-6.1), or it was no HTTP."""

    url: str
    fault: Fault
    detail: str
    started_at: float
    seconds: float
    address: str = ""
    certificate_ends_at: float | None = None


HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
PDF_TYPES = frozenset({"application/pdf", "application/x-pdf"})
OFFICE_PREFIXES = (
    "application/msword",
    "application/vnd.ms-",
    "application/vnd.openxmlformats-officedocument",
    "application/vnd.oasis.opendocument",
    "application/rtf",
)


def media_type(content_type: str | None) -> str:
    """Return the essence of a Content-Type, lower case, parameters dropped; "" when there is none."""
    return (content_type or "").partition(";")[0].strip().lower()


def content_class(content_type: str | None) -> str:
    """Return HTML, PDF, OFFICE, TEXT, IMAGE or OTHER for a Content-Type (AMB-MF-6, AMB-MF-13).

    No type at all counts as HTML, since browsers sniff it and most such pages are.
    """
    kind = media_type(content_type)
    if not kind or kind in HTML_TYPES:
        return "HTML"
    if kind in PDF_TYPES:
        return "PDF"
    if kind.startswith(OFFICE_PREFIXES):
        return "OFFICE"
    if kind.startswith("text/") or kind in {"application/xml", "application/json"} or kind.endswith(("+xml", "+json")):
        return "IMAGE" if kind.startswith("image/") else "TEXT"
    return "IMAGE" if kind.startswith("image/") else "OTHER"
