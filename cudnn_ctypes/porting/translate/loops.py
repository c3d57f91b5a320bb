"""Loops of C in Python: counting loops become ``range``, all others ``while``."""

from __future__ import annotations

import re

from .literals import number
from .statements import Statements
from .syntax import Node, commas
from .types import INT, CType, array_of
from .usage import changed_names
from .value import REASONS, Value, infix

__all__ = ["Loops"]

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_GROWING = ("push_back", "pop_back", "resize", "clear")


class Loops(Statements):
    """``for``, ``while``, ``do``."""

    def loop_body(self, body: Node, steps: list[str] | None = None, line: int = 0) -> None:
        """Write the body of a loop, and the steps at its end."""
        steps = steps or []
        self.jumps.append(("loop", steps))
        self.body(body)
        self.jumps.pop()
        if steps and self.out.lines[-1][1] == "pass":
            self.out.lines.pop()
        for text in steps:
            self.out.add(text, line, deeper=1)

    def _do_while_statement(self, node: Node) -> None:
        self._while(node, [])

    def _while(self, node: Node, steps: list[str]) -> None:
        header, inner = self._loop_condition(node["condition"])
        self.out.add(header, node.line)
        for text in inner:
            self.out.add(text, node.line, deeper=1)
        self.loop_body(node["body"], steps, node.line)

    def _loop_condition(self, node: Node) -> tuple[str, list[str]]:
        """The head of a ``while``, and what its body begins with."""
        if not node:
            return "while True:", []
        self.clear()
        self.conditional = 1
        try:
            value = self.truth(node)
            if not self.before and not self.after:
                return f"while {'True' if value.constant else value.text}:", []
        except REASONS:
            pass
        return "while True:", self._leaving(node)

    def _leaving(self, condition: Node) -> list[str]:
        """The lines that leave a loop where a condition does not hold."""
        self.clear()
        text = self.condition(condition)
        lines = [*self.before, f"if not ({text}):", "    break"]
        self.clear()
        return lines

    def _do_do_statement(self, node: Node) -> None:
        body, condition = node["body"], node["condition"]
        once = condition.stripped.text in ("0", "false")
        if once and not body.has("break_statement", "continue_statement"):
            self._do_compound_statement(body)
            return
        if body.has("continue_statement"):
            raise self.fail(node, "a do loop with continue")
        ending = ["break"] if once else self._leaving(condition)
        self.out.add("while True:", node.line)
        self.loop_body(body)
        for text in ending:
            self.out.add(text, node.line, deeper=1)

    def _do_for_statement(self, node: Node) -> None:
        self.scopes.append({})
        header = self._counting(node)
        if header:
            self.emit(header, node.line)
            self.loop_body(node["body"])
        else:
            self.clear()
            if node["initializer"].kind == "declaration":
                self.statement(node["initializer"])
            for one in commas(node["initializer"]):
                if one and one.kind != "declaration":
                    self.alone(one)
            self._while(node, self._steps(node["update"]))
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
        if self.before or self.after or not end.type.is_integer or not (kind.signed or step > 0):
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
        function = loop
        while function and function.kind != "function_definition":
            function = function.parent
        if self.expanding or not function:
            return True
        loops = [x for x in function.find("for_statement") if _sets(x["initializer"], name)]
        spans = [range(one.tree.start_byte, one.tree.end_byte) for one in loops]
        for one in function.find("identifier"):
            above = one.parent
            declared = above.kind == "declaration" or above["declarator"] == one
            inside = any(one.tree.start_byte in span for span in spans)
            if one.text == name and not declared and not inside:
                return True
        return False

    def _stable(self, limit: Node, body: Node) -> bool:
        """Whether a limit keeps its value while the body runs."""
        changed = changed_names(body)
        calls = list(body.find("call_expression"))
        records = self.program.records.values()
        own = {one.called.split(".")[-1].split("->")[-1] for one in calls}
        own_is_called = own & set(self.program.functions) or any(
            own & set(x.methods) for x in records
        )
        passed = {x.text for call in calls for x in call["arguments"].find("identifier")}
        grows = any(one.called.endswith(_GROWING) for one in calls)
        for one in limit.find("call_expression", "update_expression", "assignment_expression"):
            if grows or not one.called.endswith((".size", "->size")):
                return False
        for one in limit.find("identifier", "field_identifier"):
            name = one.text
            variable = self.lookup(name) if one.kind == "identifier" else None
            shared = variable is None or variable.is_global or variable.cell
            cell = variable is not None and variable.cell
            if name in changed or (
                own_is_called and (cell or (shared and name in self.program.changed))
            ):
                return False
            if variable is not None and not variable.type.is_number and name in passed:
                return False
        return True

    def _do_for_range_loop(self, node: Node) -> None:
        declarator, body, right = node["declarator"], node["body"], node["right"]
        name, kind = self.declared(self.type_of(node), declarator)
        if right.kind == "initializer_list":
            texts = [self.converted(one, kind).text for one in right.children]
            values = Value(f"({', '.join(texts)},)", array_of(kind.plain, str(len(texts))))
        else:
            values = self.expression(right)
        element = values.type.pointed.plain
        if values.type.kind not in ("vector", "array"):
            raise self.fail(node, f"a loop over {values.type}")
        if kind.kind != "unknown" and kind.plain != element:
            raise self.fail(node, "a loop that converts")
        by_number = not element.is_object
        by_index = by_number and kind.reference and name in changed_names(body)
        if by_number and (name in self.addressed or (by_index and not _is_name(values.text))):
            raise self.fail(node, "a loop that changes numbers or takes their address")
        self.scopes.append({})
        if by_index:
            index = self.declare("index", INT).name
            self.declare(name, element).name = f"{values.text}[{index}]"
            count = f"{values.text}.size()" if values.type.kind == "vector" else values.type.length
            self.emit(f"for {index} in range({count}):", node.line)
        else:
            python = self.declare(name, element).name
            self.emit(f"for {python} in {values.text}:", node.line)
            if element.is_object and not kind.reference:
                self.out.add(f"{python} = copied({python})", deeper=1)
        self.loop_body(body)
        self.scopes.pop()


def _is_name(text: str) -> bool:
    return bool(re.fullmatch(r"[\w.]+", text))


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


def _sets(start: Node, name: str) -> bool:
    """Whether the beginning of a loop gives a variable its value."""
    if start.kind == "declaration":
        return any((one["declarator"] or one).text == name for one in start.each("declarator"))
    sets = [one["left"].text for one in commas(start) if one.kind == "assignment_expression"]
    return name in sets
