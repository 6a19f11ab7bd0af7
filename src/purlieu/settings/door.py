"""Keys of what lets a crawl into one origin: headers, logins, a certificate, cookies, a login by form.

As ``key.py``, of which this is a part. Knows which keys go together and what they are called in the ledger. Knows
nothing of how anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from purlieu import late
from purlieu.sentence import Sentence
from purlieu.settings.fact import Key, key
from purlieu.value import dataclass

AUTHS: Final = ("basic", "digest", "bearer", "ntlm", "negotiate")
SECRET_KEYS: Final = ("password", "token", "certificate_password")
"""Keys that hold a secret."""
SECRET_TABLES: Final = ("headers", "login_fields")
"""Keys that hold a table whose values may be secrets."""
FILES: Final = ("cookies_file", "certificate", "certificate_key")
"""Keys that hold the path of a file with secrets in it."""
SECRET_NAME: Final = late.pattern(r"auth|cookie|token|secret|session|key|pass|credential", re.IGNORECASE)
"""Names of headers and fields that let somebody in."""


@dataclass(frozen=True, slots=True)
class OriginSettings:
    """Headers and credentials, sent to this origin only and never anywhere else."""

    origin: str = key("", Key("Scheme, host and port, such as `https://example.com`.", form="origin", needed=True))
    headers: tuple[tuple[str, str], ...] = key(
        (), Key('Headers to send, as a table: `{ X-Name = "value" }`. A value may be `env:NAME`.', form="headers")
    )
    user: str = key("", Key("The user name to log in with.", form="line", unset="no login"))
    password: str = key(
        "",
        Key("The password. `env:NAME` takes it from the environment variable NAME when the crawl starts.", form="line"),
    )
    auth: str = key("basic", Key("How to log in.", choices=AUTHS))
    token: str = key("", Key("The token of `bearer`, as `env:NAME`.", form="line", unset="no token"))
    certificate: str = key(
        "",
        Key(
            "A PEM file with the client's certificate, for a server that asks for one.",
            form="line",
            unset="no certificate",
        ),
    )
    certificate_key: str = key(
        "", Key("A PEM file with the certificate's key.", form="line", unset="in the certificate's file")
    )
    certificate_password: str = key(
        "", Key("The password of that key, as `env:NAME`.", form="line", unset="no password")
    )
    cookies_file: str = key(
        "",
        Key(
            "A file of cookies in Netscape's format, as browsers' extensions and curl write it. Each is sent to its "
            "own domain and path, and only if they are this origin's.",
            form="line",
            unset="no cookies but those that the server sets",
        ),
    )
    login_page: str = key(
        "",
        Key(
            "The URL of a page of this origin with a form to log in by. It is asked for before the first page, and "
            "again when the login has expired.",
            form="url",
            unset="no login by form",
        ),
    )
    login_form: str = key(
        "", Key("The form's id or name.", form="line", unset="the form that has all the fields of `login_fields`")
    )
    login_fields: tuple[tuple[str, str], ...] = key(
        (),
        Key(
            'What to fill in: a table of fields, such as `user = "ann"` and `password = "env:NAME"`. The form\'s other '
            "fields are sent as they stand in the page, hidden ones too.",
            form="headers",
        ),
    )
    login_success: str = key(
        "",
        Key(
            "A text that stands in the page, or in the address, that a login leads to.",
            form="line",
            unset="the page has no such form any more",
        ),
    )
    logged_out: str = key(
        "",
        Key(
            "A text that stands in each page, or in the address of its redirect, once nobody is logged in.",
            form="line",
            unset="status 401, or a redirect to `login_page`",
        ),
    )
    tries: int = key(
        3,
        Key(
            "After so many answers in a run that refuse the credentials (401), nothing more of this origin is asked "
            "for, so that no account is locked. A form that refuses them is not sent again.",
            least=1,
            most=100,
        ),
    )


def door_of(table: Mapping[str, Any]) -> str:
    """Return what lets into an origin by its keys, such as ``basic`` or ``certificate,login``; "" for nothing secret.

    ``table`` may come from stored settings, whose secrets are masked.
    """
    named = {
        str(table.get("auth") or "basic"): table.get("user") or table.get("token") or table.get("auth") == "negotiate",
        "certificate": table.get("certificate"),
        "cookies": table.get("cookies_file"),
        "headers": any(map(SECRET_NAME.search, table.get("headers") or {})),
        "login": table.get("login_page"),
    }
    return ",".join(name for name, given in named.items() if given)


def door(origin: OriginSettings) -> str:
    """Return ``door_of`` of an origin."""
    names = ("auth", "user", "token", "certificate", "cookies_file", "login_page")
    return door_of({name: getattr(origin, name) for name in names} | {"headers": dict(origin.headers)})


_BOTH: Final = Sentence("a login needs both user and password; write it too")
_TOKEN: Final = Sentence('write the token for auth = "bearer"')
_NOT_BEARER: Final = Sentence('a token goes with auth = "bearer"; write that, or take the token out')
_KEY: Final = Sentence("a key goes with a certificate; write it too")
_FIELDS: Final = Sentence("write the form's fields and what to fill in")
_PAGE: Final = Sentence("write the URL of the page with the form")


def lacking(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, remedy) for what an ``[[origin]]`` as it was written lacks to be whole."""
    auth = table.get("auth", "basic")
    if auth != "negotiate" and bool(table.get("user")) != bool(table.get("password")):
        yield ("password" if table.get("user") else "user"), _BOTH
    if auth == "bearer" and not table.get("token"):
        yield "token", _TOKEN
    if auth != "bearer" and table.get("token"):
        yield "auth", _NOT_BEARER
    if (table.get("certificate_key") or table.get("certificate_password")) and not table.get("certificate"):
        yield "certificate", _KEY
    if table.get("login_page") and not table.get("login_fields"):
        yield "login_fields", _FIELDS
    if not table.get("login_page") and any(table.get(f"login_{name}") for name in ("form", "fields", "success")):
        yield "login_page", _PAGE
