"""Write ``raw/functions.py``: one annotated declaration per C function."""

from __future__ import annotations

import re
import textwrap

from . import cuda_types
from .model import CType, Direction, Enum, Function, Headers, Parameter, Passing
from .text import CTYPES, LINE_LENGTH, banner, close, import_from, python_type

_BODY = """
One declaration per C function, with C's names, in the order of the headers. Type checkers read the
annotations as `argument_types` declares their words, and calls as `vocabulary` explains them.
"""

_INTS = {"int", "unsigned int", "int32_t", "uint32_t", "int64_t", "size_t", "unsigned long long"}
_REALS = {"float", "double"}
_FOREIGN = {"cudaStream_t": "Stream", "cudaGraph_t": "CudaGraph", "cudnnCallback_t": "Callback"}
_DIRECTION = {Direction.IN: "", Direction.OUT: "Out", Direction.INOUT: "InOut"}
_FACTS = {
    "ToldBy": "told_by",
    "PerSample": "per_sample",
    "SumOf": "sum_of",
    "Lent": "lent",
    "NeededBy": "needed_by",
    "MayBeUnset": "unset_without",
    "Dense": "dense",
}
"""The facts in ``Annotated`` for words of parameters that name something."""


def emit_functions(headers: Headers) -> str:
    emitter = _Emitter(headers)
    parts: list[str] = []
    header = ""
    for function in headers.functions:
        if function.header != header:
            header = function.header
            parts.append(f"\n\n# --- {header} ---\n" if parts else f"\n# --- {header} ---\n")
        parts.append(f"\n\n{emitter.function(function)}")
    body = "".join(parts)
    top = banner(headers.version, "The functions", _BODY)
    checks = '# ruff: noqa: I001\n# mypy: disable-error-code="empty-body"\n# fmt: off\n'
    return close(checks + top + _imports(headers, emitter) + body + _ALL)


_ALL = '''
FUNCTIONS: dict[str, Function] = {
    name: each for name, each in globals().items() if isinstance(each, Function)
}
"""All functions by C name."""

if not TYPE_CHECKING:  # type checkers take all names that are defined here
    __all__ = [*FUNCTIONS]
'''


def _imports(headers: Headers, emitter: _Emitter) -> str:
    bases = {p.ctype.base for f in headers.functions for p in f.parameters}
    bases |= {f.result.base for f in headers.functions}
    enums = {each for enum in headers.enums for each in (enum.name, *_names(enum))}
    declared = {d.name for d in (*headers.handles, *headers.structs, *headers.callbacks)}
    declared |= cuda_types.NAMES
    unknown = bases - enums - declared - set(CTYPES) - {"void"}
    if unknown:
        raise NotImplementedError(f"types that no header declares: {sorted(unknown)}")
    said = [emitter.annotation(p) for f in headers.functions for p in f.parameters]
    said += [_result(f.result) for f in headers.functions]
    words = {w for text in said for w in re.findall(r"\w+", re.sub(r'".*?"', "", text))}
    accepted = {w for w in words if w[0].isupper()} - enums - declared - {"Annotated", "None"}
    from_ctypes = set(CTYPES.values()) | {"c_char_p", "c_void_p"}
    return (
        import_from("ctypes", words & from_ctypes)
        + import_from("typing", {"Annotated", "TYPE_CHECKING"})
        + "\n"
        + import_from(".argument_types", accepted)
        + import_from(".enums", words & enums)
        + import_from(".function", {"Function", "function"})
        + import_from(".types", words & declared)
        + import_from(".vocabulary", words & {"elements", *_FACTS.values()})
    )


def _names(enum: Enum) -> set[str]:
    return {enumerator.name for enumerator in enum.enumerators}


class _Emitter:
    def __init__(self, headers: Headers) -> None:
        self.enums = {enum.name for enum in headers.enums} | {"libraryPropertyType"}
        self.handles = {handle.name for handle in headers.handles} | set(cuda_types.HANDLES)

    def function(self, function: Function) -> str:
        facts = f'"{function.header}", since="{function.since}"'
        if function.replaced_by:
            facts += f', replaced_by="{function.replaced_by}"'
        elif function.deprecated:
            facts += ", deprecated=True"
        facts += "".join(f', {name}="{value}"' for name, value in function.facts)
        decorator = f"@function({facts})\n"
        if len(decorator) > LINE_LENGTH + 1:
            decorator = f"@function({f'{chr(10)}          '.join(textwrap.wrap(facts, 88))})\n"
        parameters = [f"{p.name}: {self.annotation(p)}" for p in function.parameters]
        result = _result(function.result)
        line = f"def {function.name}({', '.join(parameters)}) -> {result}: ..."
        if len(line) <= LINE_LENGTH:
            return f"{decorator}{line}\n"
        lines = "".join(map(_line, parameters)).removesuffix(",\n")
        end = f") -> {result}: ..."
        if len(lines.rpartition("\n")[2]) + len(end) > LINE_LENGTH:
            end = f",\n{end}"
        return f"{decorator}def {function.name}(\n{lines}{end}\n"

    def annotation(self, parameter: Parameter) -> str:
        """A parameter in the words of ``raw/vocabulary.py``."""
        text = self._accepted(parameter)
        direction = parameter.direction or Direction.IN
        if parameter.passing is Passing.VALUE:
            if parameter.ctype.const:
                text = f"Const[{text}]"
        # What is in points to const unless it says otherwise, and the reverse.
        elif direction is Direction.IN and not parameter.ctype.const:
            text = f"Mutable[{text}]"
        elif direction is not Direction.IN and parameter.ctype.const:
            text = f"Const[{text}]"
        if wrapper := _DIRECTION[direction]:
            text = f"{wrapper}[{text}]"
        facts = []
        if parameter.passing is Passing.DEVICE_ARRAY:
            facts.append(f"elements({_pointee(parameter.ctype)})")
        elif parameter.passing is Passing.ARRAY:
            facts += [f'"{parameter.length}"'] if parameter.length is not None else []
            facts += [parameter.too_long] if parameter.too_long else []
        elif parameter.passing in (Passing.DEVICE_MEMORY, Passing.HOST_SCALAR):
            facts += [f'"{name}"' for name in parameter.described_by]
        for said in parameter.words:
            word, _, named = said.partition(" ")
            if named:
                facts.append(f"{_FACTS[word]}({named})")
            else:
                text = f"{word}[{text}]"
        return f"Annotated[{', '.join((text, *facts))}]" if facts else text

    def _accepted(self, parameter: Parameter) -> str:
        """What Python passes for a parameter."""
        ctype = parameter.ctype
        match parameter.passing:
            case Passing.VALUE:
                return self._value(ctype.base)
            case Passing.POINTER:
                return self._pointer(ctype, parameter.direction is Direction.IN)
            case Passing.ARRAY:
                return self._array(ctype, parameter.direction is Direction.IN)
            case Passing.DEVICE_ARRAY:
                return "DeviceMemory"
        assert parameter.passing is not None
        return parameter.passing.value

    def _value(self, base: str) -> str:
        if base in _FOREIGN:
            return _FOREIGN[base]
        if base in self.handles:
            return f"Handle[{base}]"
        if base in self.enums:
            return f"EnumValue[{base}]"
        if base in _INTS | _REALS:
            return f"{'Int' if base in _INTS else 'Real'}[{python_type(base)}]"
        raise NotImplementedError(f"a value of type {base}")

    def _pointer(self, ctype: CType, reads: bool) -> str:
        if ctype.base == "cudnnCallback_t":
            return "CallbackPointer"
        if ctype.base in self.enums:
            return f"EnumPointer[{ctype.base}]"
        if ctype.base in self.handles:
            return f"NewHandle[{ctype.base}]"
        return f"{'StructPointer' if reads else 'Pointer'}[{_pointee(ctype)}]"

    def _array(self, ctype: CType, reads: bool) -> str:
        if ctype.base in self.enums:
            return f"{'EnumArrayOf' if reads else 'FilledEnumArray'}[{ctype.base}]"
        if ctype.base in _INTS:
            return f"{'IntArray' if reads else 'FilledIntArray'}[{_pointee(ctype)}]"
        return f"FilledArray[{_pointee(ctype)}]"


def _line(parameter: str) -> str:
    line = f"    {parameter},\n"
    if len(line) <= LINE_LENGTH + 1:
        return line
    called = re.fullmatch(r"(.*), (\w+\(.*)", parameter)
    head, last = called.groups() if called else parameter.rpartition(", ")[::2]
    return f"    {head},\n        {last},\n"


def _pointee(ctype: CType) -> str:
    match ctype.base, ctype.pointers:
        case base, 1:
            return python_type(base)
        case "void", 2:
            return "c_void_p"
    raise NotImplementedError(f"a parameter of type {ctype}")


def _result(ctype: CType) -> str:
    match ctype.base, ctype.pointers:
        case "void", 0:
            return "None"
        case "char", 1:
            return "Annotated[str, c_char_p]"
        case "size_t", 0:
            return "Annotated[int, c_size_t]"
        case base, 0:
            return base
    raise NotImplementedError(f"a result of type {ctype}")
