"""Statements of C in Python: blocks, conditions, jumps, and expressions that stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..c_types import VOID
from ..syntax import Node, commas
from .preprocess import brackets
from .switches import Switches
from .values import REASONS, Value, told

__all__ = ["Statements"]

_NOTHING = ("number_literal", "identifier", "null")


class Statements(Switches):
    """Statements but loops and declarations."""

    def statement(self, node: Node) -> None:
        """Write a statement; one that is not known becomes a comment and raises."""
        mark, depth = len(self.out.lines), self.out.depth
        kept = self.scopes, self.jumps[:], self.expanding[:], self.open_labels[:]
        number = len(self.scopes)
        self.statements += 1
        try:
            self.clear()
            self._statement(node)
        except REASONS as reason:
            del self.out.lines[mark:]
            self.out.depth = depth
            self.scopes, self.jumps, self.expanding, self.open_labels = kept
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
        misread = self._misread(node)
        if misread:
            self.alone(misread)
            return
        method: Callable[[Node], None] | None = getattr(self, f"_do_{node.kind}", None)
        if method is None or (node.tree.has_error and node.kind == "expression_statement"):
            raise self.fail(node, f"no rule for {node.kind.replace('_', ' ')}")
        method(node)

    def _misread(self, node: Node) -> Node:
        """The expression of a macro call that the parser took for a declaration."""
        text = node.text.strip("; \n")
        match = re.match(r"(\w+)\s*\(", text)
        macro = self.program.macros.get(match[1]) if match else None
        wrong = node.kind in ("declaration", "macro_type_specifier", "ERROR")
        wrong = wrong or (node.kind == "expression_statement" and node.tree.has_error)
        if not (match and macro and macro.is_function and wrong) or self.expanding:
            return Node(None)
        if brackets(text, match.end() - 1)[0] != len(text) - 1:
            return Node(None)
        block = self.fragment(f"x = {text}", node.line)
        return next(block.find("assignment_expression"))["right"] if block else block

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

    def _do_throw_statement(self, node: Node) -> None:
        text = next((one.text for one in node.find("string_literal")), '"an exception of C++"')
        self.out.add(f"raise RuntimeError({text})", node.line)

    def _do_break_statement(self, node: Node) -> None:
        if self.jumps and self.jumps[-1][0] == "flat switch":
            raise self.fail(node, "a break within a case")
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
        if self.is_destroyed(result) and not result.reference:
            raise self.fail(node, "an object with a destructor as a result")
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
        macro = self.program.macros.get(node.called)
        printed = self.printed(node)
        if node.kind in ("assignment_expression", "update_expression"):
            self.change(node, used=False)
            self.emit("", line)
        elif macro is not None and self.is_statement(macro, node.arguments):
            self._expanded(node, macro.name)
        elif node.called == "assert":
            self.emit(f"assert {self.truth(node.arguments[0]).text}", line)
        elif node.kind == "delete_expression":
            self.refuse("[" not in node.text, node, "a single object on the heap")
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

    def _expanded(self, node: Node, name: str) -> None:
        macro = self.program.macros[name]
        block = self.body_of(macro, [one.text for one in node.arguments], node)
        self.expanding.append(name)
        self.scopes.append({})
        for one in block.children:
            self.clear()
            self._statement(one)
        self.scopes.pop()
        self.expanding.pop()
