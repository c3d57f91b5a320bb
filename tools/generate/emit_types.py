"""Write ``raw/types.py``: opaque handles, structs, the callback type, and what CUDA lends."""

from __future__ import annotations

from . import cuda_types
from .model import Callback, CType, Declaration, Handle, Headers, Struct
from .text import (
    CTYPES,
    RUFF,
    banner,
    class_statement,
    close,
    dunder_all,
    import_from,
    origin,
    python_type,
)

_BODY = """
Each handle points to a C struct of its own that only the library knows, so one kind of handle is
no other.
"""


def emit_types(headers: Headers) -> str:
    enums = {enum.name for enum in headers.enums}
    parts = [
        RUFF,
        banner(headers.version, "The handles, structs and other types", _BODY),
        _imports(headers, enums),
        "\n# --- CUDA ---\n\n\n",
        _library_property(),
    ]
    for name, struct in cuda_types.HANDLES.items():
        parts.append("\n\n" + _handle(Handle(name, "", None, False, None, struct)))
    parts.append("\n\n# --- handles ---\n")
    parts += ["\n\n" + _handle(handle) for handle in headers.handles]
    parts.append("\n\n# --- structs ---\n")
    parts += ["\n\n" + _struct(struct) for struct in headers.structs]
    parts.append("\n\n# --- callbacks ---\n")
    parts += ["\n" + _callback(callback, enums) for callback in headers.callbacks]
    declarations = [*headers.handles, *headers.structs, *headers.callbacks]
    lent = ["libraryPropertyType", *cuda_types.LIBRARY_PROPERTIES, *cuda_types.HANDLES]
    parts.append("\n" + dunder_all([*lent, *(d.name for d in declarations)]))
    return close("".join(parts))


def _imports(headers: Headers, enums: set[str]) -> str:
    types = [ctype for struct in headers.structs for _, ctype in struct.fields]
    from_ctypes = {python_type(t.base) for t in types if t.base in CTYPES}
    from_ctypes |= {"Array", "CFUNCTYPE", "POINTER", "Structure", "c_char_p", "c_int", "c_void_p"}
    if any(handle.struct is None for handle in headers.handles):
        from_ctypes.add("c_byte")
    return (
        import_from("ctypes", from_ctypes)
        + "\n"
        + import_from(".ctypes_support", {"CudnnEnum", "CudnnStructure", "OpaquePointer", "field"})
        + import_from(".enums", {t.base for t in types if t.base in enums})
        + import_from(".origins", {"declare"})
    )


def _library_property() -> str:
    properties = cuda_types.LIBRARY_PROPERTIES
    members = "".join(f"    {name} = {value}\n" for name, value in properties.items())
    names = "".join(f"{name} = libraryPropertyType.{name}\n" for name in properties)
    return f"class libraryPropertyType(CudnnEnum):\n{members}\n\n{names}"


def _handle(handle: Handle) -> str:
    keywords = [f'struct="{handle.struct}"'] if handle.struct else []
    keywords += origin(handle) if handle.header else []
    keywords += ["must_be_set=True"] if handle.must_be_set else []
    keywords += ["may_be_half_set=True"] if handle.may_be_half_set else []
    body = " ..." if handle.struct else "\n    _type_ = c_byte  # void * in C"
    return f"{class_statement(handle.name, 'OpaquePointer', keywords)}{body}\n"


def _struct(struct: Struct) -> str:
    if not struct.fields:
        return f"class {struct.name}(Structure): ...\n\n{_declared(struct)}"
    lines = "".join(
        f"    {name}: {_read(ctype)} = field({_field(ctype)})\n" for name, ctype in struct.fields
    )
    return f"{class_statement(struct.name, 'CudnnStructure', origin(struct))}\n{lines}"


def _declared(declaration: Declaration) -> str:
    return f'declare("{declaration.name}", {", ".join(origin(declaration))})\n'


def _field(ctype: CType) -> str:
    if ctype.pointers:
        if (ctype.base, ctype.pointers) != ("void", 1):
            raise NotImplementedError(f"a struct field of type {ctype}")
        return "c_void_p"
    base = python_type(ctype.base)
    return base if ctype.extent is None else f"{base} * {ctype.extent}"


def _read(ctype: CType) -> str:
    """What a member of a struct reads as."""
    if ctype.pointers:
        return "int | None"
    base = python_type(ctype.base)
    if ctype.extent is not None:
        return f"Array[{base}]"
    return {"c_float": "float", "c_double": "float"}.get(base, "int" if base[:2] == "c_" else base)


def _callback(callback: Callback, enums: set[str]) -> str:
    prototype = ", ".join(_declaration(ctype, name) for name, ctype in callback.parameters)
    parameters = ", ".join(_callback_type(ctype, enums) for _, ctype in callback.parameters)
    result = "None" if callback.result.base == "void" else python_type(callback.result.base)
    return (
        f"# {callback.result} (*)({prototype})\n"
        f"{callback.name} = CFUNCTYPE({result}, {parameters})\n"
        f'{callback.name}.__name__ = "{callback.name}"\n'
        f"{_declared(callback)}"
    )


def _declaration(ctype: CType, name: str) -> str:
    return f"{ctype}{name}" if ctype.pointers else f"{ctype} {name}"


def _callback_type(ctype: CType, enums: set[str]) -> str:
    match ctype.base, ctype.pointers:
        case "void", 1:
            return "c_void_p"
        case "char", 1:
            return "c_char_p"
        case base, 0:
            return "c_int" if base in enums else python_type(base)
        case base, 1:
            return f"POINTER({python_type(base)})"
    raise NotImplementedError(f"a callback parameter of type {ctype}")
