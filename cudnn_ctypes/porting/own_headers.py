"""The headers of the program itself, as far as their files are found beside it."""

from __future__ import annotations

from ..evidence.files import CommandError
from .source import Source, parse

__all__ = ["own_headers"]


def own_headers(source: Source) -> list[Source]:
    """The files that a program includes in quotes, and those that they include, each once.

    None for a text that is no file.
    """
    if not source.path.exists():
        return []
    seen, found, waiting = {source.path.resolve()}, [], [source]
    while waiting:
        above = waiting.pop()
        for include in above.includes:
            path = (above.path.parent / include.name).resolve()
            if include.system or path in seen:
                continue
            seen.add(path)
            try:
                header = parse(path)
            except CommandError:  # it is not there: nothing is known of it
                continue
            found.append(header)
            waiting.append(header)
    return found
