"""Pages of the site for maintainers: one for each tool, from what it says about itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from .page_parts import CONTENTS, grid, prose, write

__all__ = ["write_tools"]

FOLDER = Path(__file__).parent
KINDS = {
    "What is written": "generate probe_attributes machine_code example_outputs notebooks "
    "advice_table atlas_shapes",
    "Versions and packages": "version_matrix since_versions graph_matrix wheel_matrix "
    "package_check frontend_names model_blocks",
    "Looking for faults": "fuzz legacy_corners operand_messages gpu_check program_corpus",
    "Measuring": "bench_call bench_gpu bench_graph bench_tuning bench_cache bench_torch_ops "
    "bench_warden bench_reference launch_costs mutants",
}
"""The tools that are commands, by what they are for."""


def write_tools() -> None:
    """Write a page for each tool, and their list."""
    parts = [
        "# Maintainers' tools",
        "They are in the repository, below `tools/`, and not in the wheel. "
        "[Contributing](../../contributing.md) says when to run which.",
    ]
    for kind, names in KINDS.items():
        rows = []
        for name in names.split():
            text = _about(name)
            write(f"tools/{name}.md", f"# tools.{name}", prose(text), *_fuzzers(name))
            first = " ".join(text.partition("\n\n")[0].split())
            first = re.sub(r"^`+python -m [\w.]+`+: |: `+python[^`]*`+\.?$", "", first)
            first = f"{first[0].upper()}{first[1:].rstrip('.')}."
            rows.append((f"[`python -m tools.{name}`]({name}.md)", prose(first)))
        parts += [f"## {kind}", grid(("command", "what it does"), rows)]
    write("tools/index.md", *parts, CONTENTS)


def _about(name: str) -> str:
    """What a tool says about itself: its module, or the two of its folder."""
    if (FOLDER / f"{name}.py").is_file():
        return _docstring(FOLDER / f"{name}.py")
    own, command = (_docstring(FOLDER / name / file) for file in ("__init__.py", "__main__.py"))
    return f"{own}\n\n{command}" if "see `__main__`" not in own else command


def _fuzzers(name: str) -> list[str]:
    """Of the fuzzers, what each of them looks for."""
    if name != "fuzz":
        return []
    rows = [
        (f"`python -m tools.fuzz {path.stem}`", prose(" ".join(text.split())))
        for path in sorted((FOLDER / name).glob("[a-z]*.py"))
        if "\ndef main" in path.read_text("utf-8")
        for text in [_docstring(path).partition("\n\n")[0]]
    ]
    return [grid(("command", "what it looks for"), rows)]


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
