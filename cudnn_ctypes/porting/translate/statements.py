"""Statements of C in Python: blocks, conditions, jumps, and expressions that stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .program import children, descendants, stripped, text_of
from .streams import _bare, _stream_of
from .switches import Switches
from .types import VOID, CType
from .value import REASONS, Untranslatable, Value, told

__all__ = ["Statements"]


class Statements(Switches):
    """Statements but for loops and declarations."""

    def __init__(self, program: Any) -> None:
        super().__init__(program)
        self.labels: set[str] = set()
        self.statements = 0

    def statement(self, node: Any) -> None:
        """Write a statement; one that is not known becomes a comment and raises."""
        mark, depth = len(self.out.lines), self.out.depth
        kept = self.scopes, self.at_line, len(self.scopes), len(self.jumps), len(self.expanding)
        self.statements += 1
        try:
            self._clear()
            self._statement(node)
        except REASONS as reason:
            del self.out.lines[mark:]
            self.out.depth = depth
            self.scopes, self.at_line, *lengths = kept
            states: list[list[Any]] = [self.scopes, self.jumps, self.expanding]
            for state, length in zip(states, lengths, strict=True):
                del state[length:]
            self.not_translated(node, told(reason))

    def not_translated(self, node: Any, reason: str) -> None:
        """Write what stands for C that was not translated."""
        line = self.line(node)
        self.notes.append((line, reason))
        for text in text_of(node).split("\n"):
            self.out.add(f"# NOT TRANSLATED: {text.strip()}")
        shown = reason.replace("\\", "\\\\").replace('"', '\\"')
        self.out.add(f'raise NotTranslatedError("line {self.out.shown(line)}: {shown}")', line)

    def _clear(self) -> None:
        self.before, self.after, self.conditional = [], [], 0

    def _statement(self, node: Any) -> None:
        misread = self.misread_macro_call(node)
        if misread is not None:
            self._alone_at(misread, self.line(node))
            return
        method: Callable[[Any], None] | None = getattr(self, f"_do_{node.type}", None)
        if method is None or (node.has_error and node.type == "expression_statement"):
            raise self.fail(node, f"no rule for {node.type.replace('_', ' ')}")
        method(node)

    misread_macro_call: Callable[[Any], Any]
    """The expression of a macro call that the parser took for a declaration, or None."""

    def _alone_at(self, node: Any, line: int) -> None:
        before, self.at_line = self.at_line, line
        try:
            self._alone(node)
        finally:
            self.at_line = before

    def emit(self, text: str, line: int) -> None:
        """Write a line with what its expressions do before and after."""
        for one in self.before:
            self.out.add(one, line)
        if text:
            self.out.add(text, line)
        for one in self.after:
            self.out.add(one, line)
        self._clear()

    def block(self, nodes: list[Any]) -> None:
        """Write statements in a scope of their own, one step further in."""
        self.out.depth += 1
        depth = self.out.depth
        self.scopes.append({})
        mark = len(self.out.lines)
        self.sequence(nodes)
        self.scopes.pop()
        self.out.depth = depth
        if all(text.startswith("#") for _, text, _ in self.out.lines[mark:]):
            self.out.add("pass")
        self.out.depth -= 1

    def sequence(self, nodes: list[Any]) -> None:
        """Write statements; those before the target of a ``goto`` can be left for it."""
        for index in range(len(nodes) - 1, -1, -1):
            node = nodes[index]
            if self._is_target(nodes, index):
                name = self.safe(self._label(node))
                self.labels.discard(self._label(node))
                self.out.add(f"with Label() as {name}:", self.line(node))
                self.out.depth += 1
                self.sequence(nodes[:index])
                self.out.depth -= 1
                inner = children(node)[1:]
                self.sequence([*inner, *nodes[index + 1 :]])
                return
        previous = None
        for node in nodes:
            if previous is not None and node.start_point[0] > previous.end_point[0] + 1:
                self.out.blank()
            previous = node
            if node.type == "comment":
                self.comment(node)
            else:
                self.statement(node)

    def _is_target(self, nodes: list[Any], index: int) -> bool:
        """Whether statements before this one jump to it, and none after it."""
        node = nodes[index]
        if node.type != "labeled_statement" or self._label(node) not in self.labels or not index:
            return False
        later = [found for one in nodes[index:] for found in descendants(one, "goto_statement")]
        return all(self._label(one) != self._label(node) for one in later)

    def _label(self, node: Any) -> str:
        return text_of(node.child_by_field_name("label"))

    def comment(self, node: Any) -> None:
        """Keep a comment of C."""
        text = re.sub(r"^/\*+|\*+/$|^//+[/!<]*", "", text_of(node))
        for line in text.split("\n"):
            shown = re.sub(r"^\s*\*+ ?", "", line).strip()
            if shown:
                self.out.add(f"# {shown}"[: 98 - 4 * self.out.depth])

    def body(self, node: Any) -> None:
        """Write what a loop or condition governs."""
        if node.type == "compound_statement":
            self.block(list(node.named_children))
        else:
            self.block([node])

    def _do_compound_statement(self, node: Any) -> None:
        depth = self.out.depth
        self.scopes.append({})
        self.sequence(list(node.named_children))
        self.scopes.pop()
        self.out.depth = depth

    def _do_labeled_statement(self, node: Any) -> None:
        if any(
            True
            for one in descendants(self.body_node, "goto_statement")
            if self._label(one) == self._label(node)
        ):
            raise self.fail(node, "a label that is jumped to from elsewhere")
        for one in children(node)[1:]:
            self._statement(one)

    body_node: Any = None

    def _do_throw_statement(self, node: Any) -> None:
        texts = [text_of(one) for one in descendants(node, "string_literal")]
        shown = texts[0] if texts else '"an exception of C++"'
        self.out.add(f"raise RuntimeError({shown})", self.line(node))

    def _do_goto_statement(self, node: Any) -> None:
        name = self._label(node)
        if name not in self.open_labels:
            raise self.fail(node, "a jump that is not forwards out of blocks")
        self.out.add(f"{self.safe(name)}.goto()", self.line(node))

    @property
    def open_labels(self) -> set[str]:
        """Labels whose block is being written."""
        opened = set()
        depth = self.out.depth
        for indent, text, _ in reversed(self.out.lines):
            match = re.fullmatch(r"with Label\(\) as (\w+):", text)
            if match and indent < depth:
                opened.add(match[1].rstrip("_"))
                opened.add(match[1])
            if indent < depth:
                depth = indent
            if text.startswith("def "):
                break
        return opened

    def condition(self, node: Any) -> str:
        """The text of a condition; what it does besides is written before it."""
        value = self.truth(node)
        if self.after:
            self.before.append(f"condition = {value.text}")
            self.before += self.after
            self.after = []
            return "condition"
        return value.text

    def _do_if_statement(self, node: Any, word: str = "if") -> None:
        clause = node.child_by_field_name("condition")
        if clause.type == "condition_clause" and len(children(clause)) != 1:
            raise self.fail(clause, "a condition with a declaration")
        text = self.condition(clause)
        self.emit("", self.line(node))
        self.out.add(f"{word} {text}:", self.line(node))
        self.body(node.child_by_field_name("consequence"))
        alternative = node.child_by_field_name("alternative")
        if alternative is None:
            return
        if alternative.type == "else_clause":
            alternative = children(alternative)[-1]
        if alternative.type == "if_statement" and self._plain_condition(alternative):
            self._do_if_statement(alternative, "elif")
            return
        self.out.add("else:")
        self.body(alternative)

    def _plain_condition(self, node: Any) -> bool:
        """Whether a condition does nothing besides, and is known."""
        try:
            self.truth(node.child_by_field_name("condition"))
            return not self.before and not self.after
        except Untranslatable:
            return False
        finally:
            self._clear()

    def _do_break_statement(self, node: Any) -> None:
        if self.jumps and self.jumps[-1][0] == "flat switch":
            raise self.fail(node, "a break within a case")
        self.out.add("break", self.line(node))

    def _do_continue_statement(self, node: Any) -> None:
        for kind, steps in reversed(self.jumps):
            if kind == "switch":
                raise self.fail(node, "a continue within a switch that is also left by break")
            if kind == "loop":
                for step in steps:
                    self.out.add(step, self.line(node))
                self.out.add("continue", self.line(node))
                return

    def _do_return_statement(self, node: Any) -> None:
        found = children(node)
        if not found:
            self.out.add("return", self.line(node))
            return
        result = self.function.result if self.function else VOID
        if result.kind == "void":
            raise self.fail(node, "a value of a function without one")
        if result.reference and not result.const and not result.is_object:
            raise self.fail(node, "a reference to a number")
        value = self.converted(found[0], result)
        text = value.text
        if self.is_destroyed(result) and not result.reference:
            raise self.fail(node, "an object with a destructor as a result")
        if result.kind == "struct" and found[0].type != "call_expression" and not result.reference:
            local = self.lookup(text_of(found[0])) if found[0].type == "identifier" else None
            text = text if local and not local.is_global else self.copied(value, found[0])
        if self.after:
            self.before.append(f"result = {text}")
            text = "result"
            self.before, self.after = [*self.before, *self.after], []
        self.emit(f"return {text}", self.line(node))

    def copied(self, value: Value, node: Any) -> str:
        """The text of a value that another variable takes."""
        if value.type.kind not in ("struct", "opaque", "vector"):
            return value.text
        inner = stripped(node)
        lvalue = inner.type in (
            "identifier",
            "field_expression",
            "subscript_expression",
            "pointer_expression",
        )
        return f"copied({value.text})" if lvalue and value.text != "None" else value.text

    def _do_expression_statement(self, node: Any) -> None:
        found = children(node)
        if not found:
            return
        for one in _commas(found[0]):
            self._clear()
            self._alone(one)

    def _alone(self, node: Any) -> None:
        line = self.line(node)
        node = _bare(node)
        if node.type == "assignment_expression":
            self._assignment(node, line)
        elif node.type == "update_expression":
            self._update(node, line)
        elif node.type == "call_expression":
            self._call_alone(node, line)
        elif node.type == "delete_expression":
            self._delete(node, line)
        elif node.type == "conditional_expression":
            self._choice(node, line)
        elif _stream_of(node) is not None:
            self._streaming(node, line)
        elif node.type in ("number_literal", "identifier", "null"):
            return
        else:
            self.emit(self.expression(node).text, line)

    def _choice(self, node: Any, line: int) -> None:
        text = self.condition(node.child_by_field_name("condition"))
        self.emit(f"if {text}:", line)
        for part, word in (("consequence", ""), ("alternative", "else:")):
            if word:
                self.out.add(word)
            self.out.depth += 1
            self._alone(node.child_by_field_name(part))
            self.out.depth -= 1

    def _assignment(self, node: Any, line: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))[:-1]
        kind = self.type_only(left)
        if kind.kind == "stream" or (kind.kind == "array"):
            raise self.fail(node, f"assigning to {kind}")
        place = self.place(left)
        value = self.assigned(node, place, operator, right)
        self.note_write(place)
        text = value.text if operator else self.copied(value, right)
        if kind.is_object and text == "None":
            text = f"{self.element(kind)}()"
        if kind.is_object and left.type == "pointer_expression" and self.by_reference_of(left):
            self.emit(f"assign({place.target}, {text})", line)
            return
        if kind.kind == "integer" and kind.signed and _grows(place.target, text):
            text, operator = f"int{kind.bits}({text})", ""
        self._emit_change(node, place.target, text, operator, line)

    def _emit_change(self, node: Any, target: str, text: str, operator: str, line: int) -> None:
        shown = _shortened(target, text, operator)
        if target in text and operator and shown.startswith(f"{target} = "):
            self.require_repeatable(node, target)
        self.emit(shown, line)

    def by_reference_of(self, node: Any) -> bool:
        """Whether ``*p`` is `p` itself in Python."""
        return self.by_reference(self.type_only(children(node)[-1]))

    def _update(self, node: Any, line: int) -> None:
        place = self.place(node.child_by_field_name("argument"))
        operator = text_of(node.child_by_field_name("operator"))[0]
        one = Value("1", CType("integer", "int", 32), constant=1, nonnegative=True, small=True)
        changed = self.convert(self.computed(node, operator, place.read(), one), place.type)
        self.note_write(place)
        self._emit_change(node, place.target, changed.text, operator, line)

    def _call_alone(self, node: Any, line: int) -> None:
        function = node.child_by_field_name("function")
        name = text_of(function)
        arguments = children(node.child_by_field_name("arguments"))
        if name in ("free", "std::free"):
            return
        if name == "assert":
            self.emit(f"assert {self.truth(arguments[0]).text}", line)
            return
        macro = self.program.macros.get(name)
        if macro and macro.parameters is not None and self._is_statement(macro, arguments):
            self.expand_statement(node, macro, [text_of(one) for one in arguments])
            return
        self.checked = True
        value = self.call(node)
        self.emit(value.text, line)

    def _is_statement(self, macro: Any, arguments: list[Any]) -> bool:
        if arguments and self._is_library(arguments[0]) and self.is_check_macro(macro):
            return False
        return (
            bool(re.match(r"(do|if|for|while|switch|return|goto)\b|\{", macro.body))
            or ";" in macro.body
        )

    expand_statement: Callable[[Any, Any, list[str]], None]
    """Write a macro that stands for statements."""

    def _delete(self, node: Any, line: int) -> None:
        if "[" in text_of(node).split(text_of(children(node)[0]))[0]:
            return
        value = self.expression(children(node)[0])
        if self.is_destroyed(value.type.pointed):
            self.emit(f"{value.text}.destroy()", line)


def _commas(node: Any) -> list[Any]:
    if node.type == "comma_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return [*_commas(left), *_commas(right)]
    return [node]


def _shortened(target: str, text: str, operator: str) -> str:
    """``a += b`` for ``a = a + b``."""
    python = "//" if text.startswith(f"{target} // ") else operator
    start = f"{target} {python} "
    if operator and text.startswith(start) and python in ("+", "-", "*", "/", "//", "|", "&", "^"):
        rest = text[len(start) :]
        simple = rest.startswith("(") and rest.endswith(")") and _closes_at_end(rest)
        return f"{target} {python}= {rest[1:-1] if simple else rest}"
    return f"{target} = {text}"


def _closes_at_end(text: str) -> bool:
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth and index + 1 < len(text):
            return False
    return True


def _grows(target: str, text: str) -> bool:
    """Whether a number is multiplied by a constant and stored again, as a hash is."""
    name = re.escape(target)
    factor = rf"(?<![\w.]){name} \* \d|\d \* {name}(?![\w.])|int32\({name} <<"
    return bool(re.search(factor, text))
