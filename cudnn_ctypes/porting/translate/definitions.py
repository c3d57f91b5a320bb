"""Functions, classes and enums of C in Python."""

from __future__ import annotations

import re
from typing import Any

from .collect import addressed_in, never_negative, qualifiers
from .program import Function, Parameter, Record, children, descendants, text_of
from .reading import Reading
from .value import Untranslatable

__all__ = ["Definitions"]


class Definitions(Reading):
    """What stands outside of functions, written."""

    def write(self, node: Any) -> None:
        """Write what stands outside of functions."""
        if node.type in ("linkage_specification", "namespace_definition"):
            body = node.child_by_field_name("body")
            inner = list(body.named_children) if body.type.endswith("_list") else [body]
            for one in inner:
                self.write(one)
        elif node.type == "comment":
            self.comment(node)
        elif node.type == "function_definition":
            self._write_function(node)
        elif node.type in ("struct_specifier", "class_specifier", "enum_specifier"):
            self._write_type(node)
        elif node.type == "type_definition":
            self._write_type(node.child_by_field_name("type"))
        elif node.type == "template_declaration":
            self._write_template(node)
        elif node.type == "declaration":
            kind = node.child_by_field_name("type")
            if kind is not None and kind.type.endswith("_specifier"):
                self._write_type(kind)
            if not re.search(r"__(constant|device|managed)__", text_of(node)):
                self.statement(node)
        elif node.type == "expression_statement" and not self._is_empty(node):
            self.not_translated_definition(node, "a macro outside of functions")
        elif node.type == "ERROR":
            self.not_translated(node, "what the parser does not understand")

    def _is_empty(self, node: Any) -> bool:
        """Whether what stands outside of functions is a macro that stands for nothing."""
        call = next(descendants(node, "call_expression"), None)
        name = text_of(call.child_by_field_name("function") if call is not None else node)
        macro = self.program.macros.get(name.strip("; \n"))
        return name.strip("; \n") == "" or (macro is not None and not macro.body)

    def _write_template(self, node: Any) -> None:
        inner = children(node)[-1]
        if inner.type == "function_definition":
            found = re.search(r"__(global|device)__", qualifiers(inner))
            if found:
                return
        self.spaced()
        self.not_translated_definition(node, "a template")

    def not_translated_definition(self, node: Any, reason: str) -> None:
        """Write C code as a comment; whoever calls it raises."""
        line = self.line(node)
        self.notes.append((line, reason))
        for text in text_of(node).split("\n"):
            self.out.add(f"# NOT TRANSLATED: {text.rstrip()}")
        self.out.add(f"# line {self.out.shown(line)}: {reason}")

    def spaced(self) -> None:
        """Two empty lines, above the comments that belong to what follows."""
        at = len(self.out.lines)
        while at and self.out.lines[at - 1][1].startswith("#") and not self.out.lines[at - 1][0]:
            at -= 1
        while at and not self.out.lines[at - 1][1]:
            del self.out.lines[at - 1]
            at -= 1
        self.out.lines[at:at] = [(0, "", 0), (0, "", 0)]

    def _write_type(self, node: Any) -> None:
        if node.type == "enum_specifier":
            self._write_enum(node)
            return
        body = node.child_by_field_name("body")
        if body is None:
            return
        record = next((one for one in self.program.records.values() if one.node == node), None)
        if record is None:
            return
        self.spaced()
        if record.problem:
            self.not_translated_definition(node, record.problem)
            return
        self._write_record(record)

    def _do_enum_specifier(self, node: Any) -> None:
        self._write_enum(node)

    def _write_enum(self, node: Any) -> None:
        body = node.child_by_field_name("body")
        previous = "-1"
        for one in children(body) if body is not None else []:
            name, value = (one.child_by_field_name(part) for part in ("name", "value"))
            shown = self.safe(text_of(name))
            if value is not None:
                text = self.expression(value).text
            elif previous.lstrip("-").isdigit():
                text = str(int(previous) + 1)
            else:
                text = f"{previous} + 1"
            self.out.add(f"{shown} = {text}", self.line(one))
            self.program.constants[text_of(name)] = shown
            previous = text if text.lstrip("-").isdigit() else shown

    def _write_record(self, record: Record) -> None:
        self.out.add(f"class {self.safe(record.name)}(Struct):", self.line(record.node))
        self.out.depth += 1
        try:
            shown = [
                f'"{self.safe_field(name)}": {self.field_kind(kind, name)}'
                for name, kind in record.fields.items()
            ]
            self.out.add(f"fields = {{{', '.join(shown)}}}")
        except Untranslatable as reason:
            record.problem = str(reason)
            self.program.types.pop(record.name, None)
            self.out.add(f"# NOT TRANSLATED: {reason}")
            self.notes.append((self.line(record.node), str(reason)))
        self._write_initializer(record)
        for method in record.methods.values():
            if method.node.child_by_field_name("body") is not None:
                self.out.add("")
                self._write_body(method, method.node, record)
        self._write_destructor(record)
        self.out.depth -= 1

    def _write_destructor(self, record: Record) -> None:
        """Write ``destroy``: the destructor, and those of the members in reverse order."""
        members = [name for name, kind in record.fields.items() if self.is_destroyed(kind)]
        written = record.destructor
        if written and written.node.child_by_field_name("body") is not None:
            self.out.add("")
            self._write_body(written, written.node, record)
        elif members:
            self.out.add("")
            self.out.add("def destroy(self):")
        for name in reversed(members):
            self.out.lines.append(
                (self.out.depth + 1, f"self.{self.safe_field(name)}.destroy()", 0)
            )

    def _write_initializer(self, record: Record) -> None:
        if not record.constructors and not record.defaults:
            return
        if len(record.constructors) > 1:
            self.notes.append((self.line(record.node), "several constructors"))
            return
        self.out.add("")
        if record.constructors:
            made = record.constructors[0]
            self._write_body(made, made.node, record)
            return
        self.out.add("def __init__(self):")
        self.out.depth += 1
        self._begin(record, record.node)
        self._write_defaults(record)
        self._end()
        self.out.depth -= 1

    def _write_defaults(self, record: Record) -> None:
        self.out.add("super().__init__()")
        for name, value in record.defaults.items():
            self._clear()
            self._store_field(record, name, [value], self.line(value))

    def _store_field(self, record: Record, name: str, values: list[Any], line: int) -> None:
        kind = record.fields[name]
        place = self._field_place("self", name, kind)
        if len(values) == 1 and not (kind.is_object and values[0].type == "initializer_list"):
            if kind.kind in ("vector", "struct") and self.type_only(values[0]).kind != kind.kind:
                text = self.constructed(values[0].parent, kind, values).text
            else:
                text = self.copied(self.converted(values[0], kind), values[0])
        elif values:
            text = self.constructed(values[0].parent, kind, values).text
        else:
            return
        self.emit(f"{place.target} = {text}", line)

    def _begin(self, record: Record | None, node: Any) -> None:
        self.record = record
        self.scopes = [self.scopes[0], {}]
        self.addressed, _ = addressed_in(node, self.program)
        self.never_negative = never_negative(node, self.addressed)
        self.global_writes, self.jumps = set(), []
        self._clear()

    def _end(self) -> None:
        self.record, self.function = None, None
        self.scopes = self.scopes[:1]
        self.addressed = set(self.program.addressed)

    def _write_function(self, node: Any) -> None:
        declarator = node.child_by_field_name("declarator")
        name = re.sub(r"\(.*", "", text_of(declarator), flags=re.DOTALL).strip("*& \n")
        function = self.program.functions.get(name)
        if "::" in name and name.split("::")[0].split()[-1] not in self.program.records:
            self.spaced()
            self.not_translated_definition(node, "a method of a class that is not known")
            return
        if "::" in name or function is None or function.kind != "host":
            return
        if function.is_check and function.problem:
            return  # calls of libraries that it looks at raise by themselves
        self.spaced()
        if function.problem:
            self.not_translated_definition(node, function.problem)
            return
        self._write_body(function, node, None)

    def _write_body(self, function: Function, node: Any, record: Record | None) -> None:
        self._begin(record, node)
        self.function = function
        self.body_node = node
        is_constructor = record is not None and function in record.constructors
        line = self.line(node)
        prologue: list[str] = []
        start = len(self.out.lines)
        names = ["self"] if record else []
        names += [self._parameter(one, node, prologue) for one in function.parameters]
        python = "__init__" if is_constructor else function.python
        self.out.add(f"def {python}({', '.join(names)}):", line)
        self.labels = {self._label(one) for one in descendants(node, "goto_statement")}
        for macro in self.program.macros.values():
            self.labels |= set(re.findall(r"\bgoto (\w+)", macro.body))
        self.out.depth += 1
        mark = len(self.out.lines)
        for text in prologue:
            self.out.add(text)
        if is_constructor and record:
            self._write_defaults(record)
            self._write_field_initializers(record, node)
        depth = self.out.depth
        self.statics = []
        self.sequence(list(node.child_by_field_name("body").named_children))
        self.out.depth = depth
        if all(text.startswith("#") or not text for _, text, _ in self.out.lines[mark:]):
            self.out.add("pass")
        if self.global_writes:
            self.out.lines.insert(
                mark, (depth, f"global {', '.join(sorted(self.global_writes))}", 0)
            )
        self.out.depth -= 1
        self.out.lines[start:start] = [(self.out.depth, *one) for one in self.statics]
        self._end()

    def _parameter(self, parameter: Parameter, node: Any, prologue: list[str]) -> str:
        kind = parameter.type
        by_cell = kind.reference and not kind.is_object and not kind.const
        addressed = parameter.name in self.addressed and (kind.is_number or kind.kind == "pointer")
        variable = self.declare(parameter.name or "_", kind.plain(), cell=by_cell or addressed)
        if addressed and not by_cell:
            prologue.append(f"{variable.name} = {self._celled(kind.plain(), variable.name)}")
        by_value = kind.kind in ("struct", "vector") and not kind.reference
        if by_value and _is_changed(parameter.name, node):
            prologue.append(f"{variable.name} = copied({variable.name})")
        if parameter.default is not None:
            return f"{variable.name}={self.converted(parameter.default, kind).text}"
        return variable.name

    def _write_field_initializers(self, record: Record, node: Any) -> None:
        for group in [one for one in node.children if one.type == "field_initializer_list"]:
            for one in children(group):
                name, values = children(one)[0], children(one)[1]
                self._clear()
                if text_of(name) not in record.fields:
                    raise self.fail(one, "a member that is not known")
                try:
                    self._store_field(record, text_of(name), children(values), self.line(one))
                except Untranslatable as reason:
                    self._clear()
                    self.not_translated(one, str(reason))


def _is_changed(name: str, node: Any) -> bool:
    """Whether a function changes an argument that it has by value."""
    body = node.child_by_field_name("body")
    kinds = ("assignment_expression", "update_expression", "pointer_expression", "call_expression")
    for one in descendants(body, *kinds):
        if one.type == "call_expression":
            if re.match(rf"{name}\.(push_back|resize|clear|pop_back|assign)\b", text_of(one)):
                return True
            continue
        target = one.child_by_field_name("left") or one.child_by_field_name("argument")
        if re.match(rf"\(*{name}\b", text_of(target)):
            return True
    return False
