"""Statements, loops and declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..program import UNKNOWN, VOID, CType, array_of, common
from ..source import Node, commas
from .base import REASONS, Record, Value, Variable, infix, told
from .calls import Calls, changed_names
from .expressions import number

_PLAIN = ("identifier", "field_expression")
_NOTHING = ("number_literal", "identifier", "null")


class Statements(Calls):
    """Statements, loops and variables."""

    def statement(self, node: Node) -> None:
        """Write a statement; one that is not known becomes a comment and raises."""
        mark, depth = len(self.out.lines), self.out.depth
        kept = self.scopes, self.jumps[:], self.open_labels[:]
        number = len(self.scopes)
        self.statements += 1
        try:
            self.clear()
            self._statement(node)
        except REASONS as reason:
            del self.out.lines[mark:]
            self.out.depth = depth
            self.scopes, self.jumps, self.open_labels = kept
            del self.scopes[number:]
            self.not_translated(node, told(reason))

    def not_translated(self, node: Node, reason: str, *, raises: bool = True) -> None:
        """Write what stands for C that was not translated."""
        self.clear()
        self.notes.append((node.line, reason))
        for text in node.text.split("\n"):
            self.out.add(f"# NOT TRANSLATED: {text.strip() if raises else text.rstrip()}")
        told = f"line {self.out.shown(node.line)}: {reason}"
        quoted = told.replace("\\", "\\\\").replace('"', '\\"')
        raising = f'raise NotTranslatedError("{quoted}")'
        self.out.add(raising if raises else f"# {told}", node.line if raises else 0)

    def _statement(self, node: Node) -> None:
        method: Callable[[Node], None] | None = getattr(self, f"_do_{node.kind}", None)
        if method is None or (node.tree.has_error and node.kind == "expression_statement"):
            raise self.fail(node, f"no rule for {node.kind.replace('_', ' ')}")
        method(node)

    # Blocks.

    def block(self, nodes: list[Node]) -> None:
        """Write statements in a scope of their own, one step further in."""
        depth, mark = self.out.depth, len(self.out.lines)
        self.out.depth += 1
        self.scopes.append({})
        self.sequence(nodes)
        self.scopes.pop()
        self.out.depth = depth
        if all(text.startswith("#") for _, text, _ in self.out.lines[mark:]):
            self.out.add("pass", deeper=1)

    def body(self, node: Node) -> None:
        """Write what a loop or condition governs."""
        self.block(node.named if node.kind == "compound_statement" else [node])

    def _do_compound_statement(self, node: Node) -> None:
        depth = self.out.depth
        self.scopes.append({})
        self.sequence(node.named)
        self.scopes.pop()
        self.out.depth = depth

    def sequence(self, nodes: list[Node]) -> None:
        """Write statements; those before the target of a ``goto`` can be left for it."""
        for index in reversed(range(1, len(nodes))):
            name = nodes[index]["label"].text
            later = [one for node in nodes[index:] for one in node.find("goto_statement")]
            if name in self.labels and all(one["label"].text != name for one in later):
                self.labels.discard(name)
                self.out.add(f"with Label() as {self.safe(name)}:", nodes[index].line)
                depth = self.out.depth
                self.out.depth += 1
                self.open_labels.append(name)
                self.sequence(nodes[:index])
                self.open_labels.pop()
                self.out.depth = depth
                self.sequence([*nodes[index].children[1:], *nodes[index + 1 :]])
                return
        for before, node in zip([Node(None), *nodes], nodes, strict=False):
            if before and node.tree.start_point[0] > before.tree.end_point[0] + 1:
                self.out.blank()
            if node.kind == "comment":
                self.comment(node)
            else:
                self.statement(node)

    def comment(self, node: Node) -> None:
        """Keep a comment of C."""
        text = re.sub(r"^/\*+|\*+/$|^//+[/!<]*", "", node.text)
        for line in text.split("\n"):
            shown = re.sub(r"^\s*\*+ ?", "", line).strip()
            if shown:
                self.out.add(f"# {shown}"[: 98 - 4 * self.out.depth])

    # Conditions.

    def condition(self, node: Node) -> str:
        """The text of a condition; what it does besides is written before it."""
        value = self.truth(node)
        if not self.after:
            return value.text
        self.before += [f"_condition = {value.text}", *self.after]
        self.after = []
        return "_condition"

    def pure_condition(self, node: Node) -> Value | None:
        """A condition, if nothing must be written before or after the line that has it."""
        self.clear()
        self.conditional = 1
        try:
            value = self.truth(node)
            return None if self.before or self.after else value
        except REASONS:
            return None
        finally:
            self.clear()

    def _do_if_statement(self, node: Node, header: str = "") -> None:
        if node["condition"].kind == "condition_clause" and len(node["condition"].children) != 1:
            raise self.fail(node["condition"], "a condition with a declaration")
        header = header or f"if {self.condition(node['condition'])}:"
        self.emit(header, node.line)
        self.body(node["consequence"])
        alternative = node["alternative"]
        if alternative.kind == "else_clause":
            alternative = alternative.children[-1]
        chained = alternative.kind == "if_statement"
        condition = self.pure_condition(alternative["condition"]) if chained else None
        if condition is not None:
            self._do_if_statement(alternative, f"elif {condition.text}:")
        elif alternative:
            self.out.add("else:")
            self.body(alternative)

    # Jumps.

    def _do_labeled_statement(self, node: Node) -> None:
        if node["label"].text in self.labels:
            raise self.fail(node, "a label that is jumped to from elsewhere")
        for one in node.children[1:]:
            self._statement(one)

    def _do_goto_statement(self, node: Node) -> None:
        name = node["label"].text
        self.refuse(name not in self.open_labels, node, "a jump that is not forwards out of blocks")
        self.out.add(f"{self.safe(name)}.goto()", node.line)

    # Exceptions: a run-time error of C++ is a RuntimeError, as are those of the libraries.

    def _do_throw_statement(self, node: Node) -> None:
        thrown = node.children[0] if node.children else Node(None)
        if not thrown:
            self.out.add("raise", node.line)
            return
        name = _EXCEPTIONS.get(thrown.called.removeprefix("std::"), "RuntimeError")
        text = '"an exception of C++"'
        if thrown.arguments if thrown.kind == "call_expression" else ():
            told = self.expression(thrown.arguments[0])
            if told.type.is_text or told.type.kind == "string":
                text = self.as_string(told)
        self.emit(f"raise {name}({text})", node.line)

    def _do_try_statement(self, node: Node) -> None:
        self.out.add("try:", node.line)
        self.body(node["body"])
        for clause in node.children[1:]:
            self._catch(clause)

    def _catch(self, node: Node) -> None:
        caught = next(iter(node["parameters"].children), Node(None))
        name = re.sub(r"\bconst\b|&|std::", "", caught["type"].text).strip()
        python = "(RuntimeError, ValueError)" if name in ("", "exception") else ""
        python = python or _EXCEPTIONS.get(name, "")
        self.refuse(not python, node["parameters"], "an exception of a class of its own")
        self.scopes.append({})
        variable = ""
        if caught["declarator"]:
            kind = CType("exception", "std::exception")
            variable = self.declare(self.declared(kind, caught["declarator"])[0], kind).name
        self.out.add(f"except {python}{f' as {variable}' if variable else ''}:", node.line)
        self.body(node["body"])
        self.scopes.pop()

    def _do_break_statement(self, node: Node) -> None:
        self.out.add("break", node.line)

    def _do_continue_statement(self, node: Node) -> None:
        kinds = [kind for kind, _ in self.jumps]
        if "switch" in kinds[len(kinds) - kinds[::-1].index("loop") :]:
            raise self.fail(node, "a continue within a switch that is also left by break")
        steps = next(steps for kind, steps in reversed(self.jumps) if kind == "loop")
        for one in [*steps, "continue"]:
            self.out.add(one, node.line)

    def _do_return_statement(self, node: Node) -> None:
        result = self.function.result if self.function else VOID
        if not node.children:
            self.out.add("return", node.line)
            return
        returned = node.children[0]
        self.refuse(result.kind == "void", node, "a value of a function without one")
        self.refuse(result.is_cell, node, "a reference to a number")
        value = self.converted(returned, result)
        local = self.lookup(returned.text) if returned.kind == "identifier" else None
        is_copy = result.kind in ("struct", "vector") and not result.reference
        keeps = is_copy and (local is None or local.is_global or local.refers)
        text = self.copied(value, returned) if keeps else value.text
        if self.after:
            self.before += [f"_result = {text}", *self.after]
            self.after, text = [], "_result"
        self.emit(f"return {text}", node.line)

    # Expressions that stand alone.

    def _do_expression_statement(self, node: Node) -> None:
        for child in node.children:
            for one in commas(child):
                self.clear()
                self.alone(one)

    def alone(self, node: Node) -> None:
        """Write an expression whose value is thrown away."""
        line, node = node.line, node.bare
        if node.kind == "cast_expression" and node["type"].text == "void":
            node = node["value"].bare
        printed = self.printed(node)
        if node.kind in ("assignment_expression", "update_expression"):
            self.change(node, used=False)
            self.emit("", line)
        elif node.called == "assert":
            self.emit(f"assert {self.truth(node.arguments[0]).text}", line)
        elif node.kind == "conditional_expression":
            self.emit(f"if {self.condition(node['condition'])}:", line)
            self._one(node["consequence"])
            self.out.add("else:")
            self._one(node["alternative"])
        elif printed:
            self.emit(printed, line)
        elif node.called not in ("free", "std::free") and node.kind not in _NOTHING:
            self.checked = node.kind == "call_expression"
            self.emit(self.expression(node).text, line)

    def _one(self, node: Node) -> None:
        self.out.depth += 1
        self.alone(node)
        self.out.depth -= 1

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
        return read or not function

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
        changed = changed_names(body)
        if any(a == b and (p or q) for a, p in self._kept(names) for b, q in self._kept(changed)):
            return False
        changed |= passed & memory
        if any(re.split(r"\W+", one)[-1] in self.program.functions for one in called):
            changed |= shared & (self.program.changed | self.addressed)
        return not names & changed

    def _kept(self, names: set[str]) -> Iterator[tuple[str, bool]]:
        """The types of memory that names are in or point to, and whether they point to it."""
        for name in names:
            x, records = self.lookup(name), self.program.records.values()
            shared = x.cell if x else name in self.program.addressed_fields
            for kind in [x.type] if x else [one.fields.get(name, VOID) for one in records]:
                if kind.is_pointer or (shared and kind.is_number):
                    memory = kind.pointed if kind.is_pointer else kind
                    yield f"{memory.kind} {memory.bits}", kind.kind == "pointer"

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
            self._loop_over_places(node, name, values, element)
            return
        self.scopes.append({})
        python = self.declare(name, element, refers=kind.reference).name
        self.emit("", node.line)
        copies = element.is_object and not kind.reference
        first = [f"{python} = copied({python})"] if copies else []
        self._loop(f"for {python} in {values.text}:", node, first, [])
        self.scopes.pop()

    def _loop_over_places(self, node: Node, name: str, values: Value, element: CType) -> None:
        """``for (T &name : values)`` whose body changes the elements."""
        right = node["right"]
        self.refuse(name in self.addressed, node, "a loop that takes the address of a number")
        self.refuse(right.kind not in _PLAIN, node, "a loop that changes what a call returns")
        self.scopes.append({})
        index = self.declare("index", UNKNOWN).name
        place = f"{values.at('.')}[{index}]"
        self.scopes[-1][name] = Variable(place, element)
        self.emit("", node.line)
        self._loop(f"for {index} in range(len({values.text})):", node, [], [])
        self.scopes.pop()

    def _do_declaration(self, node: Node) -> None:
        base = self.type_of(node)
        words = node.words("storage_class_specifier")
        for declarator in node.each("declarator"):
            self.clear()
            value = declarator["value"]
            if declarator.kind == "init_declarator":
                declarator = declarator["declarator"]
            name, kind = self.declared(base, declarator)
            self.refuse("::" in name, node, "a static member")
            if kind.kind == "function":
                value = self._arguments(base, declarator)
                if not value:
                    continue
                kind = base
            if "extern" in words and not value:
                continue
            if "static" in words and self.function is not None:
                self._static(node, name, kind, value)
            else:
                self._variable(node, name, kind, value)

    def _arguments(self, base: CType, declarator: Node) -> Node:
        """The arguments in ``vector<T> name(a, b)``, which reads as a function's declaration."""
        listed = declarator["parameters"].children
        is_function = any(self.named_type(one["type"].text) for one in listed) or not listed
        if is_function or self.function is None or base.kind != "vector":
            return Node(None)
        block = self.fragment(f"f{declarator['parameters'].text}", declarator.line)
        return next(block.find("argument_list"))

    def _static(self, node: Node, name: str, kind: CType, value: Node) -> None:
        """A variable of a function that lives on: one of the module with the function's name."""
        if not (kind.is_number or kind.kind == "array") or not self.function:
            raise self.fail(node, f"a static {kind}")
        kept, scopes, addressed = self.out.lines, self.scopes, self.addressed
        self.out.lines, self.scopes = [], scopes[:1]
        long_name = f"{self.function.name}_{name}"
        self.addressed = {long_name} if name in addressed else set()
        try:
            self._variable(node, long_name, kind, value)
            self.statics += [(0, text, line) for _, text, line in self.out.lines]
        finally:
            self.out.lines, self.scopes, self.addressed = kept, scopes, addressed
        self.scopes[-1][name] = self.scopes[0][long_name]

    def _variable(self, node: Node, name: str, kind: CType, value: Node) -> None:
        if kind.kind == "unknown" or kind.reference:
            found = self.peek(value).type if value else UNKNOWN
            if found.kind in ("unknown", "void", "function"):
                raise self.fail(node, "a type that is not known")
            self.refuse(kind.reference and not found.is_object, node, "a reference to a number")
            if kind.reference:
                text = self.expression(value).text
                python = self.declare(name, found.plain, refers=True).name
                self.emit(f"{python} = {text}", node.line)
                return
            kind = found.plain
        made = None
        if kind.kind == "array":
            kind, made = self._array(node, kind, value)
        filled = name in self.program.filled and kind.kind == "pointer"
        is_simple = kind.is_number or kind.kind == "pointer"
        cell = name in self.addressed and is_simple and not filled
        variable = self.declare(name, kind, cell=cell)
        variable.filled = filled
        made = made or self.initial(node, kind, value)
        text = made.text
        if kind.is_integer and kind.const and not cell:
            variable.bounds = made.bounds
        if filled and text in ("", "None"):
            text = self.device_pointer("cudart.DevicePointer", kind.pointed)
        if cell and kind.kind == "enum" and kind.element:
            self.before.append(f"{variable.name} = {self.element(kind)}()")
            self.emit(f"{variable.name}.value = {text}" if text else "", node.line)
            return
        if cell:
            text = self._cell(kind, text)
        elif not text and len(self.scopes) == 1:
            text = "None" if kind.kind == "pointer" else self.convert(number(0), kind).text
        self.emit(f"{variable.name} = {text}" if text else "", node.line)

    def _cell(self, kind: CType, text: str) -> str:
        if kind.kind == "pointer":
            return f"Cell({text})"
        plain = re.fullmatch(r"float32\((-?[\w.+-]+)\)", text)
        return f"{self.element(kind)}({plain[1] if plain else text})"

    # Initial values.

    def initial(self, node: Node, kind: CType, value: Node) -> Value:
        """What a variable is when it is declared; no text if it need not exist yet."""
        if value.kind == "argument_list":
            return self.constructed(node, kind, value.children)
        if value.kind == "initializer_list":
            return self.initialized(node, kind, value.children)
        is_object = kind.is_object or kind.kind == "string"
        if not value:
            return self.constructed(node, kind, []) if is_object else Value("", kind)
        found = self.converted(value, kind)
        if found.text == "None" and kind.kind == "opaque":
            return Value(f"{self.element(kind)}()", kind)
        return Value(self.copied(found, value), kind, found.bounds)

    def _array(self, node: Node, kind: CType, value: Node) -> tuple[CType, Value]:
        """The type of an array, with its length, and its Python."""
        lengths, element = kind.dimensions
        values = ""
        if value.kind == "initializer_list":
            values = self._list(element, value, len(lengths))
            lengths[0] = lengths[0] or str(len(value.children))
        elif value and element.name == "char":
            values = self.expression(value).text
            lengths[0] = lengths[0] or f"strlen({values}) + 1"
        if not all(lengths) or (value and not values and value.kind != "initializer_list"):
            raise self.fail(node, "an array without a length, or made so")
        texts = [self.element(element), *lengths, *([f"values={values}"] if values else [])]
        kind = array_of(element, *lengths)
        return kind, Value(f"array({', '.join(texts)})", kind)

    def _compound_literal_expression(self, node: Node) -> Value:
        kind, value = self.type_of(node["type"]), node["value"]
        if kind.kind == "array":
            kind, made = self._array(node, kind, value)
            return made.typed(kind)
        made = self.initialized(node, kind, value.children)
        held = f"{self.element(kind)}({made.text})" if kind.is_number else made.text
        return replace(made, object=held, target=held)

    def _list(self, element: CType, node: Node, depth: int) -> str:
        """The elements of an array, as a list; nothing if all are zero."""
        texts = []
        for one in node.children:
            if one.kind == "initializer_pair" or (depth > 1 and one.kind != "initializer_list"):
                raise self.fail(node, "an array whose elements are named or not in inner braces")
            if depth > 1:
                texts.append(self._list(element, one, depth - 1) or "[]")
                continue
            value = self.converted(one, element)
            if element.kind == "float" and one.kind != "initializer_list":
                plain = self.peek(one)
                value = plain if plain.constant is not None else value
            texts.append(self.copied(value, one))
        zeros = all(one in ("0", "0.0", "[]") for one in texts)
        return "" if zeros else f"[{', '.join(texts)}]"

    def initialized(self, node: Node, kind: CType, listed: list[Node]) -> Value:
        kind = kind.plain
        record = self.program.records.get(kind.name)
        zeros = all(one.text in ("0", "NULL") for one in listed)
        if kind.kind == "vector":
            texts = [self.copied(self.converted(one, kind.pointed), one) for one in listed]
            return Value(f"Vector({self.element(kind.pointed)}, [{', '.join(texts)}])", kind)
        if record and not zeros:
            pairs = zip(listed, record.fields.items(), strict=False)
            texts = [self._member(record, one, *member) for one, member in pairs]
            return Value(f"{kind.element}({', '.join(texts)})", kind)
        if kind.is_object:
            return self.constructed(node, kind, [] if zeros else listed)
        self.refuse(len(listed) > 1, node, f"a {kind} from a list")
        return self.converted(listed[0], kind) if listed else self.convert(number(0), kind)

    def _member(self, record: Record, node: Node, name: str, kind: CType) -> str:
        prefix = ""
        if node.kind == "initializer_pair":
            name = node["designator"].text.lstrip(".")
            prefix, node = f"{self.safe_field(name)}=", node["value"]
            kind = record.fields[name]
        if kind.kind == "array" and node.kind == "initializer_list":
            lengths, element = kind.dimensions
            return prefix + (self._list(element, node, len(lengths)) or "[]")
        return prefix + self.copied(self.converted(node, kind), node)

    def field_kind(self, name: str, kind: CType) -> str:
        """What `Struct.fields` says of a field."""
        lengths, element = kind.dimensions
        if lengths:
            return f"({', '.join([self.element(element), *lengths])})"
        text = self.element(kind)
        celled = name in self.program.addressed_fields and not kind.is_object
        return f"cell({text})" if celled and kind.kind != "string" else text


_EXCEPTIONS = {"runtime_error": "RuntimeError"} | dict.fromkeys(
    ("logic_error", "invalid_argument", "domain_error", "length_error", "out_of_range"),
    "ValueError",
)
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_GROWING = ("push_back", "pop_back", "resize", "clear")


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
