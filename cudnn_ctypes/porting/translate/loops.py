"""Loops of C in Python: counting loops become ``range``, all others ``while``."""

from __future__ import annotations

import re
from typing import Any

from .program import children, descendants, stripped, text_of
from .statements import Statements
from .types import INT, CType
from .value import MULTIPLICATIVE, Untranslatable, Value

__all__ = ["Loops"]

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class Loops(Statements):
    """``for``, ``while``, ``do``."""

    def _do_while_statement(self, node: Any) -> None:
        body = node.child_by_field_name("body")
        self._while(node.child_by_field_name("condition"), body, self.line(node))

    def _while(self, condition: Any, body: Any, line: int, steps: list[Any] | None = None) -> None:
        steps = steps or []
        step_lines = [text for step in steps for text in self._as_lines(step)]
        header = "while True:"
        inner: list[str] = []
        if condition is not None:
            header, inner = self._loop_condition(condition)
        self.out.add(header, line)
        for text in inner:
            self.out.depth += 1
            self.out.add(text, line)
            self.out.depth -= 1
        self.jumps.append(("loop", [*step_lines]))
        self.body(body)
        self.jumps.pop()
        self.out.depth += 1
        if step_lines and self.out.lines[-1][1] == "pass":
            self.out.lines.pop()
        for text in step_lines:
            self.out.add(text, line)
        self.out.depth -= 1

    def _loop_condition(self, node: Any) -> tuple[str, list[str]]:
        """The head of a ``while``, and what its body begins with."""
        self._clear()
        self.conditional = 1
        try:
            value = self.truth(node)
            if not self.before and not self.after:
                return (f"while {'True' if value.constant else value.text}:", [])
        except Untranslatable:
            pass
        self._clear()
        text = self.condition(node)
        inner = [*self.before, f"if not ({text}):", "    break"]
        self._clear()
        return "while True:", inner

    def _as_lines(self, node: Any) -> list[str]:
        """A statement as lines of text."""
        kept, depth = self.out.lines, self.out.depth
        self.out.lines, self.out.depth = [], 0
        try:
            self._clear()
            self._alone(node)
            return ["    " * indent + text for indent, text, _ in self.out.lines]
        finally:
            self.out.lines, self.out.depth = kept, depth

    def _do_do_statement(self, node: Any) -> None:
        line = self.line(node)
        body = node.child_by_field_name("body")
        condition = node.child_by_field_name("condition")
        once = text_of(stripped(condition)) in ("0", "false")
        if once and not any(
            True for _ in descendants(body, "break_statement", "continue_statement")
        ):
            self._do_compound_statement(body)
            return
        self._clear()
        text = "False" if once else self.condition(condition)
        ending = [*self.before, f"if not ({text}):", "    break"]
        self._clear()
        if any(True for _ in descendants(body, "continue_statement")):
            raise self.fail(node, "a do loop with continue")
        self.out.add("while True:", line)
        self.jumps.append(("loop", []))
        self.body(body)
        self.jumps.pop()
        self.out.depth += 1
        for text in ending if not once else ["break"]:
            self.out.add(text, line)
        self.out.depth -= 1

    def _do_for_statement(self, node: Any) -> None:
        self.scopes.append({})
        try:
            if not self._counting(node):
                self._general_for(node)
        finally:
            self.scopes.pop()

    def _general_for(self, node: Any) -> None:
        start = node.child_by_field_name("initializer")
        if start is not None:
            if start.type == "declaration":
                self.statement(start)
            else:
                for one in _listed(start):
                    self._clear()
                    self._alone(one)
        update = node.child_by_field_name("update")
        steps = _listed(update) if update is not None else []
        condition = node.child_by_field_name("condition")
        self._while(condition, node.child_by_field_name("body"), self.line(node), steps)

    def _counting(self, node: Any) -> bool:
        """Write ``for i in range(...)`` if that is what the loop does."""
        start = node.child_by_field_name("initializer")
        found = self._counter(start)
        if found is None:
            return False
        name, first, kind = found
        step = _step(node.child_by_field_name("update"), name)
        condition = node.child_by_field_name("condition")
        body = node.child_by_field_name("body")
        if step is None or condition is None or name in changed_names(body):
            return False
        limit = self._limit(condition, name, step)
        if limit is None or not self._stable(limit[0], body):
            return False
        if kind is None and self._read_later(node, name):
            return False
        self._write_range(node, name, first, kind, limit, step)
        return True

    def _counter(self, start: Any) -> tuple[str, Any, Any] | None:
        """The name, the first value and, if it is declared here, the type of a counter."""
        if start is None or any(True for _ in descendants(start, "update_expression")):
            return None
        if start.type == "declaration":
            declarators = start.children_by_field_name("declarator")
            if len(declarators) != 1 or declarators[0].type != "init_declarator":
                return None
            name = declarators[0].child_by_field_name("declarator")
            value = declarators[0].child_by_field_name("value")
            if name.type != "identifier" or text_of(name) in self.addressed or value is None:
                return None
            kind = self.type_of(start)
            if kind.kind == "unknown":
                kind = self.expression(value).type
            return (text_of(name), value, kind) if kind.kind == "integer" else None
        if start.type != "assignment_expression":
            return None
        name = start.child_by_field_name("left")
        variable = self.lookup(text_of(name)) if name.type == "identifier" else None
        usable = variable and not variable.cell and not variable.is_global
        if not usable or not variable or variable.type.kind != "integer":
            return None
        return text_of(name), start.child_by_field_name("right"), None

    def _limit(self, condition: Any, name: str, step: int) -> tuple[Any, str] | None:
        condition = stripped(condition)
        if condition.type != "binary_expression":
            return None
        operator = text_of(condition.child_by_field_name("operator"))
        left, right = (condition.child_by_field_name(side) for side in ("left", "right"))
        if text_of(right) == name and operator in _MIRRORED:
            left, right, operator = right, left, _MIRRORED[operator]
        upwards = ("<", "<=", "!=") if step == 1 else ("<", "<=")
        downwards = (">", ">=")
        if text_of(left) != name or operator not in (upwards if step > 0 else downwards):
            return None
        return right, operator

    def _stable(self, limit: Any, body: Any) -> bool:
        """Whether a limit keeps its value while the body runs."""
        changed = changed_names(body)
        calls = [
            text_of(one.child_by_field_name("function"))
            for one in descendants(body, "call_expression")
        ]
        own = any(self._may_change(name) for name in calls)
        passed = [
            {
                text_of(one)
                for one in descendants(call.child_by_field_name("arguments"), "identifier")
            }
            for call in descendants(body, "call_expression")
        ]
        for one in descendants(limit):
            if one.type in ("call_expression", "update_expression", "assignment_expression"):
                function = text_of(one.child_by_field_name("function"))
                if not function.endswith((".size", "->size")) or any(
                    call.endswith(("push_back", "pop_back", "resize", "clear", "erase", "insert"))
                    for call in calls
                ):
                    return False
            if one.type in ("identifier", "field_identifier"):
                name = text_of(one)
                variable = self.lookup(name) if one.type == "identifier" else None
                local = variable is not None and not variable.is_global and not variable.cell
                if name in changed or (own and not local and name in self.program.changed):
                    return False
                if variable is not None and variable.cell and own:
                    return False
                memory = variable is not None and not variable.type.is_number
                if memory and any(name in arguments for arguments in passed):
                    return False
        return True

    def _may_change(self, call: str) -> bool:
        name = call.split(".")[-1].split("->")[-1]
        methods = any(name in record.methods for record in self.program.records.values())
        return methods or name in self.program.functions

    def _read_later(self, loop: Any, name: str) -> bool:
        """Whether a counter of an outer scope is read other than in loops that set it."""
        parent = loop
        while parent is not None and parent.type != "function_definition":
            parent = parent.parent
        if parent is None:
            return True
        for one in descendants(parent, "identifier"):
            if text_of(one) == name and not _set_by_a_loop(one, name) and not _is_declared(one):
                return True
        return False

    def _write_range(
        self,
        node: Any,
        name: str,
        first: Any,
        kind: CType | None,
        limit: tuple[Any, str],
        step: int,
    ) -> None:
        counter = kind or INT
        begin = self.convert(self.expression(first), counter)
        end = self.expression(limit[0])
        if not end.type.is_integer:
            raise self.fail(node, "a loop to a limit that is no integer")
        if limit[1] in ("<=", ">="):
            one = 1 if step > 0 else -1
            end = _added(end, one)
        if not counter.signed and step < 0:
            raise self.fail(node, "an unsigned counter that goes down")
        if kind is not None:
            self.never_negative = self.never_negative | (
                {name} if step > 0 and begin.nonnegative else set()
            )
            variable = self.declare(name, kind)
        else:
            found = self.lookup(name)
            assert found
            variable = found
        texts = [begin.text, end.text, str(step)]
        if step == 1:
            texts = texts[1:2] if begin.constant == 0 else texts[:2]
        self.emit(f"for {variable.name} in range({', '.join(texts)}):", self.line(node))
        self.jumps.append(("loop", []))
        self.body(node.child_by_field_name("body"))
        self.jumps.pop()

    def _do_for_range_loop(self, node: Any) -> None:
        declarator = node.child_by_field_name("declarator")
        kind = self.type_of(node, declarator).plain()
        name = text_of(declarator).lstrip("&* ")
        right = node.child_by_field_name("right")
        if right.type == "initializer_list":
            texts = [self.converted(one, kind).text for one in children(right)]
            values = Value(f"({', '.join(texts)},)", CType("array", to=kind))
        else:
            values = self.expression(right)
        if values.type.kind not in ("vector", "array") or not name.isidentifier():
            raise self.fail(node, f"a loop over {values.type}")
        element = values.type.pointed
        body = node.child_by_field_name("body")
        by_reference = "&" in text_of(declarator) and not element.is_object
        by_index = by_reference and name in changed_names(body)
        if by_index and not re.fullmatch(r"[\w.]+", values.text):
            raise self.fail(node, "a loop that changes numbers by reference")
        if name in self.addressed and not element.is_object:
            raise self.fail(node, "a loop that takes the address of a number")
        self.scopes.append({})
        if kind.kind != "unknown" and kind.plain() != element.plain():
            raise self.fail(node, "a loop that converts")
        if by_index:
            index = self.declare("index", INT).name
            variable = self.declare(name, element)
            variable.name = f"{values.text}[{index}]"
            count = f"{values.text}.size()" if values.type.kind == "vector" else values.type.length
            self.emit(f"for {index} in range({count}):", self.line(node))
        else:
            variable = self.declare(name, element)
            self.emit(f"for {variable.name} in {values.text}:", self.line(node))
        if element.is_object and "&" not in text_of(declarator):
            self.out.depth += 1
            self.out.add(f"{variable.name} = copied({variable.name})")
            self.out.depth -= 1
        self.jumps.append(("loop", []))
        self.body(body)
        self.jumps.pop()
        self.scopes.pop()


def changed_names(node: Any) -> set[str]:
    """Names of variables and members that a part of the program may change."""
    found = set()
    for one in descendants(
        node, "assignment_expression", "update_expression", "pointer_expression", "declaration"
    ):
        if one.type == "pointer_expression" and not text_of(one).startswith("&"):
            continue
        if one.type == "declaration":
            for declarator in one.children_by_field_name("declarator"):
                found |= (
                    {text_of(name) for name in descendants(declarator, "identifier")}
                    if (declarator.type == "reference_declarator")
                    else set()
                )
            continue
        target = one.child_by_field_name("left") or one.child_by_field_name("argument")
        target = stripped(target)
        while target.type in ("subscript_expression", "pointer_expression"):
            target = target.child_by_field_name("argument")
            target = stripped(target)
        if target.type == "field_expression":
            found.add(text_of(target.child_by_field_name("field")))
        elif target.type == "identifier":
            found.add(text_of(target))
    return found | read_from_streams(node)


def read_from_streams(node: Any) -> set[str]:
    """Names that stand on the right of ``>>`` where a stream may stand on the left."""
    found = set()
    for one in descendants(node, "binary_expression"):
        top = one
        while top.parent is not None and top.parent.type in _AROUND_READING:
            top = top.parent
        alone = top.parent is not None and top.parent.type in _READING
        if alone and text_of(one.child_by_field_name("operator")) == ">>":
            found.add(text_of(one.child_by_field_name("right")))
    return found


_AROUND_READING = ("binary_expression", "parenthesized_expression", "unary_expression")
_READING = ("expression_statement", "condition_clause", "while_statement", "if_statement")


def _step(update: Any, name: str) -> int | None:
    if update is None:
        return None
    update = stripped(update)
    if (
        update.type == "update_expression"
        and text_of(update.child_by_field_name("argument")) == name
    ):
        return 1 if text_of(update.child_by_field_name("operator")) == "++" else -1
    if (
        update.type == "assignment_expression"
        and text_of(update.child_by_field_name("left")) == name
    ):
        sign = {"+=": 1, "-=": -1}.get(text_of(update.child_by_field_name("operator")))
        right = text_of(update.child_by_field_name("right"))
        if sign and right.isdigit() and int(right):
            return sign * int(right)
    return None


def _listed(node: Any) -> list[Any]:
    if node.type == "comma_expression":
        return [
            *_listed(node.child_by_field_name("left")),
            *_listed(node.child_by_field_name("right")),
        ]
    return [node]


def _added(value: Value, one: int) -> Value:
    if value.constant is not None and value.text.isdigit():
        return Value(str(int(value.constant) + one), value.type)
    sign = "+" if one > 0 else "-"
    return Value(f"{value.at(MULTIPLICATIVE - 1)} {sign} 1", value.type)


def _set_by_a_loop(node: Any, name: str) -> bool:
    """Whether a name stands in a loop that gives it its first value."""
    while node.parent is not None:
        node = node.parent
        if node.type != "for_statement":
            continue
        start = node.child_by_field_name("initializer")
        if start is None:
            continue
        for one in _listed(start):
            if (
                one.type == "assignment_expression"
                and text_of(one.child_by_field_name("left")) == name
            ):
                return True
            if one.type == "declaration" and any(
                text_of(found) == name
                for declarator in one.children_by_field_name("declarator")
                for found in descendants(
                    declarator.child_by_field_name("declarator") or declarator, "identifier"
                )
            ):
                return True
    return False


def _is_declared(node: Any) -> bool:
    parent = node.parent
    if parent.type == "init_declarator":
        return bool(parent.child_by_field_name("declarator") == node)
    return bool(parent.type == "declaration")
