"""C's ``switch`` in Python: a chain of ``if`` and ``elif``."""

from __future__ import annotations

from collections.abc import Callable

from ..syntax import Node
from .calls import Calls

__all__ = ["Switches"]

_LEAVING = ("break_statement", "return_statement", "continue_statement", "goto_statement")
_LOOPS = ("for_statement", "while_statement", "do_statement", "switch_statement", "for_range_loop")


class Switches(Calls):
    """``switch``."""

    block: Callable[[list[Node]], None]
    """Writes statements in a scope of their own, one step further in."""

    def _do_switch_statement(self, node: Node) -> None:
        cases = node["body"].children
        if any(one.kind != "case_statement" for one in cases):
            raise self.fail(node, "a switch with statements outside of its cases")
        value = self.expression(node["condition"])
        self.refuse(not value.type.is_integer, node, "a switch of this type")
        subject = value.text
        if not subject.replace(".", "").isidentifier():
            self.before.append(f"_choice = {subject}")
            subject = "_choice"
        self.emit("", node.line)
        bodies = [_statements(one) for one in cases]
        depth, wrapped = self.out.depth, any(map(_breaks_within, bodies))
        if wrapped:
            self.out.add("while True:", node.line)
            self.out.depth += 1
        self.jumps.append(("switch" if wrapped else "flat switch", []))
        labels: list[str] = []
        chain = []
        for index, case in enumerate(cases):
            labels.append(self.expression(case["value"]).text if case["value"] else "")
            if any(one.kind != "comment" for one in bodies[index]) or index + 1 == len(cases):
                chain.append((labels, _through(bodies[index:]), case.line))
                labels = []
        word = "if"
        for labels, body, line in sorted(chain, key=lambda one: "" in one[0]):
            test = f"{subject} == {labels[0]}"
            if len(labels) > 1:
                test = f"{subject} in ({', '.join(labels)})"
            default = "else:" if word == "elif" else "if True:"
            self.out.add(default if "" in labels else f"{word} {test}:", line)
            self.block(body)
            word = "elif"
        self.jumps.pop()
        if wrapped:
            self.out.add("break")
            self.out.depth = depth


def _statements(case: Node) -> list[Node]:
    """The statements of a case, without the braces around all of them."""
    nodes = [one for one in case.named if one != case["value"]]
    real = [one for one in nodes if one.kind != "comment"]
    is_block = bool(real) and real[0].kind == "compound_statement"
    if is_block and (len(real) == 1 or (len(real) == 2 and real[1].kind in _LEAVING)):
        return [*real[0].named, *real[1:]]
    return nodes


def _through(bodies: list[list[Node]]) -> list[Node]:
    """The statements of a case, and of those that it falls through to."""
    body: list[Node] = []
    for one in bodies:
        body += one
        if one and one[-1].kind in _LEAVING:
            break
    return body[:-1] if body and body[-1].kind == "break_statement" else body


def _breaks_within(body: list[Node]) -> bool:
    """Whether a ``break`` leaves the switch from within a statement of a case."""
    pending = [*body[:-1], *(body[-1].named if body else [])]
    while pending:
        node = pending.pop()
        if node.kind == "break_statement":
            return True
        pending += [] if node.kind in _LOOPS else node.named
    return False
