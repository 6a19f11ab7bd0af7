"""Logins by form of an Endeca Web Crawler configuration (EN-6, ``http.auth.form.credentials.file``)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from purlieu import settings
from purlieu.adopt import Adopted, endeca
from purlieu.errors import SettingsError

CLASS = "com.endeca.itl.web.auth.form.BasicFormAuthenticator"


def authenticator(
    *, kind: str = CLASS, fields: tuple[tuple[str, str], ...] = (("u", "ann"), ("p", "s3cr3t")), **said: str
) -> str:
    """Return one authenticator of the file."""
    plain = {"siteUrlPattern": "http://a.example/.*", "loginUrl": "http://a.example/login", "method": "POST"} | said
    body = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in plain.items())
    pairs = "".join(f"<parameter><name>{name}</name><value>{text}</value></parameter>" for name, text in fields)
    return (
        f"<authenticator><className>{kind}</className><configuration>{body}"
        f"<parameters>{pairs}</parameters></configuration></authenticator>"
    )


def adopted(folder: Path, *authenticators: str, site: str = "") -> Adopted:
    """Return what is adopted of a configuration with these logins."""
    (folder / "site.xml").write_text(f"<configuration>{site}</configuration>")
    body = "".join(authenticators)
    (folder / "form-credentials.xml").write_text(
        f"<credentials><formCredentials>{body}</formCredentials></credentials>"
    )
    return endeca.read(folder)


def test_a_login_by_form_is_carried_over(tmp_path: Path) -> None:
    """Each authenticator becomes an origin with its login page and fields, and the owner hears where the passwords are."""
    other = authenticator(loginUrl="https://b.example/in?x=1", actionUrl="https://b.example/go")
    found = adopted(tmp_path, authenticator(), other)
    first, second = tomllib.loads(found.toml)["origin"]
    assert first == {
        "origin": "http://a.example",
        "login_page": "http://a.example/login",
        "login_fields": {"u": "ann", "p": "s3cr3t"},
    }
    assert (second["origin"], second["login_page"]) == ("https://b.example", "https://b.example/in?x=1")
    assert any("passwords stand in the settings" in one for one in found.warnings)
    assert any("the login is for all of http://a.example" in one for one in found.warnings)
    assert settings.read(found.toml).origins[0].login_fields == (("u", "ann"), ("p", "s3cr3t"))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (authenticator(kind="com.example.Own"), "a program of its own"),
        (authenticator(method="GET"), "sent by GET"),
        (authenticator(actionUrl="http://c.example/go"), "login page's origin alone"),
        (authenticator(loginUrl="login.html"), "no URL of a login page"),
        (authenticator(fields=()), "no parameters"),
        ("<authenticator/>", "no <configuration>"),
    ],
    ids=["class", "get", "elsewhere", "relative", "empty", "bare"],
)
def test_what_cannot_be_carried_over_is_told(made: str, words: str, tmp_path: Path) -> None:
    """What decides otherwise here is left out, with why and without its passwords."""
    found = adopted(tmp_path, made)
    assert "origin" not in tomllib.loads(found.toml)
    assert any(words in why for _, _, why in found.not_carried), found.not_carried
    assert "s3cr3t" not in repr(found.not_carried)


def test_an_origin_has_one_login(tmp_path: Path) -> None:
    """A second login for an origin, by a form or not, is left out: an origin given twice could not be read."""
    basic = "<property><name>http.auth.basic</name><value>u~~~p~~~a.example~~~80~~~ANY_REALM</value></property>"
    for found in (adopted(tmp_path, authenticator(), authenticator()), adopted(tmp_path, authenticator(), site=basic)):
        assert any("there is a login for http://a.example already" in why for _, _, why in found.not_carried)
        assert len(settings.read(found.toml).origins) == 1


def test_a_broken_file_is_a_mistake(tmp_path: Path) -> None:
    """A file of logins that is no XML is told with its line, as every file of the configuration."""
    (tmp_path / "site.xml").write_text("<configuration/>")
    (tmp_path / "form-credentials.xml").write_text("<credentials>")
    with pytest.raises(SettingsError, match=r"form-credentials\.xml"):
        endeca.read(tmp_path)
