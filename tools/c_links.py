"""Links from the names of C in docstrings to their pages of the site."""

from __future__ import annotations

from typing import Any

from docutils import nodes

from cudnn_ctypes import raw
from cudnn_ctypes.raw import enums, types

__all__ = ["link_c_names"]


def link_c_names(app: Any, env: Any, node: Any, content: Any) -> nodes.reference | None:
    """A link for a name that Sphinx does not know, if it is one of C; else None."""
    name = node["reftarget"].removeprefix("cudnn_ctypes.").removeprefix("raw.")
    if name in raw.FUNCTIONS:
        page = f"reference/c/{name}"
    elif name in enums.__all__ or name in types.__all__:
        item = getattr(enums, name, None)
        enum = type(item).__name__ if isinstance(item, int) else name  # of an enumerator
        page = f"reference/types#{nodes.make_id(enum)}"
    else:
        return None
    page, _, anchor = page.partition("#")
    target = app.builder.get_relative_uri(node["refdoc"], page)
    return nodes.reference(
        "", "", content, internal=True, refuri=f"{target}#{anchor}" if anchor else target
    )
