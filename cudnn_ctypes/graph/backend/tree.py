"""Backend descriptors as text, and as a tree for rich."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...arguments import shown

if TYPE_CHECKING:
    from rich.tree import Tree

    from .descriptor import BackendDescriptor

__all__ = ["line", "rich_tree", "text"]

_LONGEST = 60  # characters of a value that are shown


def line(descriptor: BackendDescriptor) -> str:
    """Its type and the values that it holds, on one line; descriptors by their type."""
    parts = [f"{name}={_shown(value)}" for name, value in descriptor.held().items()]
    state = [] if descriptor.finalized else ["not finalized"]
    return ", ".join([repr(descriptor.name), *parts, *state])


def text(descriptor: BackendDescriptor) -> str:
    """A descriptor and all that it refers to, two spaces deeper each; each in full once."""
    return "\n".join("  " * depth + entry for depth, entry in _entries(descriptor, "", 0, []))


def rich_tree(descriptor: BackendDescriptor) -> Tree:
    """The same for ``rich.print``."""
    from rich.text import Text
    from rich.tree import Tree

    root: Tree | None = None
    path: list[Tree] = []
    for depth, entry in _entries(descriptor, "", 0, []):
        label = Text(entry)
        del path[depth:]
        node = path[-1].add(label) if path else Tree(label)
        root = root or node
        path.append(node)
    assert root is not None
    return root


def _entries(
    descriptor: BackendDescriptor, label: str, depth: int, seen: list[BackendDescriptor]
) -> Iterator[tuple[int, str]]:
    title = f"{label}: {descriptor.name}" if label else descriptor.name
    if descriptor.closed:
        yield depth, f"{title} (closed)"
        return
    if any(each is descriptor for each in seen):
        yield depth, f"{title} ({_identity(descriptor)}as above)"
        return
    seen.append(descriptor)
    yield depth, title if descriptor.finalized else f"{title} (not finalized)"
    values = descriptor.held()  # before the children: it reads those of an engine config
    children = list(descriptor.children())
    with_children = {name for name, _ in children}
    for name, value in values.items():
        if name not in with_children:
            yield depth + 1, f"{name} = {_shown(value)}"
    for name, child in children:
        yield from _entries(child, name, depth + 1, seen)


def _identity(descriptor: BackendDescriptor) -> str:
    uid = descriptor.held().get("unique_id")
    return "" if uid is None else f"unique_id {uid}, "


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        whole = "[" + ", ".join(_shown(each) for each in value) + "]"
    else:
        name = getattr(getattr(value, "descriptor", value), "name", None)
        known = hasattr(getattr(value, "descriptor", value), "kind")
        whole = f"<{name}>" if known else shown(value)
    return whole if len(whole) <= _LONGEST else whole[: _LONGEST - 1] + "…"
