"""CUDA source for a compiler of C++: launches become calls, shared arrays of any size objects."""

from __future__ import annotations

import re

_SKIPPED = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_SHARED = re.compile(
    r"\bextern\s+(?:volatile\s+)?__shared__\s+(?:__align__\s*\([^)]*\)\s*)?(?:volatile\s+)?"
    r"([\w:<>\s*]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_KERNEL = re.compile(r"\b__(?:global|device|shared)__\b|<<<")
_NAME = re.compile(r"[\w:]*")


def has_kernels(text: str) -> bool:
    """Whether source has kernels, or launches some."""
    return _KERNEL.search(_blank(text)) is not None


def for_the_host(text: str) -> str:
    """The source with ``kernel<<<grid, block>>>(x)`` as a call of the host's launch; as many lines.

    - `text`: CUDA source.
    """
    text = _SHARED.sub(
        lambda found: (
            f"static ::cudnn_ctypes::Shared<{found[1]}> {found[2]};" + "\n" * found[0].count("\n")
        ),
        text,
    )
    while (launch := _last_launch(text)) is not None:
        begin, end, call = launch
        text = text[:begin] + call + text[end:]
    return text


def _blank(text: str) -> str:
    """The source with blanks in place of comments and of what is in quotes."""
    return _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _last_launch(text: str) -> tuple[int, int, str] | None:
    """Begin and end of the last launch of a source, and what replaces it."""
    blank = _blank(text)
    opening = blank.rfind("<<<")
    closing = blank.find(">>>", opening)
    if opening < 0 or closing < 0:
        return None
    begin = _callee(blank, opening)
    arguments = re.compile(r"[\s\\]*\(").match(blank, closing + 3)
    if begin is None or arguments is None:
        raise ValueError(f"line {text[:opening].count(chr(10)) + 1}: <<< is no launch of a kernel")
    end = _closing(blank, arguments.end())
    callee = text[begin:opening].strip().rstrip("\\").strip()
    given = text[arguments.end() : end - 1]
    comma = ", " if given.strip(" \n\\\t") else ""
    name = re.sub(r"\s+", " ", callee).replace('"', "'")
    call = (
        f'::cudnn_ctypes::launch("{name}", ::cudnn_ctypes::Configuration('
        f"{text[opening + 3 : closing]}), [&](auto... cudnn_ctypes_arguments) "
        f"{{ {callee}(cudnn_ctypes_arguments...); }}{comma}{given})"
    )
    lost = text[begin:end].count("\n") - call.count("\n")
    return begin, end, call + "\n" * lost if "\\\n" not in text[begin:end] else call


def _callee(blank: str, end: int) -> int | None:
    """Where the expression of the kernel begins that ends before `end`: ``ns::kernel<float>``."""
    text = blank[:end].rstrip(" \t\n\\")
    if text.endswith(">"):
        depth, at = 0, len(text)
        while at:
            at -= 1
            depth += {">": 1, "<": -1}.get(text[at], 0)
            if depth == 0:
                break
        text = text[:at].rstrip()
    name = _NAME.match(text[::-1])
    return len(text) - name.end() if name and name.end() else None


def _closing(blank: str, start: int) -> int:
    """The end of the parentheses that are open at `start`."""
    depth = 1
    for at in range(start, len(blank)):
        depth += {"(": 1, ")": -1}.get(blank[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError("a launch without closing parenthesis")
