"""Calls of functions, and the uses of names that they need to know."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...raw.ctypes_support import OpaquePointer
from ...raw.gone import changed
from .. import program as c
from ..names import RENAMED
from ..program import CType
from ..source import CASTS, Node, Untranslatable
from .base import (
    ALLOCATORS,
    Function,
    Program,
    Value,
    foreign,
    is_library_call,
    of_ctypes,
    raw_parameters,
)
from .operators import ALLOCATION, Operators
from .preprocess import Macro, is_loose

_STATUSES = ("cudnnStatus_t", "cudaError_t", "cublasStatus_t")


def note_uses(root: Node, program: Program) -> None:
    """Note over the whole program what decides how its variables are held."""
    program.addressed, program.addressed_fields = addressed_in(root, program)
    for definition in root.find("function_definition"):
        if not definition["declarator"].text.startswith("main("):
            program.changed |= changed_names(definition)
    _note_indexed(root, program)


def addressed_in(node: Node, program: Program) -> tuple[set[str], set[str]]:
    """Names of variables and of members whose address a part of the program takes."""
    names: set[str] = set()
    fields: set[str] = set()

    def note(taken: Node) -> None:
        taken = taken.bare
        if taken.kind == "identifier":
            names.add(taken.text)
        elif taken.kind == "field_expression":
            fields.add(taken["field"].text)
        while taken.kind == "subscript_expression":
            taken = taken["argument"]
        while taken.kind == "field_expression" and taken.operator == ".":
            taken = taken["argument"]
            names.update([taken.text] if taken.kind == "identifier" else ())

    for one in node.find("pointer_expression"):
        call, index = _call_with(one)
        if one.operator == "&" and not _needs_no_memory(call, index):
            note(one["argument"])
            if is_library_call(call.called):
                taken = one["argument"].bare
                program.filled.add(taken["field"].text or taken.text)
    for one in node.find("init_declarator"):
        if one["declarator"].kind == "reference_declarator":
            note(one["value"])
    for call in node.find("call_expression"):
        last = re.split(r"\W+", call.called)[-1]
        function = program.functions.get(last)
        parameters = function.parameters if function else []
        for argument, parameter in zip(call.arguments, parameters, strict=False):
            if parameter.type.reference and not parameter.type.const:
                note(argument)
    return names, fields


def _call_with(node: Node) -> tuple[Node, int]:
    """The call that a part of the program is an argument of, through casts, and which one."""
    while True:
        above = node.parent
        if above.kind == "argument_list" and above.parent["function"]["name"].text in CASTS:
            above = above.parent
        elif above.kind not in ("cast_expression", "parenthesized_expression"):
            break
        node = above
    if above.kind != "argument_list" or above.parent.kind != "call_expression":
        return Node(None), 0
    return above.parent, above.children.index(node)


def _needs_no_memory(call: Node, index: int) -> bool:
    """Whether a call only reads the number whose address it gets, or makes a new pointer."""
    if call.called in ALLOCATORS:
        return index == 0
    parameters = raw_parameters(call.called) or ()
    if index >= len(parameters):
        return False
    kinds = ("scalar", "array", "host", "labelled")
    return parameters[index].direction == "in" and parameters[index].type.kind in kinds


def _note_indexed(root: Node, program: Program) -> None:
    pointers: dict[str, set[str]] = {}
    for one in root.find("parameter_declaration", "declaration", "field_declaration"):
        for declarator in one.each("declarator"):
            if declarator.kind == "init_declarator":
                declarator = declarator["declarator"]
            if declarator.kind == "pointer_declarator":
                kind = one["type"].text.replace("struct ", "")
                pointers.setdefault(declarator.text.strip("* "), set()).add(kind)
    for one in root.find("subscript_expression", "update_expression", "binary_expression"):
        if one.kind != "binary_expression" or one.operator in ("+", "-"):
            target = one["argument"] or one["left"]
            if target.kind != "binary_expression":  # the sum of a long one is no name
                program.indexed |= pointers.get(target["field"].text or target.text, set())


def changed_names(node: Node) -> set[str]:
    """Names of variables and members that a part of the program may change."""
    found = set()
    for one in node.find("assignment_expression", "update_expression", "pointer_expression"):
        if one.kind == "pointer_expression" and one.operator != "&":
            continue
        target = (one["left"] or one["argument"]).stripped
        while target.kind in ("subscript_expression", "pointer_expression"):
            target = target["argument"].stripped
        if target.kind in ("identifier", "field_expression"):
            found.add(target["field"].text or target.text)
    return found


def is_status_check(function: Node, program: Program) -> bool:
    """Whether a function takes a status, and does nothing where it is success."""
    first = next(function["declarator"].find("parameter_declaration"), Node(None))
    is_status = first["type"].text in _STATUSES
    return is_status and only_checks(function["body"].children, program)


def only_checks(nodes: list[Node], program: Program) -> bool:
    """Whether statements do nothing where the status that they look at is success."""
    for node in nodes:
        if node.kind in ("do_statement", "compound_statement"):
            if not only_checks((node["body"] or node).children, program):
                return False
        elif node.kind == "if_statement":
            on_success = "==" in node["condition"].text
            if on_success and "return" in node["consequence"].text:
                return True
            if on_success or node["alternative"]:
                return False
        elif node.kind == "expression_statement":
            if not all(_only_looks(one.bare, program) for one in node.children):
                return False
        elif node.kind not in ("declaration", "return_statement"):
            return False
    return True


def _only_looks(node: Node, program: Program) -> bool:
    """Whether an expression that stands alone is a call of what checks a status."""
    if node.kind == "conditional_expression":
        nothing = ("cast_expression", "parenthesized_expression", "number_literal")
        return "==" in node["condition"].text and node["consequence"].kind in nothing
    if node.kind != "call_expression":
        return node.kind in ("identifier", "cast_expression")
    macro, function = program.macros.get(node.called), program.functions.get(node.called)
    nested = macro is not None and re.search(r"exit|abort|throw|return", macro.body)
    return node.called == "assert" or bool(nested or (function and function.is_check))


# Functions that return no status.
_RESULTS = dict.fromkeys(
    ("cudnnGetErrorString", "cudaGetErrorString", "cudaGetErrorName", "cublasGetStatusString"),
    c.TEXT,
) | dict.fromkeys(("cudnnGetVersion", "cudnnGetCudartVersion", "cudnnGetMaxDeviceVersion"), c.SIZE)
_STATUS_OF_MODULE = {"raw": "cudnnStatus_t", "v7": "cudnnStatus_t", "cudart": "cudaError_t"}


class Calls(Operators):
    """All calls, and ``switch``."""

    def library_call(self, node: Node, name: str, arguments: list[Node], checked: bool) -> Value:
        """A call of a function; one whose status is thrown away is a checked one."""
        module, function = foreign(name) or ("", None)
        parameters = raw_parameters(name) if module in ("raw", "v7") else None
        if parameters is not None and len(parameters) != len(arguments):
            if module != "raw" or not changed(name):
                raise self.fail(node, f"{name} takes {len(parameters)} arguments")
            module, function, parameters = "v7", None, None  # takes those that it had once, too
        texts = []
        for index, argument in enumerate(arguments):
            if name in ALLOCATORS and not index:
                texts.append(self._fresh_memory(argument, ALLOCATORS[name]))
            else:
                texts.append(self._argument_of(argument, parameters and parameters[index]))
        returns_status = name not in _RESULTS
        if returns_status and not checked and (function is None or hasattr(function, "unchecked")):
            name += ".unchecked"
        status = self.named_type(_STATUS_OF_MODULE.get(module, "cublasStatus_t")) or c.INT
        return Value(f"{module}.{name}({', '.join(texts)})", _RESULTS.get(name, status))

    def _fresh_memory(self, node: Node, kind: str) -> str:
        """The first argument of ``cudaMalloc``: a pointer that is made anew."""
        if node.address_of:
            place = self.place(node.address_of)
        else:
            pointer = self.expression(node.stripped)
            target = f"{pointer.at('.')}[0]"
            place = Value(target, pointer.type.pointed, target=target)
        self.note_write(place)
        allocated = self.device_pointer(kind, place.type.pointed)
        if self.conditional and place.simple:
            return f"byref({place.target} := {allocated})"
        self.refuse(self.conditional, node, "an allocation that only happens sometimes")
        self.before.append(f"{place.target} = {allocated}")
        return f"byref({place.target})"

    def _argument_of(self, node: Node, parameter: Any) -> str:
        """An argument; `parameter` is what cuDNN declares, None for other libraries."""
        kind = parameter.type.kind if parameter else ""
        taken, is_memory = node.address_of, kind in ("labelled", "host")
        if taken:
            return self._address_of(taken, kind, not parameter or parameter.direction == "in")
        value = self.expression(node)
        if value.is_zero and (kind not in ("", "value") or _is_handle(parameter)):
            return "None"
        if kind == "value" and parameter.type.base is not None and value.type.is_number:
            wanted = of_ctypes(parameter.type.base)
            return self.convert(value, wanted).text if wanted.is_number else value.text
        is_list = value.type.pointed.kind == "pointer" and is_memory
        return f"addresses({value.text})" if is_list else value.text

    def _address_of(self, node: Node, kind: str, reads: bool) -> str:
        """An argument ``&node``, for a parameter of a kind (none: one of another library)."""
        place = self.peek(node)
        is_name = node.kind in ("identifier", "field_expression", "compound_literal_expression")
        if reads and place.type.kind == "pointer" and kind in ("labelled", "host"):
            return f"addresses([{self.expression(node).text}])"
        is_made = node.kind == "compound_literal_expression"
        if is_name and reads and place.type.is_number and (is_made or not place.object):
            memory = "c_int" if place.type.kind == "enum" else self.element(place.type)
            forms = {"scalar": "{1}", "array": "[{1}]", "": "byref({0}({1}))"}
            return forms.get(kind, "{0}({1})").format(memory, place.text)
        if is_name and not kind and place.type.is_object:
            return f"byref({place.target})" if place.type.kind == "opaque" else place.target
        if is_name and place.object and not place.type.is_object:
            return place.object if kind else f"byref({place.object})"
        return self.address(node).text

    checked: bool = (
        False  # whether the call that is translated stands where a status is thrown away
    )

    def _call_expression(self, node: Node) -> Value:
        function, arguments = node["function"], node.arguments
        checked, self.checked = self.checked, False
        name = RENAMED.get(function.text, function.text.removeprefix("std::"))
        if any(one.kind == "kernel_call_syntax" for one in node.named):
            raise self.fail(node, "a launch of a kernel")
        if function.text.endswith(">"):
            return self.template_call(node, arguments)
        if function.kind == "field_expression":
            return self.method(node, arguments)
        if function.kind == "parenthesized_expression" and self.named_type(function.bare.text):
            return self.cast(node, arguments[0], self.named_type(function.bare.text) or c.UNKNOWN)
        if function.kind not in ("identifier", "qualified_identifier", "primitive_type"):
            value = self.expression(function)
            self.refuse(value.type.pointed.kind != "function", node, "a call of what is no name")
            return self.pointer_call(node, value, arguments)
        user, variable = self.program.functions.get(name), self.lookup(name)
        if variable is not None and variable.type.pointed.kind == "function":
            return self.pointer_call(node, self.variable(variable), arguments)
        if user and user.is_check and arguments and self._returns_status(arguments[0]):
            return self._checked(arguments[0])
        if user:
            return self.user_call(node, user, arguments)
        if is_library_call(name):
            return self.library_call(node, name, arguments, checked)
        as_type = self.named_type(name)
        if as_type is not None:
            return self.constructed(node, as_type, arguments)
        return self.c_call(node, name, arguments)

    # Functions of the program.

    def pointer_call(self, node: Node, function: Value, arguments: list[Node]) -> Value:
        kind = function.type.pointed
        if len(kind.parameters) != len(arguments) or any(one.reference for one in kind.parameters):
            raise self.fail(node, "a call through this pointer")
        texts = [
            self.converted(*pair).text for pair in zip(arguments, kind.parameters, strict=True)
        ]
        return Value(f"{function.at('.')}({', '.join(texts)})", kind.pointed.plain)

    def user_call(self, node: Node, function: Function, arguments: list[Node]) -> Value:
        self.refuse(function.problem, node, function.problem)
        if not function.has_body or len(arguments) != len(function.parameters):
            raise self.fail(node, "a function without a body, or with other parameters")
        mark = len(self.after)
        texts = [
            self._argument(argument, parameter.type)
            for argument, parameter in zip(arguments, function.parameters, strict=False)
        ]
        shared = {one.name for one in self.scopes[0].values()}
        targets = {re.split(r" \S*= ", one)[0] for one in self.after[mark:]}
        if any(one in shared or not one.isidentifier() for one in targets):
            raise self.fail(node, "an argument that changes what the function may see")
        return Value(f"{function.python}({', '.join(texts)})", function.result.plain)

    def _argument(self, node: Node, wanted: CType) -> str:
        """An argument for a parameter of a function of the program."""
        if not wanted.is_cell:
            return self.converted(node, wanted).text
        place = self.place(node.stripped)
        if not place.object and node.stripped.kind != "subscript_expression":
            raise self.fail(node, "a reference to this")
        return place.object or self.address(node.stripped).text

    def converted(self, node: Node, wanted: CType) -> Value:
        inner = node.stripped
        if wanted.kind == "pointer" and inner.called.removeprefix("std::") in ALLOCATION:
            return self.allocation(inner, node, wanted)
        if inner.kind == "initializer_list":
            return self.initialized(node, wanted, inner.children)
        return self.convert(self.expression(node), wanted)

    # Calls of the libraries raise by themselves, so what checks their statuses is left out.

    def _returns_status(self, node: Node) -> bool:
        name = node.stripped.called
        return is_library_call(name) and name not in _RESULTS

    def _checked(self, node: Node) -> Value:
        self.checked = True
        return self.expression(node.stripped)

    def only_checks(self, macro: Macro, argument: str) -> bool:
        """Whether a macro does nothing but look at the status of a library's function."""
        match = re.fullmatch(r"\s*(\w+)\s*\(.*\)\s*", argument, re.DOTALL)
        if not match or not is_library_call(match[1]) or match[1] in _RESULTS:
            return False
        block = self.fragment(re.sub(r"(?<!#)#\s*(\w+)", r'"\1"', macro.body))
        return bool(block) and only_checks(block.children, self.program)

    # Macros.

    def constant(self, macro: Macro) -> Value:
        """What a macro stands for that is a constant."""
        if macro.name in self.program.refused:
            raise Untranslatable(self.program.refused[macro.name])
        self.spend(len(macro.body) + 100)
        block = self.fragment(f"x = {macro.body}", macro.line)
        value = next(block.find("assignment_expression"))["right"] if block else block
        if not value or is_loose(macro.body):
            raise Untranslatable(f"the macro {macro.name}: {macro.body[:200]}")
        return self.expression(value)

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
            self.jumps.append(("switch", []))
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
        if wrapped:
            self.jumps.pop()
            self.out.add("break")
            self.out.depth = depth


def _is_handle(parameter: Any) -> bool:
    base = parameter.type.base if parameter else None
    return isinstance(base, type) and issubclass(base, OpaquePointer)


_LEAVING = ("break_statement", "return_statement", "continue_statement", "goto_statement")
_LOOPS = ("for_statement", "while_statement", "do_statement", "switch_statement", "for_range_loop")


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
