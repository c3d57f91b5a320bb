"""Layer 1 says of C what a C compiler says: values, sizes, offsets, prototypes, completeness."""

from __future__ import annotations

import ctypes
import inspect
import re

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw import constants, enums, types
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer

ENUMS = [c for c in vars(enums).values() if inspect.isclass(c) and issubclass(c, CudnnEnum)]
ENUMS = [cls for cls in ENUMS if cls is not CudnnEnum]
STRUCTS = [c for c in vars(types).values() if inspect.isclass(c) and issubclass(c, CudnnStructure)]
STRUCTS = [cls for cls in STRUCTS if cls is not CudnnStructure]
HANDLES = [c for c in vars(types).values() if inspect.isclass(c) and issubclass(c, OpaquePointer)]
HANDLES = [cls for cls in HANDLES if cls is not OpaquePointer]


def test_counts():
    assert len(raw.FUNCTIONS) == 239
    assert len(ENUMS) == 73
    assert sum(len(cls.__members__) for cls in ENUMS) == 960
    assert len(STRUCTS) == 7


def test_every_enumerator_has_the_value_of_c(header_compiler):
    members = [(name, int(m)) for cls in ENUMS for name, m in cls.__members__.items()]
    members += [(name, int(m)) for name, m in raw.libraryPropertyType.__members__.items()]
    program = "".join(f'printf("{n} %lld\\n", (long long) {n});\n' for n, _ in members)
    assert header_compiler.run(program) == [f"{name} {value}" for name, value in members]


def test_every_enumerator_is_a_name_of_the_module():
    for cls in ENUMS:
        for name, member in cls.__members__.items():
            assert getattr(raw, name) is member


def test_no_enumerator_and_no_enum_is_missing(header_compiler):
    text = header_compiler.preprocessed()
    bodies = re.findall(r"\benum\b[^{;]*\{(.*?)\}([^;]*);", text, re.DOTALL)
    names = {name for body, _ in bodies for name in re.findall(r"\b(\w+)\s*(?:=|,|$)", body)}
    assert {name for name in names if name.startswith("CUDNN_")} == {
        name for cls in ENUMS for name in cls.__members__
    }
    assert {typedef.split()[0] for _, typedef in bodies} == {cls.__name__ for cls in ENUMS}


def test_enums_are_as_wide_as_int(header_compiler):
    program = "".join(f'printf("%zu\\n", sizeof({cls.__name__}));\n' for cls in ENUMS)
    assert set(header_compiler.run(program)) == {str(ctypes.sizeof(ctypes.c_int))}


def test_structs_have_the_size_and_offsets_of_c(header_compiler):
    expected, program = [], ""
    for cls in STRUCTS:
        name = cls.__name__
        expected.append(f"{name} {ctypes.sizeof(cls)}")
        program += f'printf("{name} %zu\\n", sizeof({name}));\n'
        for field, (stored, ctype, *_) in zip(cls._cfields_, cls._fields_, strict=True):
            offset, size = getattr(cls, stored).offset, ctypes.sizeof(ctype)
            expected.append(f"{name}.{field[0]} {offset} {size}")
            program += f'printf("{name}.{field[0]} %zu %zu\\n", offsetof({name}, {field[0]}), '
            program += f"sizeof((({name} *) 0)->{field[0]}));\n"
    assert header_compiler.run(program) == expected


def test_no_struct_member_is_missing(header_compiler):
    # An initializer for one member too many is an error, and one that names a member twice too.
    for cls in STRUCTS:
        count = len(cls._cfields_)
        values = ", ".join("{0}" if "reserved" in name else "0" for name, _ in cls._cfields_)
        assert header_compiler.errors(f"{cls.__name__} all = {{{values}}};") == ""
        assert "excess elements" in header_compiler.errors(
            f"{cls.__name__} more = {{{values}, 0}};"
        )
        assert count == len({name for name, _ in cls._cfields_})


def test_handles_point_to_the_structs_of_c(header_compiler):
    lines = []
    for cls in HANDLES:
        struct = cls._type_.__name__
        pointee = "void" if cls is raw.cudnnBackendDescriptor_t else f"struct {struct}"
        same = f"__builtin_types_compatible_p({cls.__name__}, {pointee} *)"
        lines.append(f'_Static_assert({same}, "{cls.__name__}");\n')
    assert header_compiler.errors("".join(lines)) == ""
    assert len({cls._type_ for cls in HANDLES}) == len(HANDLES)


def test_the_callback_has_the_type_of_c(header_compiler):
    declared = "void callback(cudnnSeverity_t, void *, const cudnnDebug_t *, const char *);\n"
    assert header_compiler.errors(declared + "cudnnCallback_t same = callback;") == ""
    callback = raw.cudnnCallback_t
    assert callback._restype_ is None
    assert callback._argtypes_ == (
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.POINTER(raw.cudnnDebug_t),
        ctypes.c_char_p,
    )


def test_macros_have_the_value_of_c(header_compiler):
    names = [n for n in constants.__all__ if not callable(getattr(constants, n))]
    program = "".join(f'printf("{n} %.17g\\n", (double) {n});\n' for n in names)
    printed = [line.split() for line in header_compiler.run(program)]
    assert [name for name, _ in printed] == names
    for name, value in printed:  # the installed headers may be a patch release ahead
        said, patch = getattr(raw, name), name.endswith(("_PATCH", "_PATCHLEVEL", "CUDNN_VERSION"))
        assert said <= float(value) < said + 100 if patch else said == float(value), name


def test_macros_with_parameters_compute_what_c_computes(header_compiler):
    codes = [0, 1, 999, 1000, 2007, 3014, 5004]
    program = "".join(
        f'printf("%d %d %d\\n", CUDNN_STATUS_CATEGORY({code}), CUDNN_STATUS_SPECIFIC_ERROR({code}),'
        f" (int) CUDNN_STATUS_FULL_ERROR_CODE(2000, {code % 10}));\n"
        for code in codes
    )
    ours = [
        f"{raw.CUDNN_STATUS_CATEGORY(c)} {raw.CUDNN_STATUS_SPECIFIC_ERROR(c)} "
        f"{int(raw.CUDNN_STATUS_FULL_ERROR_CODE(2000, c % 10))}"
        for c in codes
    ]
    assert header_compiler.run(program) == ours


def test_no_numeric_macro_is_missing(header_compiler):
    defined = set()
    for header in header_compiler.folder.glob("cudnn*.h"):
        if not header.stem.endswith("_v9"):
            text = header.read_text()
            defined |= set(re.findall(r"^#define (CUDNN_\w+)(?:\(.*?\))?[ \t]+\S", text, re.M))
    # Attributes of the compiler.
    defined -= {"CUDNN_DEPRECATED", "CUDNN_DEPRECATED_ENUM"}
    assert defined - {"CUDNNWINAPI"} == set(constants.__all__)


def test_prototypes_redeclare_the_functions_of_c(header_compiler):
    prototypes = "".join(f"{f.prototype};\n" for f in raw.FUNCTIONS.values())
    assert header_compiler.errors(prototypes) == ""


def test_prototypes_are_the_text_of_c(header_compiler):
    """A compiler ignores the const of a value; a reader does not."""
    text = header_compiler.preprocessed()
    declarations = re.findall(r"(\w[\w\s]*?[\s*]+)(cudnn\w+)\s*(\([^()]*\))\s*;", text)
    declared = {name: spelled(result + parameters) for result, name, parameters in declarations}
    ours = {
        name: spelled(function.prototype.replace(f"{name}(", "(", 1))
        for name, function in raw.FUNCTIONS.items()
    }
    assert ours == declared


def spelled(declaration: str) -> list[str]:
    """The tokens of a declaration, an array written as a pointer, without the compiler's words."""
    declaration = re.sub(r"__attribute__\s*\(\(.*?\)\)|\bextern\b", "", declaration)
    declaration = re.sub(r"(\w+)\s*\[\]", r"*\1", declaration)
    declaration = re.sub(r"\bunsigned\b(?!\s+(int|long)\b)", "unsigned int", declaration)
    declaration = re.sub(r"\b(\w+_t)\s+const\b", r"const \1", declaration)
    return re.findall(r"\w+|[^\w\s]", declaration)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cudnnSetTensorNdDescriptor", "const int dimA", "int dimA"),
        ("cudnnGetVersion", "size_t", "int"),
        ("cudnnConvolutionForward", "cudnnFilterDescriptor_t", "cudnnTensorDescriptor_t"),
    ],
)
def test_a_wrong_prototype_would_be_noticed(header_compiler, name, old, new):
    prototype = raw.FUNCTIONS[name].prototype
    assert old in prototype
    wrong = prototype.replace(old, new, 1)
    assert "conflicting types" in header_compiler.errors(f"{wrong};\n")


def test_no_function_is_missing(header_compiler):
    text = header_compiler.preprocessed()
    assert set(re.findall(r"\b(cudnn\w+)\s*\(", text)) - {"cudnnCallback_t"} == set(raw.FUNCTIONS)


def test_functions_name_the_header_that_declares_them(header_compiler):
    for function in raw.FUNCTIONS.values():
        text = (header_compiler.folder / function.header).read_text()
        assert re.search(rf"\b{function.__name__}\s*\(", text)
