"""The installed headers' explanations of C names: the comments at their declarations."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...raw.headers import COMMENT, HEADERS, include_folder

__all__ = ["Explanation", "explanation", "mentioning"]


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
            text = path.read_text(errors="replace")
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
