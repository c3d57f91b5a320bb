"""The first reading of a program: which functions and classes it has, whose address is taken."""

from __future__ import annotations

import re
from typing import Any

from .checks import called
from .libraries import is_library_call, raw_parameters
from .library_calls import ALLOCATORS
from .loops import changed_names, read_from_streams
from .program import Function, Program, children, descendants, text_of

__all__ = ["addressed_in", "never_negative", "note_uses", "qualifiers"]


def addressed_in(node: Any, program: Program) -> tuple[set[str], set[str]]:
    """Names of variables and of members whose address a part of the program takes."""
    names: set[str] = set()
    fields: set[str] = set()
    for one in descendants(node, "pointer_expression", "call_expression"):
        if one.type == "pointer_expression":
            if text_of(one).startswith("&") and not _needs_no_memory(one):
                _note(children(one)[-1], names, fields)
                call = _call_with(one)
                if call is not None and is_library_call(called(call)):
                    _note(children(one)[-1], program.filled, program.filled)
            continue
        arguments = children(one.child_by_field_name("arguments"))
        for function in _functions_named(called(one), program):
            for argument, parameter in zip(arguments, function.parameters, strict=False):
                if parameter.type.reference and not parameter.type.const:
                    _note(argument, names, fields)
    return names, fields


def _functions_named(name: str, program: Program) -> list[Function]:
    """The functions and methods that a call may mean."""
    last = re.split(r"\W+", name)[-1]
    methods = [one.methods[last] for one in program.records.values() if last in one.methods]
    return [*methods, *([program.functions[name]] if name in program.functions else [])]


def _note(node: Any, names: set[str], fields: set[str]) -> None:
    while node.type == "parenthesized_expression":
        node = children(node)[0]
    if node.type == "identifier":
        names.add(text_of(node))
        fields.add(text_of(node))  # it may be a member of the class that the function is in
    elif node.type == "field_expression":
        fields.add(text_of(node.child_by_field_name("field")))


def _call_with(node: Any) -> Any:
    """The call that a part of the program is an argument of, through casts and parentheses."""
    while node.parent is not None and node.parent.type in (
        "cast_expression",
        "parenthesized_expression",
    ):
        node = node.parent
    call = node.parent.parent if node.parent is not None else None
    if call is None or node.parent.type != "argument_list" or call.type != "call_expression":
        return None
    if called(call).startswith(("reinterpret_cast", "static_cast", "const_cast")):
        return _call_with(call)
    return call


def _needs_no_memory(node: Any) -> bool:
    """Whether a call only reads the number whose address it gets, or makes a new pointer."""
    call = _call_with(node)
    if call is None:
        return False
    arguments = children(call.child_by_field_name("arguments"))
    index = next(number for number, one in enumerate(arguments) if one.end_byte >= node.end_byte)
    if called(call) in ALLOCATORS:
        return index == 0
    parameters = raw_parameters(called(call))
    if parameters is None or index >= len(parameters):
        return False
    parameter = parameters[index]
    kinds = ("scalar", "array", "host", "labelled")
    return parameter.direction == "in" and parameter.type.kind in kinds


def note_uses(root: Any, program: Program) -> None:
    """Note over the whole program what decides how its variables are held."""
    names, fields = addressed_in(root, program)
    program.addressed |= names
    program.addressed_fields |= fields
    for definition in descendants(root, "function_definition"):
        declarator = definition.child_by_field_name("declarator")
        if declarator is not None and not text_of(declarator).startswith("main("):
            program.changed |= changed_names(definition)


def qualifiers(node: Any) -> str:
    """The C text of a declaration before its body."""
    body = node.child_by_field_name("body")
    whole = text_of(node)
    return whole[: body.start_byte - node.start_byte] if body is not None else whole


def never_negative(node: Any, addressed: set[str]) -> set[str]:
    """Names in a function to which nothing below zero is assigned, as far as can be seen."""
    values: dict[str, list[Any]] = {}
    for one in descendants(node, "init_declarator", "assignment_expression", "update_expression"):
        if one.type == "init_declarator":
            target, value = (one.child_by_field_name(part) for part in ("declarator", "value"))
        elif one.type == "assignment_expression":
            target, value = (one.child_by_field_name(part) for part in ("left", "right"))
            if text_of(one.child_by_field_name("operator")) in ("-=", "<<=", "~=", "^="):
                value = None
        else:
            target, value = one.child_by_field_name("argument"), None
            if text_of(one.child_by_field_name("operator")) == "++":
                continue
        values.setdefault(text_of(target), []).append(value)
    for name in read_from_streams(node):
        values.setdefault(name, []).append(None)
    for one in descendants(node, "parameter_declaration", "for_range_loop"):
        values.pop(text_of(one.child_by_field_name("declarator")).lstrip("*& "), None)
    found = {name for name in values if name not in addressed and name.isidentifier()}
    while True:
        kept = {name for name in found if all(_not_below_zero(one, found) for one in values[name])}
        if kept == found:
            return found
        found = kept


def _not_below_zero(node: Any, names: set[str]) -> bool:
    if node is None:
        return False
    if node.type in ("number_literal", "sizeof_expression"):
        return not text_of(node).startswith("-")
    if node.type == "identifier":
        return text_of(node) in names
    if node.type == "parenthesized_expression":
        return _not_below_zero(children(node)[0], names)
    if node.type == "binary_expression":
        operator = text_of(node.child_by_field_name("operator"))
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        if operator in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
            return True
        return operator in "+*/%>>&" and all(_not_below_zero(one, names) for one in sides)
    return False
