"""Read the cuDNN headers with libclang into `model.Headers`.

libclang is used for what it knows exactly (types, values, macros); the facts that the headers keep
in comments are read by `comments`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clang.cindex import (
    AvailabilityKind,
    Cursor,
    CursorKind,
    Index,
    TranslationUnit,
    Type,
    TypeKind,
)

from cudnn_ctypes.raw.headers import COMMENT, HEADERS

from . import comments
from .include import include_flags, wheel_include
from .model import (
    Callback,
    CType,
    Enum,
    Enumerator,
    Function,
    Handle,
    Headers,
    Macro,
    Parameter,
    Struct,
)


def parse(cudnn_include: Path | None = None) -> Headers:
    """Everything that the cuDNN headers in a folder (default: the installed wheel's) declare."""
    folder = cudnn_include or wheel_include("nvidia.cudnn")
    present = [name for name in HEADERS if (folder / name).exists()]
    source = "".join(f"#include <{name}>\n" for name in present)
    unit = Index.create().parse(
        "all.c",
        args=[*include_flags(folder), "-DCUDNN_WARN_DEPRECATED"],
        unsaved_files=[("all.c", source)],
        options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
    )
    errors = [str(d) for d in unit.diagnostics if d.severity >= d.Error]
    if errors:
        raise SyntaxError("the headers do not parse:\n" + "\n".join(errors))
    return _Reader(folder, present).read(unit)


class _Reader:
    """Walks one translation unit, header by header."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.texts = {str(folder / name): (folder / name).read_bytes() for name in names}
        self.found = Headers()

    def read(self, unit: TranslationUnit) -> Headers:
        by_file: dict[str, list[Cursor]] = {file: [] for file in self.texts}
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if file and (group := by_file.get(file.name)) is not None:
                group.append(cursor)
        for file, cursors in by_file.items():
            self._read_header(Path(file).name, self.texts[file], cursors)
        numbers = {macro.name: macro.tokens for macro in self.found.macros}
        parts = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
        self.found.version = ".".join(numbers[part][0] for part in parts)
        return self.found

    def _read_header(self, header: str, text: bytes, cursors: list[Cursor]) -> None:
        declarations = [c for c in cursors if c.kind != CursorKind.MACRO_INSTANTIATION]
        declarations = [c for c in declarations if c.kind != CursorKind.INCLUSION_DIRECTIVE]
        for cursor, before in _with_comments(declarations, text):
            match cursor.kind:
                case CursorKind.FUNCTION_DECL:
                    self.found.functions.append(_function(cursor, header, before))
                case CursorKind.TYPEDEF_DECL:
                    self._typedef(cursor, header, before, text)
                case CursorKind.MACRO_DEFINITION:
                    self._macro(cursor, header)

    def _typedef(self, cursor: Cursor, header: str, before: str, text: bytes) -> None:
        facts = _facts(cursor, header, before)
        aliased = cursor.underlying_typedef_type.get_canonical()
        if aliased.kind == TypeKind.ENUM:
            members = _enumerators(aliased.get_declaration(), header, text)
            self.found.enums.append(Enum(*facts, members))
        elif aliased.kind == TypeKind.RECORD:
            fields = tuple((f.spelling, _ctype(f.type)) for f in aliased.get_fields())
            self.found.structs.append(Struct(*facts, fields))
        elif aliased.kind != TypeKind.POINTER:
            raise NotImplementedError(f"typedef {cursor.spelling} = {aliased.spelling}")
        elif (pointee := aliased.get_pointee()).kind == TypeKind.FUNCTIONPROTO:
            arguments = [c for c in cursor.get_children() if c.kind == CursorKind.PARM_DECL]
            parameters = tuple((a.spelling, _ctype(a.type)) for a in arguments)
            result = _ctype(pointee.get_result())
            self.found.callbacks.append(Callback(*facts, result, parameters))
        else:
            struct = None if pointee.kind == TypeKind.VOID else pointee.get_declaration().spelling
            self.found.handles.append(Handle(*facts, struct))

    def _macro(self, cursor: Cursor, header: str) -> None:
        name_token, *rest = cursor.get_tokens()
        name, tokens = name_token.spelling, [token.spelling for token in rest]
        if not tokens or not name.startswith("CUDNN_") or "__attribute__" in tokens:
            return
        parameters = None
        takes_parameters = rest[0].extent.start.offset == name_token.extent.end.offset
        if tokens[0] == "(" and takes_parameters:
            close = tokens.index(")")
            parameters = tuple(token for token in tokens[1:close] if token != ",")
            tokens = tokens[close + 1 :]
        self.found.macros.append(Macro(name, header, tuple(tokens), parameters))


def _with_comments(cursors: list[Cursor], text: bytes) -> Iterator[tuple[Cursor, str]]:
    """Each declaration with the comments between it and the one before it."""
    end = 0
    for cursor in sorted(cursors, key=lambda c: (c.extent.start.offset, -c.extent.end.offset)):
        start = cursor.extent.start.offset
        # The struct or enum inside a typedef starts within it; its comments are the typedef's.
        before = text[end:start].decode() if start > end else ""
        if cursor.kind in (CursorKind.ENUM_DECL, CursorKind.STRUCT_DECL):
            continue
        yield cursor, _comments(before)
        end = max(end, cursor.extent.end.offset)


def _comments(text: str, *, after: bool = False) -> str:
    """The comments in C source, or those that describe the code `after` which they stand."""
    return "\n".join(c for c in COMMENT.findall(text) if not after or c.startswith("/**<"))


def _function(cursor: Cursor, header: str, before: str) -> Function:
    tags = comments.directions(before)
    parameters = tuple(
        Parameter(
            p.spelling,
            _ctype(p.type),
            is_array=p.type.kind == TypeKind.INCOMPLETEARRAY,
            tag=tags.pop(p.spelling, None),
        )
        for p in cursor.get_arguments()
    )
    if tags:
        raise ValueError(f"{cursor.spelling}: @param tags of no parameter: {sorted(tags)}")
    return Function(*_facts(cursor, header, before), _ctype(cursor.result_type), parameters)


def _enumerators(declaration: Cursor, header: str, text: bytes) -> tuple[Enumerator, ...]:
    cursors = [c for c in declaration.get_children() if c.kind == CursorKind.ENUM_CONSTANT_DECL]
    names = {cursor.spelling for cursor in cursors}
    ends = [cursor.extent.start.offset for cursor in cursors[1:]]
    ends.append(declaration.extent.end.offset)
    members = []
    for cursor, end in zip(cursors, ends, strict=True):
        # A comment before an enumerator may tell the version of something it mentions.
        after = _comments(text[cursor.extent.end.offset : end].decode(), after=True)
        tokens = [token.spelling for token in cursor.get_tokens()]
        alias = tokens[-1] if "=" in tokens and tokens[-1] in names else None
        members.append(Enumerator(*_facts(cursor, header, after), cursor.enum_value, alias))
    return tuple(members)


def _facts(
    cursor: Cursor, header: str, comment: str
) -> tuple[str, str, str | None, bool, str | None]:
    """What the fields of a `Declaration` are, from the declaration and its comment."""
    deprecated = cursor.availability == AvailabilityKind.DEPRECATED
    deprecated |= comments.is_deprecated(comment)
    since, replaced_by = comments.since(comment), comments.replacement(comment)
    return cursor.spelling, header, since, deprecated, replaced_by


def _ctype(ctype: Type) -> CType:
    if ctype.kind == TypeKind.CONSTANTARRAY:
        return CType(ctype.element_type.spelling, extent=ctype.element_count)
    pointers = 0
    while ctype.kind in (TypeKind.POINTER, TypeKind.INCOMPLETEARRAY):
        pointers += 1
        is_array = ctype.kind == TypeKind.INCOMPLETEARRAY
        ctype = ctype.element_type if is_array else ctype.get_pointee()
    return CType(ctype.spelling.removeprefix("const "), pointers, ctype.is_const_qualified())
