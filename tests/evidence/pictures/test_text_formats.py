"""Mermaid and DOT: every line follows the grammar, also with names that are markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from .graphs import GRAPHS, attention, fused, hostile

# The lines of Mermaid that are used, with labels in which nothing but letters, digits, entities
# and harmless signs may stand. Mermaid 11's own parser accepts what these accept.
LABEL = r'"(?:[\w _.,:=+/()…-]|#\d+;|<br/>)*"'
MERMAID = re.compile(
    rf"flowchart TD|\s+subgraph (?:engine|call\d+)\[{LABEL}\]|\s+end|"
    rf"\s+n\d+(?:\[{LABEL}\]|\(\[{LABEL}\]\))|\s+n\d+ --> n\d+|"
    r"\s+classDef \w+ stroke:#[0-9a-f]{6},stroke-width:2px|\s+class n\d+(?:,n\d+)* \w+"
)


def _label(text: str) -> str:
    """What a label of Mermaid shows."""
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text.replace("<br/>", "\n"))


def _tokens(text: str) -> Iterator[str]:
    """The tokens of DOT; anything else is an error."""
    grammar = re.compile(r'\s+|"(?:[^"\\\n]|\\["\\nlr])*"|->|[{}\[\];,=]|[\w#.]+')
    place = 0
    while place < len(text):
        found = grammar.match(text, place)
        assert found, text[place : place + 40]
        if not found[0].isspace():
            yield found[0]
        place = found.end()


def _statements(text: str) -> tuple[set[str], list[tuple[str, str]], int]:
    """Nodes, edges, and the largest depth of a DOT graph of the kind that is written."""
    tokens = list(_tokens(text))
    assert tokens[:2] == ["digraph", "{"]
    nodes, edges, depth, deepest, i = set(), [], 1, 1, 2
    while i < len(tokens):
        token = tokens[i]
        if token == "subgraph":
            assert tokens[i + 2] == "{"
            depth, i = depth + 1, i + 3
            deepest = max(deepest, depth)
        elif token == "}":
            depth, i = depth - 1, i + 1
        else:
            end = tokens.index(";", i)
            statement = tokens[i:end]
            if statement[1] == "->":
                edges.append((statement[0], statement[2]))
            elif statement[1] == "[" and token != "node":
                assert statement[-1] == "]"
                nodes.add(token)
            else:
                assert statement[1] in ("=", "[")
            i = end + 1
    assert depth == 0
    return nodes, edges, deepest


@pytest.mark.parametrize("name", GRAPHS)
def test_every_line_of_mermaid_is_one_of_its_statements(name: str) -> None:
    lines = GRAPHS[name]().to_mermaid().splitlines()
    for line in lines:
        assert MERMAID.fullmatch(line), line
    opened = sum(line.strip().startswith("subgraph") for line in lines)
    assert opened == lines.count("    end")


@pytest.mark.parametrize("name", GRAPHS)
def test_both_have_the_same_boxes_and_arrows(name: str) -> None:
    graph = GRAPHS[name]()
    mermaid = graph.to_mermaid()
    nodes, edges, _ = _statements(graph.to_dot())
    assert set(re.findall(r"^\s+(n\d+)[\[(]", mermaid, re.MULTILINE)) == nodes
    assert re.findall(r"^\s+(n\d+) --> (n\d+)$", mermaid, re.MULTILINE) == edges
    assert {end for edge in edges for end in edge} == nodes
    reads = sum(len(list(node.operands)) for node in graph.nodes)
    assert len(edges) >= reads


def test_the_engine_is_a_subgraph() -> None:
    with fused() as graph:
        plan = graph.build("H200")
        lines = graph.to_mermaid().splitlines()
        (start,) = (i for i, line in enumerate(lines) if "subgraph engine" in line)
        inside = lines[start + 1 : lines.index("    end")]
        assert len(inside) == len(graph.nodes)
        assert f"engine {plan.config.choice.engine} " in _label(lines[start])
        assert _statements(graph.to_dot())[2] == 2
        for line in lines:
            assert MERMAID.fullmatch(line), line


def test_parts_of_one_call_are_a_subgraph() -> None:
    expansion = attention().expansion("H200")
    mermaid = expansion.to_mermaid()
    assert 'subgraph call0["sdpa"]' in mermaid
    assert _statements(expansion.to_dot())[2] == 2


def test_names_are_only_text() -> None:
    graph = hostile()
    labels = re.findall(LABEL, graph.to_mermaid())
    assert any("<script>" in _label(label) for label in labels)
    dot = graph.to_dot()
    nodes, edges, deepest = _statements(dot)
    assert (len(nodes), len(edges), deepest) == (4, 3, 1)
    assert "\x00" not in dot
    assert "\ud800" not in dot
