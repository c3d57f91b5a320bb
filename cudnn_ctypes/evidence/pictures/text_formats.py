"""A diagram as text for other programs: Mermaid (GitHub, notebooks, wikis) and DOT (Graphviz)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .diagram import Box, Diagram

__all__ = ["dot", "mermaid"]

_MERMAID_SHAPES = {
    "operation": ("[", "]"),
    "input": ("([", "])"),
    "output": ("([", "])"),
    "number": ("([", "])"),
}
_DOT_STYLES = {
    "operation": 'shape=box, style="rounded,filled", fillcolor="#dbe9f7"',
    "input": 'shape=ellipse, style=filled, fillcolor="#e6e7e9"',
    "output": 'shape=ellipse, style=filled, fillcolor="#d5ebde"',
    "number": 'shape=ellipse, style=filled, fillcolor="#f5edd0"',
}
_STROKES = {
    "operation": "#4a90d9",
    "input": "#8a8f98",
    "output": "#3fa66a",
    "number": "#c9a227",
}
# Characters that are literal in a quoted label of Mermaid, besides letters and digits; other
# characters are written as numbers.
_PLAIN = frozenset(" _.,:=+/()-…")


def mermaid(diagram: Diagram) -> str:
    """The diagram as a flowchart in Mermaid's language.

    The operations of one user call form a subgraph, and so do all operations of an engine.
    """
    lines = ["flowchart TD"]
    lines += _mermaid_groups(diagram)
    for i, box in enumerate(diagram.boxes):
        if box.role != "operation":
            lines.append(f"    {_mermaid_node(i, box)}")
    lines += [f"    n{arrow.tail} --> n{arrow.head}" for arrow in diagram.arrows]
    for role, stroke in _STROKES.items():
        members = [f"n{i}" for i, box in enumerate(diagram.boxes) if box.role == role]
        if members:
            lines.append(f"    classDef {role} stroke:{stroke},stroke-width:2px")
            lines.append(f"    class {','.join(members)} {role}")
    return "\n".join(lines) + "\n"


def _mermaid_groups(diagram: Diagram) -> Iterator[str]:
    indent = "    "
    if diagram.region is not None:
        label = _mermaid_text((diagram.region.title, *diagram.region.facts))
        yield f'{indent}subgraph engine["{label}"]'
        indent += "    "
    for origin, members in _groups(diagram):
        if origin is not None:
            yield f'{indent}subgraph call{origin}["{_mermaid_text([diagram.origins[origin]])}"]'
        inner = indent if origin is None else f"{indent}    "
        for i in members:
            yield f"{inner}{_mermaid_node(i, diagram.boxes[i])}"
        if origin is not None:
            yield f"{indent}end"
    if diagram.region is not None:
        yield "    end"


def _mermaid_node(index: int, box: Box) -> str:
    left, right = _MERMAID_SHAPES[box.role]
    return f'n{index}{left}"{_mermaid_text(box.lines)}"{right}'


def _mermaid_text(lines: Iterable[str]) -> str:
    """A quoted label in which no character is markup."""
    return "<br/>".join(
        "".join(
            letter if letter.isalnum() or letter in _PLAIN else f"#{ord(letter)};"
            for letter in line
        )
        for line in lines
    )


def dot(diagram: Diagram) -> str:
    """The diagram in DOT, the language of Graphviz: ``dot -Tsvg``."""
    lines = [
        "digraph {",
        f"  label={_quoted([diagram.name])}; labelloc=t;",
        '  node [fontname="Helvetica", fontsize=11];',
        *_dot_groups(diagram),
    ]
    for i, box in enumerate(diagram.boxes):
        if box.role != "operation":
            lines.append(f"  {_dot_node(i, box)}")
    lines += [
        f"  n{arrow.tail} -> n{arrow.head} [tooltip={_quoted([arrow.details])}];"
        for arrow in diagram.arrows
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_groups(diagram: Diagram) -> Iterator[str]:
    indent = "  "
    if diagram.region is not None:
        label = _quoted((diagram.region.title, *diagram.region.facts))
        yield f"{indent}subgraph cluster_engine {{"
        indent += "  "
        yield f'{indent}label={label}; style=dashed; color="#8e5bd0";'
    for origin, members in _groups(diagram):
        if origin is not None:
            yield f"{indent}subgraph cluster_call{origin} {{"
            label = _quoted([diagram.origins[origin]])
            yield f'{indent}  label={label}; style=solid; color="#999";'
        inner = indent if origin is None else f"{indent}  "
        for i in members:
            yield f"{inner}{_dot_node(i, diagram.boxes[i])}"
        if origin is not None:
            yield f"{indent}}}"
    if diagram.region is not None:
        yield "  }"


def _dot_node(index: int, box: Box) -> str:
    return (
        f"n{index} [label={_quoted(box.lines)}, tooltip={_quoted([box.details])}, "
        f"{_DOT_STYLES[box.role]}];"
    )


def _quoted(lines: Iterable[str]) -> str:
    """A quoted string of DOT, with backslashes escaped."""
    texts = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(" ".join(text.split()) for text in texts) + '"'


def _groups(diagram: Diagram) -> Iterator[tuple[int | None, list[int]]]:
    """Operations by the user's call to which they belong; None, without a call, comes first."""
    found: dict[int | None, list[int]] = {None: []}
    for i, box in enumerate(diagram.boxes):
        if box.role == "operation":
            found.setdefault(box.origin, []).append(i)
    yield from found.items()
