"""Logins by form of an Endeca configuration: ``form-credentials.xml`` as ``[[origin]]`` with a login page.

Knows the file's elements and which of them decide alike. Reads through ``endeca_file.py``, sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from purlieu import url
from purlieu.adopt import endeca_file, plain_xml
from purlieu.adopt.adopted import Source
from purlieu.adopt.endeca_file import Folders
from purlieu.adopt.endeca_property import Found
from purlieu.errors import SettingsError, UrlError

PROPERTY: Final = "http.auth.form.credentials.file"
_PLAIN: Final = "BasicFormAuthenticator"


def forms_keys(found: Found, folders: Folders) -> None:
    """Write ``[[origin]]`` for each ``<authenticator>`` that posts a form of the page it names."""
    name = found.text(PROPERTY)
    path = folders.find(name) if name else None
    if path is None:
        if found.of(PROPERTY).place:
            found.draft.leave(found.of(PROPERTY), "there is no such file, so nobody is logged in by form")
        return
    try:
        root = plain_xml.read(endeca_file.content(path), path.name)
    except SettingsError as error:
        found.mistakes += error.mistakes
        return
    taken: set[str] = set()
    for number, configuration in enumerate(_configurations(root), 1):
        source = Source(f"{PROPERTY}, authenticator {number}", "", path.name)
        why = _put(found, configuration, source, taken)
        if why:
            found.draft.leave(source, why)
    if found.of(PROPERTY).place:
        found.draft.agree(found.of(PROPERTY), "origin.login_page")


def _configurations(root: plain_xml.Element) -> Iterator[plain_xml.Element]:
    """Yield each authenticator."""
    for credentials in root.children:
        if root.name == "credentials" and credentials.name == "formCredentials":
            yield from (one for one in credentials.children if one.name == "authenticator")


def _put(found: Found, authenticator: plain_xml.Element, source: Source, taken: set[str]) -> str:
    """Write one login; return why it cannot be, "" where it was."""
    configuration = authenticator.child("configuration")
    if configuration is None:
        return "it has no <configuration>"
    said = {one.name: one.text.strip() for one in configuration.children}
    kind = authenticator.child("className")
    if kind is not None and not kind.text.strip().endswith(_PLAIN):
        return f'"{kind.text.strip()[:200]}" is a program of its own; Purlieu fills in the form of a page'
    try:
        page = url.parse(said.get("loginUrl", ""))
        action = url.parse(said.get("actionUrl", "") or page.href, page.href)
    except UrlError:
        return f'"{said.get("loginUrl", "")[:200]}" is no URL of a login page'
    if page.scheme not in {"http", "https"} or action.origin != page.origin:
        return f"the form is sent to {action.href[:200]}; Purlieu sends credentials to the login page's origin alone"
    if said.get("method", "POST").upper() == "GET":
        return "it is sent by GET, which would write the password into an address"
    if page.origin in taken or page.origin in found.origins:
        return f"there is a login for {page.origin} already, and one is all it has"
    fields = _fields(configuration)
    if not fields:
        return "it has no parameters to fill in"
    taken.add(page.origin)
    login = [("origin", page.origin), ("login_page", page.href), ("login_fields", fields)]
    found.draft.add("origin", login, source, why="its hidden fields come from the page; passwords may be env:NAME")
    found.draft.warn(f"{source.name}: passwords stand in the settings as they are; env:NAME keeps them out.")
    if pattern := said.get("siteUrlPattern"):
        found.draft.warn(f"{source.name}: the login is for all of {page.origin}, not only for {pattern[:200]}.")
    properties = configuration.child("properties")
    if properties is not None and properties.children:
        found.draft.warn(f"{source.name}: its properties were left out; see login_success and logged_out.")
    return ""


def _fields(configuration: plain_xml.Element) -> dict[str, str]:
    """Return what is filled in, by name."""
    parameters = configuration.child("parameters")
    found = {}
    for one in parameters.children if parameters is not None else ():
        name, value = one.child("name"), one.child("value")
        if one.name == "parameter" and name is not None and name.text.strip():
            found[name.text.strip()] = value.text.strip() if value is not None else ""
    return found
