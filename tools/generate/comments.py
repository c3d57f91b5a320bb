"""The facts that the headers keep in comments: since-versions, deprecation, directions.

libclang attaches at most one comment to a declaration, and loses it when an ordinary comment
stands in between, as it often does here. So the text between two declarations is read instead, by
`cudnn_ctypes.raw.headers`.
"""

from __future__ import annotations

import re

from .model import Direction

_SINCE = re.compile(r"@since\s+cuDNN\s+(\d+\.\d+\.\d+)")
_DEPRECATED = re.compile(r"@deprecated\b")
_REPLACED_BY = re.compile(r"@deprecated\b[^@]*?\bUse\s+(cudnn\w+|CUDNN_\w+)")
_PARAM = re.compile(r"@param\s*\[\s*(in|out|in\s*,\s*out|inout)\s*\]\s+(\w+)")


def since(comments: str) -> str | None:
    """The version of the last `@since` tag: the one nearest to the declaration that follows."""
    found = _SINCE.findall(comments)
    return found[-1] if found else None


def is_deprecated(comments: str) -> bool:
    return _DEPRECATED.search(comments) is not None


def replacement(comments: str) -> str | None:
    """The C name that an `@deprecated` tag advises; None if it has none."""
    found = _REPLACED_BY.search(comments)
    return found[1] if found else None


def directions(comments: str) -> dict[str, Direction]:
    """Parameter name to the direction of its `@param[...]` tag."""
    return {name: Direction(re.sub(r"[\s,]", "", tag)) for tag, name in _PARAM.findall(comments)}
