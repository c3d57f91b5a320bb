"""Write ``raw/functions.pyi``: what type checkers and editors know of each C function."""

from __future__ import annotations

import re
import textwrap

from . import cuda_types
from .model import CType, Direction, Function, Headers, Parameter, Passing
from .text import LINE_LENGTH, banner, dunder_all, import_from, python_type

_BODY = """
The same declarations as in ``functions.py`` for type checkers and editors: the types are those of
``argument_types``.
"""

_INTS = {"int", "unsigned int", "int32_t", "uint32_t", "int64_t", "size_t", "unsigned long long"}
_REALS = {"float", "double"}
_HOST = {
    Passing.DEVICE_ARRAY: "DeviceMemory",
    Passing.DEVICE_MEMORY: "DeviceMemory",
    Passing.HOST_MEMORY: "HostMemory",
    Passing.HOST_SCALAR: "HostScalar",
    Passing.LABELLED: "Labelled",
}
_FOREIGN = {"cudaStream_t": "Stream", "cudaGraph_t": "CudaGraph", "cudnnCallback_t": "Callback"}
# ctypes has one class at run time for what its stubs take for two.
_RESULTS = {"size_t": "int", "char": "str", "void": "None"}


def emit_stub(headers: Headers) -> str:
    """The stub; it is made of the other generated files too, which must be written before."""
    emitter = _Emitter(headers)
    body = "".join(f"\n{emitter.function(function)}" for function in headers.functions)
    top = banner(headers.version, "The functions", _BODY)
    names = dunder_all(function.name for function in headers.functions)
    checks = "# ruff: noqa: E501, RUF022\n"  # tables in docstrings are as wide as C's names
    return checks + top + _imports(headers, body) + body + "\n" + names


def _imports(headers: Headers, body: str) -> str:
    body = re.sub(r'""".*?"""', "", body, flags=re.DOTALL)
    words = set(re.findall(r"\w+", body))
    enums = {enum.name for enum in headers.enums}
    declared = {d.name for d in (*headers.handles, *headers.structs)}
    declared |= cuda_types.NAMES
    accepted = set(_HOST.values()) | set(_FOREIGN.values())
    declared_lines = re.findall(r"^def .*|^    \w+: .*,$", body, re.MULTILINE)
    accepted |= set(re.findall(r"\b([A-Z]\w+)\b", " ".join(declared_lines))) - {"None"}
    return (
        import_from("ctypes", {w for w in words if w.startswith("c_")} | _CALLBACK & words)
        + "\n"
        + import_from(".argument_types", accepted & words)
        + import_from(".enums", words & enums)
        + import_from(".function", {"declared"})
        + import_from(".types", words & declared)
    )


_CALLBACK = {"_CFunctionType"}


class _Emitter:
    def __init__(self, headers: Headers) -> None:
        self.enums = {enum.name for enum in headers.enums} | {"libraryPropertyType"}
        self.structs = {struct.name for struct in headers.structs}
        self.handles = {handle.name for handle in headers.handles} | set(cuda_types.HANDLES)

    def function(self, function: Function) -> str:
        from cudnn_ctypes.raw.describe import docstring

        parameters = [f"{p.name}: {self._accepted(p)}" for p in function.parameters]
        result = _RESULTS.get(function.result.base, function.result.base)
        head = f"def {function.name}({', '.join(parameters)}) -> {result}:"
        if len(head) > LINE_LENGTH:
            lines = "".join(f"    {each},\n" for each in parameters)
            head = f"def {function.name}(\n{lines}) -> {result}:"
        text = textwrap.indent(f'"""{docstring(function.name)}\n"""', "    ")
        return f"@declared\n{head}\n{text}\n"

    def _accepted(self, parameter: Parameter) -> str:
        """What Python passes for a parameter, in the words of ``raw/argument_types.py``."""
        base = parameter.ctype.base
        match parameter.passing:
            case Passing.VALUE:
                if base in self.handles and base not in _FOREIGN:
                    null = "Nullable" in parameter.words
                    return f"{'Descriptor' if null else 'Handle'}[{base}]"
                return self._value(base)
            case Passing.POINTER:
                return self._pointer(parameter.ctype, parameter.direction is Direction.IN)
            case Passing.ARRAY:
                return self._array(base, parameter.direction is Direction.IN)
        assert parameter.passing is not None
        return _HOST[parameter.passing]

    def _value(self, base: str) -> str:
        if base in _INTS:
            return "Int"
        if base in _REALS:
            return "Real"
        if base in _FOREIGN:
            return _FOREIGN[base]
        if base in self.enums:
            return f"EnumValue[{base}]"
        raise NotImplementedError(f"a value of type {base}")

    def _pointer(self, ctype: CType, reads: bool) -> str:
        base = ctype.base
        if base in self.enums:
            return f"EnumPointer[{base}]"
        if base in self.handles:
            return f"NewHandle[{base}]"
        if reads:
            return f"StructPointer[{base}]"
        return f"Pointer[{self._stored(ctype)}]"

    def _array(self, base: str, reads: bool) -> str:
        if base in self.enums:
            return f"EnumArrayOf[{base}]" if reads else f"EnumPointer[{base}]"
        if base in _INTS:
            return f"{'IntArray' if reads else 'FilledIntArray'}[{python_type(base)}]"
        return f"FilledArray[{python_type(base)}]"

    def _stored(self, ctype: CType) -> str:
        if ctype.base == "cudnnCallback_t":
            return "_CFunctionType"
        return "c_void_p" if ctype.pointers == 2 else python_type(ctype.base)
