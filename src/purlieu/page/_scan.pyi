from collections.abc import Callable

from purlieu.page.markup import Heard, Place, Take

SOURCE: str
INTERFACE: int

class Plain: ...

def resolve(
    base: str,
    links: dict[str | int | tuple[str, str], bool],
    joiner: Callable[[str], str | None],
    kept: int,
    most: int,
    plain: Plain | None = None,
    /,
) -> tuple[tuple[str, str, bool, bool], ...]: ...
def join(base: str, reference: str, /) -> str | None: ...
def is_silent(body: bytes, /) -> bool: ...
def is_plain(source: bytes, /) -> bool: ...
def read(
    source: bytes,
    errors: str,
    wanted: frozenset[str],
    take: Take,
    unescaped: Callable[[str], str],
    places: tuple[Place, ...],
    heard: Heard,
    most_short: int,
    /,
) -> tuple[str | None, bytes, bytes | None, bytes | None, Plain | None]: ...
