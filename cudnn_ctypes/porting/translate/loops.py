"""Loops of C in Python: counting loops become ``range``, all others ``while``."""

from __future__ import annotations

import re

from ..c_types import CType, array_of, common
from ..syntax import Node, commas
from .names import number
from .statements import Statements
from .usage import changed_names
from .values import Value, infix

__all__ = ["Loops"]

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_GROWING = ("push_back", "pop_back", "resize", "clear")


class Loops(Statements):
    """``for``, ``while``, ``do``."""

    def _loop(self, header: str, node: Node, first: list[str], last: list[str]) -> None:
        """Write a loop, and what its body begins and ends with."""
        self.out.add(header, node.line)
        for text in first:
            self.out.add(text, node.line, deeper=1)
        self.jumps.append(("loop", last))
        self.body(node["body"])
        self.jumps.pop()
        if last and self.out.lines[-1][1] == "pass":
            self.out.lines.pop()
        for text in last:
            self.out.add(text, node.line, deeper=1)

    def _do_while_statement(self, node: Node) -> None:
        header, first = self._loop_condition(node["condition"])
        self._loop(header, node, first, [])

    def _loop_condition(self, node: Node) -> tuple[str, list[str]]:
        """The head of a ``while``, and what its body begins with."""
        if not node:
            return "while True:", []
        value = self.pure_condition(node)
        if value is None:
            return "while True:", self._leaving(node)
        return f"while {'True' if value.constant else value.text}:", []

    def _leaving(self, condition: Node) -> list[str]:
        """The lines that leave a loop where a condition does not hold."""
        self.clear()
        text = self.condition(condition)
        lines = [*self.before, f"if not ({text}):", "    break"]
        self.clear()
        return lines

    def _do_do_statement(self, node: Node) -> None:
        once = node["condition"].stripped.text in ("0", "false")
        if once and not node["body"].has("break_statement", "continue_statement"):
            self._do_compound_statement(node["body"])
        else:
            last = ["break"] if once else self._leaving(node["condition"])
            self._loop("while True:", node, [], last)

    def _do_for_statement(self, node: Node) -> None:
        self.scopes.append({})
        header = self._counting(node)
        if header:
            self._loop(header, node, [], [])
        else:
            self.clear()
            if node["initializer"].kind == "declaration":
                self.statement(node["initializer"])
            for one in commas(node["initializer"]):
                if one and one.kind != "declaration":
                    self.alone(one)
            steps = self._steps(node["update"])
            header, first = self._loop_condition(node["condition"])
            self._loop(header, node, first, steps)
        self.scopes.pop()

    def _steps(self, node: Node) -> list[str]:
        """What an expression does, as lines of text."""
        kept, self.out.lines = self.out.lines, []
        depth, self.out.depth = self.out.depth, 0
        try:
            for one in commas(node) if node else []:
                self.alone(one)
            return ["    " * indent + text for indent, text, _ in self.out.lines]
        finally:
            self.out.lines, self.out.depth = kept, depth

    # Counting loops.

    def _counting(self, node: Node) -> str:
        """``for i in range(...):`` if that is what the loop does, else nothing."""
        start, body = node["initializer"], node["body"]
        declarators = start.each("declarator") if start.kind == "declaration" else []
        left, first = start["left"], start["right"]
        if len(declarators) == 1:
            left, first = declarators[0]["declarator"], declarators[0]["value"]
        name = left.text
        limit, operator = _limit(node["condition"].stripped, name)
        step = _step(node["update"].stripped, name)
        directions = ("<", "<=") if step > 0 else (">", ">=")
        usual = operator in directions or (operator == "!=" and step == 1)
        sets = first and start.operator in ("", "=") and not start.has("update_expression")
        if left.kind != "identifier" or not sets or not step or not usual:
            return ""
        if name in changed_names(body) or not self._stable(limit, body):
            return ""
        kind = self._counter(node, name, first)
        if kind is None:
            return ""
        begin, end = self.convert(self.expression(first), kind), self.expression(limit)
        wraps = not common(kind, end.type).signed and not (begin.nonnegative and step > 0)
        if self.before or self.after or not end.type.is_integer or wraps:
            return ""
        if operator in ("<=", ">="):
            end = _next(end, 1 if step > 0 else -1)
        variable = None if declarators else self.lookup(name)
        variable = variable or self.declare(name, kind)
        variable.bounds = (begin.range[0] if step > 0 else kind.range[0], kind.range[1])
        texts = [begin.text, end.text, str(step)][: 2 if step == 1 else 3]
        texts = texts[1:] if step == 1 and begin.constant == 0 else texts
        return f"for {variable.name} in range({', '.join(texts)}):"

    def _counter(self, loop: Node, name: str, first: Node) -> CType | None:
        """The type of a counter that only its loop can see."""
        if loop["initializer"].kind == "declaration":
            kind = self.type_of(loop["initializer"])
            kind = self.peek(first).type if kind.kind == "unknown" else kind
            hidden = name not in self.addressed
        else:
            variable = self.lookup(name)
            if variable is None or variable.cell or variable.is_global:
                return None
            kind, hidden = variable.type, not self._read_elsewhere(loop, name)
        return kind if hidden and kind.kind == "integer" else None

    def _read_elsewhere(self, loop: Node, name: str) -> bool:
        """Whether a counter of an outer scope is read other than in loops that set it."""
        function = loop.home
        sets = re.compile(rf"(?<![\w.>]){name}\s*=(?!=)")
        loops = [x for x in function.find("for_statement") if sets.search(x["initializer"].text)]
        inside = {one.tree.start_byte for each in loops for one in each.find("identifier")}
        others = [x for x in function.find("identifier") if x.tree.start_byte not in inside]
        read = any(x.text == name and not x.parent.declares(x) for x in others)
        return read or not function or bool(self.expanding)

    def _stable(self, limit: Node, body: Node) -> bool:
        """Whether a limit keeps its value while the body runs."""
        called = [one.called for one in body.find("call_expression")]
        grows = any(one.endswith(_GROWING) for one in called)
        for one in limit.find("call_expression", "update_expression", "assignment_expression"):
            if grows or not one.called.endswith((".size", "->size")):
                return False
        nodes = list(limit.find("identifier", "field_identifier"))
        names = {one.text for one in nodes}
        variables = [
            (x.text, self.lookup(x.text) if x.kind == "identifier" else None) for x in nodes
        ]
        shared = {name for name, x in variables if x is None or x.is_global or x.cell}
        memory = {name for name, x in variables if x is not None and not x.type.is_number}
        passed = {x.text for call in body.find("argument_list") for x in call.find("identifier")}
        changed = changed_names(body) | (passed & memory)
        if any(self.program.named(re.split(r"\W+", one)[-1]) for one in called):
            changed |= shared & (self.program.changed | self.addressed)
        return not names & changed

    def _do_for_range_loop(self, node: Node) -> None:
        right = node["right"]
        name, kind = self.declared(self.type_of(node), node["declarator"])
        if right.kind == "initializer_list":
            texts = [self.converted(one, kind).text for one in right.children]
            values = Value(f"({', '.join(texts)},)", array_of(kind.plain, str(len(texts))))
        else:
            values = self.expression(right)
        element = values.type.pointed.plain
        self.refuse(values.type.kind not in ("vector", "array"), node, f"a loop over {values.type}")
        self.refuse(kind.kind != "unknown" and kind.plain != element, node, "a loop that converts")
        changes = name in self.addressed or (kind.reference and name in changed_names(node["body"]))
        if changes and not element.is_object:
            raise self.fail(node, "a loop that changes numbers or takes their address")
        self.scopes.append({})
        python = self.declare(name, element, refers=kind.reference).name
        self.emit("", node.line)
        copies = element.is_object and not kind.reference
        first = [f"{python} = copied({python})"] if copies else []
        self._loop(f"for {python} in {values.text}:", node, first, [])
        self.scopes.pop()


def _step(update: Node, name: str) -> int:
    """By what a loop changes its counter: 0 if that is not known."""
    if update["argument"].text == name:
        return {"++": 1, "--": -1}.get(update.operator, 0)
    sign = {"+=": 1, "-=": -1}.get(update.operator, 0)
    right = update["right"].text
    return sign * int(right) if update["left"].text == name and right.isdigit() else 0


def _limit(condition: Node, name: str) -> tuple[Node, str]:
    """What a counter is compared with, and how."""
    left, right, operator = condition["left"], condition["right"], condition.operator
    if right.text == name:
        left, right, operator = right, left, _MIRRORED.get(operator, "")
    return right, operator if left.text == name else ""


def _next(value: Value, step: int) -> Value:
    if value.text.isdigit():
        return number(int(value.text) + step)
    return Value(infix(value, "+" if step > 0 else "-", number(1)), value.type)
