"""The first reading of what stands outside of functions: types, classes, functions."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import Any

from .checks import is_status_check
from .collect import qualifiers
from .declarations import Declarations
from .program import Function, Parameter, Record, children, text_of
from .types import UNKNOWN, VOID, CType
from .value import REASONS, Untranslatable, told

__all__ = ["Reading"]


class Reading(Declarations):
    """What the program declares."""

    def read(self, node: Any) -> None:
        """Take up what a declaration outside of functions adds to the program."""
        if node.type in ("linkage_specification", "namespace_definition"):
            body = node.child_by_field_name("body")
            inner = children(body) if body.type.endswith("_list") else [body]
            for one in inner:
                self.read(one)
            return
        with contextlib.suppress(*REASONS):  # whoever uses the name is told
            self._read(node)

    def _read(self, node: Any) -> None:
        if node.type == "type_definition":
            self._read_type_definition(node)
        elif node.type in ("struct_specifier", "class_specifier", "enum_specifier"):
            self._read_type(node, text_of(node.child_by_field_name("name")))
        elif node.type == "function_definition":
            self._read_function(node)
        elif node.type == "template_declaration":
            self._read_template(node)
        elif node.type == "alias_declaration":
            name = text_of(node.child_by_field_name("name"))
            self.program.types[name] = self.type_of(node.child_by_field_name("type"))
        elif node.type == "declaration":
            kind = node.child_by_field_name("type")
            if kind.type in ("struct_specifier", "class_specifier", "enum_specifier"):
                name = text_of(kind.child_by_field_name("name"))
                if kind.child_by_field_name("body") is not None:
                    self._read_type(kind, name or f"Struct{self.line(kind)}")

    def _read_type_definition(self, node: Any) -> None:
        kind = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        if kind.type in ("struct_specifier", "enum_specifier", "class_specifier"):
            tag = text_of(kind.child_by_field_name("name"))
            alias = text_of(declarators[0])
            if alias.isidentifier() and tag and kind.type != "enum_specifier":
                named = CType("struct", alias, element=self.safe(alias))
                self.program.types[tag] = self.program.types[alias] = named
            if kind.child_by_field_name("body") is not None:
                self._read_type(kind, alias if alias.isidentifier() else tag)
            if alias in self.program.types:
                self.program.types.setdefault(tag, self.program.types[alias])
        base = None
        for declarator in declarators:
            name = text_of(declarator)
            if name in self.program.types:
                continue
            base = base or self._base_type(kind)
            name, made = self.declared(base, declarator)
            self.program.types[name] = made

    def _read_type(self, node: Any, name: str) -> None:
        if node.type == "enum_specifier":
            if name:
                self.program.types[name] = CType("integer", "int", 32, element="c_int")
            return
        if node.child_by_field_name("body") is None or not name:
            return
        python = self.safe(name)
        self.program.types[name] = CType("struct", name, element=python)
        record = Record(name, node=node)
        self.program.records[name] = record
        if any(one.type == "base_class_clause" for one in node.children):
            record.problem = "inheritance"
            del self.program.types[name]
            return
        try:
            for member in children(node.child_by_field_name("body")):
                self._read_member(record, member)
        except REASONS as reason:
            record.problem = told(reason)
            del self.program.types[name]

    def _read_member(self, record: Record, node: Any) -> None:
        if "virtual" in text_of(node).split("(")[0].split():
            raise self.fail(node, "a virtual function")
        if node.type in ("access_specifier", "friend_declaration"):
            return
        if node.type in ("function_definition", "declaration"):
            self._read_method(record, node)
            return
        if node.type != "field_declaration":
            raise self.fail(node, "a member that is not known")
        if _function_declarator(node) is not None:
            self._read_method(record, node)
            return
        base = self.type_of(node)
        if "static" in text_of(node).split():
            raise self.fail(node, "a static member")
        for declarator in node.children_by_field_name("declarator"):
            name, kind = self.declared(base, declarator)
            if kind.reference:
                raise self.fail(node, "a member that is a reference")
            record.fields[name] = kind.plain()
        default = node.child_by_field_name("default_value")
        if default is not None:
            record.defaults[name] = default

    def _read_method(self, record: Record, node: Any, *, deleted: bool = False) -> None:
        text = text_of(node)
        if re.search(r"=\s*(delete|default)\s*;?$", text):
            return
        declarator = _function_declarator(node)
        if declarator is None:
            raise self.fail(node, "an operator of a class")
        name = text_of(declarator.child_by_field_name("declarator")).split("::")[-1].strip()
        if name.startswith("operator") or "operator" in name:
            raise self.fail(node, "an operator of a class")
        has_body = node.child_by_field_name("body") is not None
        if name.startswith("~"):
            record.destructor = Function("destroy", [], VOID, node, python="destroy")
            return
        if name == record.name:
            made = Function(name, self._parameters(declarator), VOID, node, python=self.safe(name))
            known = [
                index
                for index, one in enumerate(record.constructors)
                if [p.type for p in one.parameters] == [p.type for p in made.parameters]
            ]
            if known and has_body:
                made.parameters = _with_defaults(made, record.constructors[known[0]])
                record.constructors[known[0]] = made
            elif not known:
                record.constructors.append(made)
            return
        made = self._signature(node, name)
        if name in record.methods:
            if not has_body:
                return
            if record.methods[name].node.child_by_field_name("body") is not None:
                raise self.fail(node, "several functions of one name")
            made.parameters = _with_defaults(made, record.methods[name])
        record.methods[name] = made

    def _signature(self, node: Any, name: str) -> Function:
        declarator = node.child_by_field_name("declarator")
        base = self.type_of(node)
        while declarator.type in ("pointer_declarator", "reference_declarator"):
            is_pointer = declarator.type == "pointer_declarator"
            base = CType("pointer", to=base) if is_pointer else replace(base, reference=True)
            inner = declarator.child_by_field_name("declarator")
            declarator = inner if inner is not None else children(declarator)[-1]
        return Function(name, self._parameters(declarator), base, node, python=self.safe(name))

    def _parameters(self, declarator: Any) -> list[Parameter]:
        found = []
        for one in children(declarator.child_by_field_name("parameters")):
            if text_of(one) == "void":
                continue
            if one.type not in ("parameter_declaration", "optional_parameter_declaration"):
                raise self.fail(one, "a parameter that is not known")
            inner = one.child_by_field_name("declarator")
            kind = self.type_of(one)
            name = ""
            if inner is not None:
                name, kind = self.declared(kind, inner)
            if kind.kind == "array":
                kind = CType("pointer", to=kind.pointed)
            found.append(Parameter(name, kind, one.child_by_field_name("default_value")))
        return found

    def _read_function(self, node: Any) -> None:
        head = qualifiers(node)
        declarator = node.child_by_field_name("declarator")
        name = re.sub(r"\(.*", "", text_of(declarator), flags=re.DOTALL).strip("*& \n")
        if "::" in name:
            self._read_outside(node, name)
            return
        kind = "kernel" if "__global__" in head else "device"
        kind = kind if re.search(r"__(global|device)__", head) else "host"
        if "__host__" in head:
            kind = "host"
        try:
            made = self._signature(node, name)
        except REASONS as reason:
            made = Function(name, [], UNKNOWN, node, python=self.safe(name), problem=told(reason))
        made.kind = kind
        made.is_check = is_status_check(node, self.program)
        if name in self.program.functions and self.program.functions[name].node.type == node.type:
            made.problem = "several functions of one name"
            self.program.functions[name].problem = made.problem
        self.program.functions[name] = made

    def _read_outside(self, node: Any, name: str) -> None:
        record = self.program.records.get(name.split("::")[0].split()[-1])
        if record is None or record.problem:
            return
        self._read_method(record, node)

    def _read_template(self, node: Any) -> None:
        inner = children(node)[-1]
        if inner.type == "function_definition":
            head = qualifiers(inner)
            declarator = inner.child_by_field_name("declarator")
            name = re.sub(r"\(.*", "", text_of(declarator), flags=re.DOTALL).strip("*& \n")
            on_gpu = re.search(r"__(global|device)__", head)
            kind = "kernel" if "__global__" in head else "device" if on_gpu else "host"
            made = Function(name, [], UNKNOWN, node, kind, self.safe(name), problem="a template")
            if kind == "kernel":
                made.problem = ""
                found = children(
                    inner.child_by_field_name("declarator").child_by_field_name("parameters")
                )
                made.parameters = [Parameter("", self._or_unknown(one)) for one in found]
            self.program.functions[name] = made

    def _or_unknown(self, node: Any) -> CType:
        try:
            return self._parameters_of(node)
        except Untranslatable:
            return CType("unknown", text_of(node.child_by_field_name("type")))

    def _parameters_of(self, node: Any) -> CType:
        kind = self.type_of(node)
        declarator = node.child_by_field_name("declarator")
        return self.declared(kind, declarator)[1] if declarator is not None else kind


def _function_declarator(node: Any) -> Any:
    """The part of a declaration that says that it is one of a function."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type in (
        "pointer_declarator",
        "reference_declarator",
    ):
        inner = declarator.child_by_field_name("declarator")
        declarator = inner if inner is not None else children(declarator)[-1]
    return (
        declarator if declarator is not None and declarator.type == "function_declarator" else None
    )


def _with_defaults(new: Function, old: Function) -> list[Parameter]:
    return [
        Parameter(one.name, one.type, one.default if one.default is not None else before.default)
        for one, before in zip(new.parameters, old.parameters, strict=False)
    ]
