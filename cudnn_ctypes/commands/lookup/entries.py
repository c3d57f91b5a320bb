"""Entries: the meanings of a name, with declaration, facts, explanation and related names."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import cudnn_ctypes

from ... import errors, raw
from ...evidence.known_faults import known_faults
from ...raw import constants, enums, functions, hints, types
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw.attributes import ATTRIBUTES, ENUMS, KINDS, Attribute, kind_name, owner_and_short_name
from ...raw.ctypes_support import CudnnEnum
from ...raw.describe import aligned, documentation, enum_of, facts_of, uses
from ...raw.faults import Fault
from ...raw.function import Function
from ...raw.gone import OLD_STATUS_NUMBERS, changed, gone_names
from ...raw.gone import find as find_gone
from ...raw.gone import near as near_names
from ...raw.headers import COMMENT, HEADERS, include_folder
from ..examples import folder


@dataclass(frozen=True)
class Explanation:
    """A header's explanation of a name.

    Attributes
    ----------
    header : Path
        The file.
    version : str
        The cuDNN version: "9.28.0".
    text : str
    parameters : dict of str to str
        The texts about parameters or fields, by name.
    """

    header: Path
    version: str
    text: str
    parameters: dict[str, str]


def explanation(name: str, folder: Path | None = None) -> Explanation | None:
    """The explanation of a C name in a folder's headers (default: the installed ones).

    None if there are no headers, or if they do not explain the name.
    """
    folder = folder or include_folder()
    if folder is None:
        return None
    for path, text, code in _texts(folder):
        if name not in code:
            continue
        comments = list(_comments_about(name, text, code))
        if any(comments):
            said, parameters = _plain(comments)
            if said or parameters:
                return Explanation(path, _version(folder), said, parameters)
    return None


# `field;  /* ... */` of a struct and `ENUMERATOR = 1,  /**< ... */` of an enum.
_MEMBER = re.compile(
    r"(\w+)(?:\[\w+\])?(?:;[ \t]*/\*+<?|[^,;/{}]*,?[ \t]*/\*\*<)(.*?)\*/", re.DOTALL
)

# The name to which a comment belongs: the first name declared after it.
_DECLARED = re.compile(
    r"(cudnn\w+)\s*\(|\}\s*(cudnn\w+)|\*\s*(cudnn\w+)\s*;|\b(CUDNN_[A-Z]\w+)\s*[=,}]"
    r"|#define (CUDNN_\w+)"
)
_BODY = re.compile(r"\s*typedef\s+(?:enum|struct)\b[^;{]*\{[^}]*\}")


def mentioning(words: list[str], folder: Path | None = None) -> list[str]:
    """The names whose comments in the installed headers have all of these words."""
    folder = folder or include_folder()
    found: dict[str, None] = {}
    for _, text, code in _texts(folder) if folder and words else ():
        for comment in COMMENT.finditer(text):
            said = comment[0].lower()
            if "@file" in said or not all(re.search(rf"\b{re.escape(w)}", said) for w in words):
                continue
            before = code[: comment.start()].rpartition("\n")[2].strip()
            if before and not before.endswith(";"):  # after an enumerator or a macro
                found |= dict.fromkeys(re.findall(r"\bCUDNN_\w+", before)[:1])
                continue
            body = _BODY.match(code, comment.end())
            if declared := _DECLARED.search(code, body.end() - 1 if body else comment.end()):
                found |= dict.fromkeys(name for name in declared.groups() if name)
    return list(found)


@functools.cache
def _texts(folder: Path) -> tuple[tuple[Path, str, str], ...]:
    """The headers: each file, its text, and the text with comments blanked out."""
    found = []
    for name in HEADERS:
        path = folder / name
        with contextlib.suppress(OSError):  # a release may lack some headers
            text = path.read_text("utf-8", "replace")
            code = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
            found.append((path, text, code))
    return tuple(found)


@functools.cache
def _version(folder: Path) -> str:
    text = next((text for path, text, _ in _texts(folder) if path.stem == "cudnn_version"), "")
    numbers = dict(re.findall(r"#define CUDNN_(MAJOR|MINOR|PATCHLEVEL)\s+(\d+)", text))
    return ".".join(numbers.get(part, "?") for part in ("MAJOR", "MINOR", "PATCHLEVEL"))


def _comments_about(name: str, text: str, code: str) -> Iterator[str]:
    """The comments at the declaration of a name in this header; none without one."""
    word = rf"\b{name}\b"
    if define := re.search(rf"^#\s*define\s+{name}\b[^\n]*", code, re.MULTILINE):
        yield from _before(define.start(), text, code)
        yield from COMMENT.findall(text[define.start() : define.end()])
    elif function := re.search(rf"^[^\n;{{}}]*{word}\s*\([^;{{}}]*\)\s*;", code, re.MULTILINE):
        yield from _before(function.start(), text, code)
    elif body := re.search(rf"\}}\s*{word}[^;{{}}]*;", code):
        start = code.rindex("typedef", 0, body.start())
        yield from _before(start, text, code)
        fields = text[start : body.start()]
        for member, comment in _MEMBER.findall(fields):
            yield f"@param[in] {member} {comment}"
    elif alias := re.search(rf"^typedef\b[^;{{}}]*{word}[^;{{}}]*;", code, re.MULTILINE):
        yield from _before(alias.start(), text, code)
    elif enumerator := re.search(rf"{word}(?=\s*(?:CUDNN_DEPRECATED_ENUM\s*)?[=,}}])", code):
        yield from _at_enumerator(enumerator, text, code)
        if name.startswith("CUDNN_ATTR_"):
            yield from _in_list_of_attributes(name, text)


def _before(start: int, text: str, code: str) -> Iterator[str]:
    """The documentation between the declaration at `start` and the previous declaration."""
    statement = max(code.rfind(";", 0, start), code.rfind("}", 0, start)) + 1
    directives = [m.end() for m in re.finditer(r"^#[^\n]*", code[statement:start], re.MULTILINE)]
    gap = text[statement + max(directives, default=0) : start]
    comments = [c for c in COMMENT.findall(gap) if not c.startswith("/**<") and "@file" not in c]
    documented = [c for c in comments if c.startswith("/**")]
    if chosen := documented[-1:] or comments[-1:]:
        yield chosen[0]


def _at_enumerator(found: re.Match[str], text: str, code: str) -> Iterator[str]:
    """The documentation comments before and after an enumerator."""
    before = max(code.rfind(",", 0, found.start()), code.rfind("{", 0, found.start()))
    for comment in COMMENT.findall(text[before : found.start()]):
        if comment.startswith("/**") and not comment.startswith("/**<"):
            yield comment
    comma = re.compile(r"[,}]").search(code, found.end())
    following = re.compile(r"\w|\}").search(code, comma.end() if comma else found.end())
    end = following.start() if following else len(code)
    for comment in COMMENT.findall(text[found.end() : end]):
        if comment.startswith("/**<"):
            yield comment


def _in_list_of_attributes(name: str, text: str) -> Iterator[str]:
    """The item about an attribute in its descriptor type's list of attributes."""
    item = re.search(
        rf"^[ *]*- ({name} \(.*?)(?=\n[ *]*(?:- CUDNN_ATTR_|\n|\*/|$))", text, re.M | re.S
    )
    if item:
        yield f"/** {item[1]} */"


def _plain(comments: list[str]) -> tuple[str, dict[str, str]]:
    """Comments as text, without comment marks, and the texts about parameters."""
    paragraphs: list[str] = []
    parameters: dict[str, str] = {}
    for comment in comments:
        lines = re.sub(r"^/\*+<?|^//|\*+/$", "", comment).strip("\n").splitlines()
        text = "\n".join(re.sub(r"^\s*\*(?!\*)", "", line) for line in lines)
        text = re.sub(r"@p (\w+)", r"\1", text)
        main, *tagged = re.split(r"(?=@[a-z]+)", text)
        paragraphs.append(main)
        for tag in tagged:
            _tag(tag, paragraphs, parameters)
    cleaned = (inspect.cleandoc(paragraph).strip() for paragraph in paragraphs)
    joined = "\n".join(dict.fromkeys(part for part in cleaned if part))
    return re.sub(r"\n{3,}", "\n\n", joined), parameters


def _tag(tag: str, paragraphs: list[str], parameters: dict[str, str]) -> None:
    parts = re.match(r"@([a-z]+)(?:\s*\[[^]]*\])?\s*(.*)", tag, re.DOTALL)
    assert parts
    kind, said = parts[1], parts[2]
    if kind == "param":
        name, _, meaning = said.partition(" ")
        parameters[name.strip()] = " ".join(meaning.split())
    elif kind in ("brief", "details"):
        paragraphs.append(said)
    elif kind != "since":
        label = "Returns" if kind in ("return", "retval") else kind.capitalize()
        paragraphs.append(f"{label}: {' '.join(said.split())}")


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[a-z]?")
_RELATED = 8
# Words for an action or its direction; the other words of a function's name are its subject.
_VERBS = frozenset(
    """
    cudnn create set get destroy find copy forward backward inference training ex data filter
    weights bias 4d 2d nd 7 8 9 v max count algorithm version check
    """.split()  # noqa: SIM905
)


@functools.cache
def name_words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for part in name.split("_") for word in _WORD.findall(part))


@functools.cache
def all_names() -> tuple[str, ...]:
    """All names, in display order."""
    declared = (functions, types, enums, constants)
    found = [name for module in declared for name in module.__all__]
    return tuple(dict.fromkeys((*found, *KINDS, *_cuda_names(), *gone_names())))


@functools.cache
def glossary() -> dict[str, dict[str, Any]]:
    """The terms of the field, in reading order: what each ``says``, other words, and names."""
    text = Path(__file__).with_name("glossary.json").read_text("utf-8")
    return dict(json.loads(text))


@functools.cache
def terms() -> dict[str, str]:
    """The glossary's terms by their words in lower case."""
    return {word.lower(): term for term, row in glossary().items() for word in (term, *row["also"])}


def _term(word: str) -> list[Entry]:
    """The glossary's entry of a term or of another word for it."""
    term = terms().get(word) or terms().get(word.removesuffix("s"))
    if term is None:
        return []
    row = glossary()[term]
    lists = {"names": row["names"], "names with its words": named(term)}
    return [Entry(term, "term", row["says"], lists, {"also": row["also"]})]


def named(query: str) -> list[str]:
    """The names with words that begin with all words of a query; fewest other words first."""
    wanted = [word.lower() for part in query.split() for word in (name_words(part) or (part,))]
    wanted = [word for word in wanted if word.isalnum()]
    if not wanted:
        return []
    found = []
    for position, name in enumerate(all_names()):
        words = name_words(name)
        if all(any(_has(word, each) for word in words) for each in wanted):
            found.append((name in gone_names(), not name.startswith("cudnn"), len(words), position))
    return [all_names()[position] for *_, position in sorted(found)]


def _has(word: str, wanted: str) -> bool:
    return word.startswith(wanted) or (len(wanted) > 3 and wanted in word)


def near(query: str) -> list[str]:
    """Names that are spelled like `query`."""
    short = [attribute.full_name for own in ATTRIBUTES.values() for attribute in own.values()]
    return near_names(query, (*KINDS, *short, *_cuda_names()))


def related(name: str) -> list[str]:
    """Functions with the same subject as the function or type `name`."""
    about = set(name_words(name)) - _VERBS - {"descriptor", "t"}
    if not about or name.startswith("CUDNN"):
        return []
    scored = []
    for position, other in enumerate(raw.FUNCTIONS):
        shared = about & set(name_words(other))
        if shared == about and other != name:
            scored.append((len(set(name_words(other)) ^ set(name_words(name))), position, other))
    return [other for *_, other in sorted(scored)[:_RELATED]]


@dataclass(frozen=True)
class Entry:
    """One meaning of a name.

    - `text`: the declaration and facts.
    - `lists`: related names, by their relation: "related", "values".
    - `facts`: the facts as data, for JSON.
    - `explanation`: the installed headers' explanation.
    - `in_headers`: true for a name that headers may explain.
    """

    name: str
    kind: str
    text: str
    lists: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    explanation: Explanation | None = None
    in_headers: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The entry as data for JSON."""
        said = self.explanation
        return {
            "name": self.name,
            "kind": self.kind,
            "text": self.text,
            **self.facts,
            **{key.replace(" ", "_"): names for key, names in self.lists.items() if names},
            "explanation": said
            and {
                "header": str(said.header),
                "version": said.version,
                "text": said.text,
                "parameters": said.parameters,
            },
        }


def declared(
    name: str,
    kind: str,
    text: str,
    lists: dict[str, list[str]] | None = None,
    facts: dict[str, Any] | None = None,
) -> Entry:
    """The entry of a name of layer 1, with the facts that all these names have."""
    header, since, deprecated = facts_of(name)
    known = {"header": header, "since": since, "deprecated": deprecated}
    lists = dict(lists or {})
    listed = {each for names in lists.values() for each in names}
    lists["related"] = [each for each in related(name) if each not in listed]
    return Entry(name, kind, text, lists, known | (facts or {}), explanation(name), in_headers=True)


_TYPES = {Type.CUDNN_TYPE_HANDLE: raw.cudnnHandle_t, Type.CUDNN_TYPE_FRACTION: raw.cudnnFraction_t}


def attributes() -> Iterator[Attribute]:
    """The attributes of all descriptor types."""
    for own in ATTRIBUTES.values():
        yield from own.values()


def attributes_holding(cls: Any) -> list[str]:
    """The attributes whose values have a C type."""
    kinds = [type_ for type_, enum in ENUMS.items() if enum is cls]
    kinds += [type_ for type_, each in _TYPES.items() if each is cls]
    return [attribute.full_name for attribute in attributes() if attribute.types[0] in kinds]


def attribute_entry(name: str, item: Any) -> Entry:
    """The entry of an attribute, with its value type and descriptor type."""
    kind, short = owner_and_short_name(item)
    attribute = ATTRIBUTES[kind][short]
    values = [f"{t.name} ({ENUMS[t].__name__})" if t in ENUMS else t.name for t in attribute.types]
    wanted = sorted(kind_name(each) for each in attribute.wants)
    if len(wanted) > 6:
        wanted = ["any operation"]
    rows = [
        ("in Python", attribute.full_name),
        ("descriptor", kind.name),
        ("type", " or ".join(values)),
        *([("of", ", ".join(wanted))] if wanted else []),
        ("count", "any number" if attribute.is_array else "one"),
        ("settable", "yes" if attribute.settable else "no, cuDNN computes it"),
    ]
    facts = {
        "value": int(item),
        "short_name": attribute.full_name,
        "descriptor": kind.name,
        "types": [t.name for t in attribute.types],
        "wants": sorted(each.name for each in attribute.wants),
        "is_array": attribute.is_array,
        "settable": attribute.settable,
    }
    text = f"{documentation(name)}\n\n{aligned(rows)}"
    return declared(name, "backend attribute", text, {}, facts)


def descriptor_type_entry(name: str, item: Any) -> Entry:
    """The entry of a descriptor type: its attributes, and attributes with descriptors as values."""
    own = ATTRIBUTES[item]
    first = facts_of(name)[1]
    rows = [
        (
            each.short_name,
            each.types[0].name.removeprefix("CUDNN_TYPE_") + "[]" * each.is_array,
            "" if each.settable else "computed",
            f"since {each.since}" if each.since != first else "",
        )
        for each in own.values()
    ]
    text = f"{documentation(name)}\n\nin Python: BackendDescriptor({kind_name(item)!r})"
    text += f"\n\n{aligned(rows)}" if rows else ""
    holders = [a.full_name for a in attributes() if item in a.wants]
    facts = {"value": int(item), "short_name": kind_name(item), "attributes": list(own)}
    return declared(name, "backend descriptor type", text, {"held by": holders}, facts)


def has_status(code: int) -> bool:
    """Whether a release of cuDNN has or had a status with this number."""
    return raw.cudnnStatus_t(code).known or code in OLD_STATUS_NUMBERS


def status_entry(code: int, name: str = "") -> Entry:
    """The entry of a status, by its number in cuDNN 9 or in earlier releases."""
    old = ""
    if not raw.cudnnStatus_t(code).known:
        name = OLD_STATUS_NUMBERS[code]
        code, old = int(getattr(raw, name)), f"{code} was {name} before cuDNN 9.0\n\n"
    name = name or raw.cudnnStatus_t(code).name
    number = next((n for n, each in OLD_STATUS_NUMBERS.items() if each == name), None)
    text = old + documentation(name)
    rows = [] if code == 0 else [("raised as", errors.error_class(code).__name__)]
    if number is not None and not old:
        rows.append(("before 9.0", str(number)))
    if advice := hints.usual_cause(name):
        rows.append(("usual cause", advice))
    text += "\n\n" + aligned(rows) if rows else ""
    facts = {"enum": "cudnnStatus_t", "value": code, "before_9": number}
    return declared(name, "status", text, {}, facts)


def exception_entry(name: str) -> Entry:
    """The entry of an exception of this package, with the statuses that raise it."""
    cls = getattr(errors, name)
    statuses = [
        f"{each} ({int(member)})"
        for each, member in raw.cudnnStatus_t.__members__.items()
        if int(member) and errors.error_class(member) is cls
    ]
    bases = ", ".join(base.__name__ for base in cls.__mro__[1:-2])
    text = f"exception {name}({bases})\n\n{inspect.cleandoc(cls.__doc__ or '')}"
    return Entry(name, "exception", text, {"statuses": statuses})


_PREFIXES = ("", "cudnn", "cudnn_", "cudnn_status_", "cudnn_data_")

# Text around a name in error messages and programs.
_WRAPPING = re.compile(r"^(?:cudnn_ctypes\.)?(?:raw\.)?(?:cudnn\w+_t\.(?=CUDNN_))?|\s*\(.*$")


def find(name: str) -> list[Entry]:
    """The entries for `name`, in a form that messages and programs use; empty if none."""
    name = _WRAPPING.sub("", name.strip())
    if name.isdecimal() and has_status(int(name)):
        return [status_entry(int(name))]
    if name in _by_lower_case().values():
        return [_declared(name)]
    if gone := find_gone(name):
        facts = {"first": gone.first, "gone": gone.gone, "why": gone.why, "now": list(gone.now)}
        return [Entry(name, f"{gone.kind}, gone", f"{gone}\n{_as_it_was(name)}", facts=facts)]
    if name in errors.__all__:
        return [exception_entry(name)]
    if public := _public(name) or _cuda(name):
        return [*_term(name), public]
    if faults := [row for row in known_faults() if row.name == name or _tracked(row, name)]:
        return [Entry(row.name, "known fault", str(row), facts=row.facts) for row in faults]
    lower = name.lower()
    return _term(lower) + [_declared(each) for each in dict.fromkeys(_meant(lower))]


def _as_it_was(name: str) -> str:
    """How a program goes on with a name that cuDNN 9 has not, or why it cannot."""
    from ...porting.compat.v7.declarations import left_out
    from ...porting.compat.v7.old_function import functions

    if reason := left_out().get(name):
        return f"cudnn_ctypes.compat.v7 has it not: {reason}"
    import_module("cudnn_ctypes.porting.compat.v7")  # registers functions
    old = functions.get(name)
    arguments = f"({', '.join(p.name for p in old.parameters)})" if old else ""
    return f"As it was, after `from cudnn_ctypes.compat import v7`:\n    v7.{name}{arguments}"


def _tracked(row: Fault, name: str) -> bool:
    """Whether a tracker and a number, as "pytorch 196678" or "#196678", are evidence of a row."""
    number = name.removeprefix("#").replace("#", " ").lower()
    trackers = [each.tracker.lower() for each in row.evidence]
    return any(number in (each, each.rpartition(" ")[2]) for each in trackers if each)


def _faults_of(name: str) -> list[str]:
    """The known faults of a C function or of a method of Graph, by name."""
    return [row.name for row in known_faults() if name in row.calls]


def _meant(name: str) -> Iterator[str]:
    """The names of layer 1 for a short name, or a name without prefix, in lower case."""
    names = _by_lower_case()
    yield from (names[prefix + name] for prefix in _PREFIXES if prefix + name in names)
    if name in KINDS:
        yield KINDS[name].name
    for attribute in attributes():
        if name in (attribute.full_name, attribute.short_name):
            yield attribute.name.name


@functools.cache
def _by_lower_case() -> dict[str, str]:
    modules = (functions, enums, types, constants)
    return {name.lower(): name for module in modules for name in module.__all__}


def _declared(name: str) -> Entry:
    """The entry of a name of layer 1."""
    item = getattr(raw, name)
    if name in raw.FUNCTIONS:
        return _function(name, raw.FUNCTIONS[name])
    if isinstance(item, raw.cudnnStatus_t):
        return status_entry(int(item), name)
    if isinstance(item, raw.cudnnBackendAttributeName_t):
        return attribute_entry(name, item)
    if isinstance(item, raw.cudnnBackendDescriptorType_t):
        return descriptor_type_entry(name, item)
    if isinstance(item, CudnnEnum):
        lists = _takers(type(item))
        facts = {"enum": type(item).__name__, "value": int(item)}
        text = documentation(name)
        if name == "CUDNN_CONVOLUTION_FWD_ALGO_DIRECT":
            text += "\n\nno release of cuDNN computes it: each call with it is not supported"
        return declared(name, "enumerator", text, lists, facts)
    if enum_of(name):
        members = {each: int(member) for each, member in item.__members__.items()}
        return declared(name, "enum", documentation(name), _takers(item), {"members": members})
    if name in constants.__all__:
        value = {} if callable(item) else {"value": item}
        return declared(name, "macro", documentation(name), {}, value)
    kind = "struct" if hasattr(item, "_cfields_") else "handle type"
    kind = "callback type" if hasattr(item, "_argtypes_") else kind
    return declared(name, kind, documentation(name), _takers(item) | _class_for(name))


def _function(name: str, function: Function) -> Entry:
    text = documentation(name)
    if note := changed(name):
        text += f"\n\nin programs for old releases: {note}"
    used_by, example = uses()[name]
    lists = {
        "used by": used_by.split(),
        "example": [f"examples/{example}"] if example else [],
        "known faults": _faults_of(name),
    }
    facts = {
        "prototype": function.prototype,
        "parameters": [
            {
                "name": p.name,
                "declaration": p.c_declaration,
                "direction": p.direction,
                "length": p.length,
            }
            for p in function.parameters
        ],
    }
    return declared(name, "function", text, lists, facts)


def _example(name: str) -> list[str]:
    """The first example with a name of this package."""
    for path in sorted(folder().glob("*.py")):
        if re.search(rf"\b{name}\b", path.read_text("utf-8")):
            return [f"examples/{path.name}"]
    return []


def _used_by(public: str) -> list[str]:
    """The C functions that a public class or function of this package uses."""
    return [
        name
        for name, (used_by, _) in uses().items()
        if any(each.partition(".")[0] == public for each in used_by.split())
    ]


def _public(name: str) -> Entry | None:
    """The entry of a public class, function or method; None if there is none."""
    owner, dot, member = name.partition(".")
    item = getattr(cudnn_ctypes, owner, None)
    if dot:
        public = inspect.isclass(item) and member[:1] not in ("", "_")
        item = getattr(item, member, None) if public else None
    if not (inspect.isclass(item) or inspect.isfunction(item) or inspect.ismethod(item)):
        return None
    kind = "class" if inspect.isclass(item) else "Python function"
    bare = [p.replace(annotation=p.empty) for p in signature(item).values()]
    shown = inspect.Signature(bare)
    summary = " ".join(inspect.cleandoc(item.__doc__ or "").partition("\n\n")[0].split())
    text = f"cudnn_ctypes.{name}{shown}\n\n{summary}"
    faults = _faults_of(member) if owner == "Graph" else []
    lists = {"uses": _used_by(name), "example": _example(name), "known faults": faults}
    return Entry(name, kind, text, lists)


def signature(item: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a callable; none of one that Python cannot ask, such as an exception."""
    with contextlib.suppress(ValueError, TypeError):
        return dict(inspect.signature(item).parameters)
    return {}


_CUDA = {"cudart": "the CUDA runtime", "cublas": "cuBLAS"}


@functools.cache
def _cuda_names() -> dict[str, str]:
    """The C names of CUDA's runtime and cuBLAS, and their modules."""
    found: dict[str, str] = {}
    for module in _CUDA:
        for name in getattr(cudnn_ctypes, module).__all__:
            if name.lower().startswith(("cuda", "cublas")) and name not in types.__all__:
                found.setdefault(name, module)
    return found


def _cuda(name: str) -> Entry | None:
    """The entry of a C name of CUDA's runtime or of cuBLAS; None if there is none."""
    names = {each.lower(): each for each in _cuda_names()}
    lower = name.lower()
    name = names.get(lower, names.get(lower.removesuffix("_v2"), ""))  # C's aliases of cuBLAS
    if not name:
        return None
    module = _cuda_names()[name]
    item = getattr(getattr(cudnn_ctypes, module), name)
    text = f"cudnn_ctypes.{module}.{name}"
    kind = "type" if isinstance(item, type) else "constant"
    if isinstance(item, int):
        text += f" = {int(item)}"
    elif kind != "type":
        kind = "function"
        text += f"({', '.join(signature(item))})"
    if kind != "constant":
        text += f"\n\n{(inspect.getdoc(item) or '').partition(chr(10) * 2)[0]}"
    return Entry(name, f"{kind} of {_CUDA[module]}", text.rstrip(), {"example": _example(name)})


def _class_for(handle_type: str) -> dict[str, list[str]]:
    creator = handle_type.replace("cudnn", "cudnnCreate", 1).removesuffix("_t")
    return {"used by": uses()[creator][0].split() if creator in uses() else []}


@functools.cache
def _takers(cls: Any) -> dict[str, list[str]]:
    """The functions, backend attributes and structs with parameters or members of a type."""
    takes: list[str] = []
    gives: list[str] = []
    for name, function in raw.FUNCTIONS.items():
        found = {p.direction == "out" for p in function.parameters if p.type.base is cls}
        takes += [name] if False in found else []
        gives += [name] if True in found else []
    structs = [getattr(types, name) for name in types.__all__]
    fields = [
        f"{struct.__name__}.{name}"
        for struct in structs
        for name, base in getattr(struct, "_cfields_", ())
        if base is cls
    ]
    holders = attributes_holding(cls)
    return {"taken by": takes, "given by": gives, "attributes": holders, "fields": fields}
