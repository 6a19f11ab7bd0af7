from collections.abc import Callable

from purlieu.page.markup import Place, Take

SOURCE: str

def is_plain(source: bytes, /) -> bool: ...
def read(
    source: bytes,
    errors: str,
    wanted: frozenset[str],
    take: Take,
    unescaped: Callable[[str], str],
    places: tuple[Place, ...],
    /,
) -> tuple[str | None, bytes, bytes]: ...
