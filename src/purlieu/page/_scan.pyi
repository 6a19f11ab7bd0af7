from collections.abc import Callable

from purlieu.page.markup import Heard, Place, Take

SOURCE: str
INTERFACE: int

def resolve(
    base: str, links: dict[str | tuple[str, str], bool], joiner: Callable[[str], str | None], kept: int, most: int, /
) -> tuple[tuple[str, str, bool, bool], ...]: ...
def masked(text: bytes, /) -> bytes: ...
def is_plain(source: bytes, /) -> bool: ...
def read(
    source: bytes,
    errors: str,
    wanted: frozenset[str],
    take: Take,
    unescaped: Callable[[str], str],
    places: tuple[Place, ...],
    heard: Heard,
    /,
) -> tuple[str | None, bytes, bytes]: ...
