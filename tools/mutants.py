"""How many mistakes the tests find: mutants of the package, each run against tests that reach it.

``python -m tools.mutants COVERAGE`` where COVERAGE is a file of `coverage`, written with
``dynamic_context = test_function``, and, for what tests run in child processes, with
``parallel = true``, ``context = ${PYTEST_CURRENT_TEST-}`` and COVERAGE_PROCESS_START in the
environment. A mutant is the package with one change: a comparison, an operator, a constant or a
condition is another one, or a statement is gone. It is killed if a test fails. Tests are those that
run the line or, for a line that runs when its file is imported, some of those that run the file; a
line that no test runs leaves its mutant alive.
"""

from __future__ import annotations

import argparse
import ast
import collections
import concurrent.futures
import functools
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "cudnn_ctypes"
GENERATED = ("raw/constants.py", "raw/enums.py", "raw/functions.py", "raw/types.py")
MOST_TESTS = 40
SECONDS = 120.0  # for the tests of one mutant; one that takes longer counts as killed

_OTHERS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "+",
    ast.And: "or", ast.Or: "and", ast.BitAnd: "|", ast.BitOr: "&", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of one place: of `file`'s text from `start` to `end`."""

    file: str
    line: int
    start: int
    end: int
    text: str
    kind: str


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """All mutants of a file, but of annotations and docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    encoded = text.encode()

    def change(node: ast.AST, after: str, kind: str) -> Mutant:
        at: Any = node
        start = starts[at.lineno - 1] + at.col_offset
        end = starts[at.end_lineno - 1] + at.end_col_offset
        return Mutant(file, at.lineno, start, end, after, kind)

    def source(node: ast.AST) -> str:
        found = change(node, "", "")
        return encoded[found.start : found.end].decode()

    def visit(node: ast.AST, in_function: bool) -> Iterator[Mutant]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = source(node.left), source(node.comparators[0])
            yield change(node, f"({left}) {_OTHERS[type(node.ops[0])]} ({right})", "comparison")
        elif isinstance(node, ast.BinOp) and type(node.op) in _OTHERS:
            after = f"(({source(node.left)}) {_OTHERS[type(node.op)]} ({source(node.right)}))"
            yield change(node, after, "operator")
        elif isinstance(node, ast.BoolOp):
            between = f" {_OTHERS[type(node.op)]} "
            yield change(
                node, f"({between.join(f'({source(v)})' for v in node.values)})", "and, or"
            )
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield change(node, f"bool({source(node.operand)})", "not")
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            after = not node.value if isinstance(node.value, bool) else node.value + 1
            yield change(node, repr(after), "constant")
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield change(node.test, f"(not ({source(node.test)}))", "condition")
        elif in_function and isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise)):
            yield change(node, "pass", "statement")
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            children = value if isinstance(value, list) else [value]
            for child in children:
                if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                    continue
                says = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
                if says or (isinstance(child, ast.If) and "TYPE_CHECKING" in source(child.test)):
                    continue
                yield from visit(child, in_function or isinstance(node, _FUNCTIONS))

    return visit(ast.parse(text), False)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Reach:
    """Which tests run which lines, from a file of `coverage`."""

    def __init__(self, data_file: Path) -> None:
        from coverage import CoverageData

        data = CoverageData(str(data_file))
        data.read()
        self._lines: dict[str, dict[int, list[str]]] = {}
        for measured in data.measured_files():
            file = measured[measured.rindex(f"{PACKAGE}/") :]
            self._lines[file] = data.contexts_by_lineno(measured)

    def tests(self, mutant: Mutant, chosen: random.Random) -> list[str]:
        """The ids of at most `MOST_TESTS` tests, of as many files as there are."""
        lines = self._lines.get(mutant.file, {})
        if mutant.line not in lines:
            return []
        names = set(lines[mutant.line]) - {""}
        names = names or {name for each in lines.values() for name in each if name}
        by_file: dict[str, list[str]] = collections.defaultdict(list)
        for name in sorted(names):
            found = _id_of(name)
            if found is not None:
                by_file[found.partition("::")[0]].append(found)
        for each in by_file.values():
            chosen.shuffle(each)
        found = []
        while by_file and len(found) < MOST_TESTS:
            for file in [*by_file]:
                found.append(by_file[file].pop())
                if not by_file[file]:
                    del by_file[file]
        return found[:MOST_TESTS]


@functools.cache
def _id_of(context: str) -> str | None:
    """A test's id for pytest, of the name that `coverage` gives it, or pytest for a child."""
    if "::" in context:
        return context.rpartition(" (")[0]
    parts = context.removeprefix("tests.").split(".")
    for at in range(len(parts), 0, -1):
        file = Path("tests", *parts[:at]).with_suffix(".py")
        if (ROOT / file).is_file():
            return "::".join([str(file), *parts[at:]])
    # A folder without __init__.py is no package: its modules go by their name alone.
    for found in (ROOT / "tests").rglob(f"{parts[0]}.py"):
        return "::".join([str(found.relative_to(ROOT)), *parts[1:]])
    return None


def is_killed(mutant: Mutant, tests: list[str], tree: Path) -> bool:
    """Whether tests that pass without a mutant fail with it, in a copy of the repository."""
    file, tests = tree / mutant.file, [*tests]
    text = file.read_bytes()
    mutated = text[: mutant.start] + mutant.text.encode() + text[mutant.end :]
    while tests:
        file.write_bytes(mutated)
        try:
            failed = _failed(tests, tree)
        finally:
            file.write_bytes(text)
        if failed is None:
            return False
        if _failed([failed] if failed else tests, tree) is None:
            return True
        if not failed:  # they take too long, or end pytest, without it, too
            return False
        tests = [each for each in tests if not failed.startswith(each)]
    return False


def _failed(tests: list[str], tree: Path) -> str | None:
    """The first test that fails; "" if it is not known which; None if none does."""
    options = ["-x", "-q", "-n", "0", "-m", "not gpu", "-p", "no:cacheprovider", "--tb=no"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode in (0, 5):  # 5: no test was collected
        return None
    found = re.search(
        r"^(?:FAILED|ERROR) (tests/\S+::[^\n]*?)(?: - .*)?$", done.stdout, re.MULTILINE
    )
    return found[1] if found else ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("coverage", type=Path)
    parser.add_argument("--within", default="", help="a pattern: mutants of such files alone")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    chosen = random.Random(options.seed)
    found: list[Mutant] = []
    within = re.compile(options.within)
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        file = str(path.relative_to(ROOT))
        if not file.endswith(GENERATED) and within.search(file):
            found += mutants_of(file, path.read_text("utf-8"))
    print(f"{len(found)} mutants, {options.count} drawn with seed {options.seed}")
    drawn = chosen.sample(found, options.count)
    reach = Reach(options.coverage)
    work = [(mutant, reach.tests(mutant, chosen)) for mutant in drawn]
    trees: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.processes):
            unneeded = shutil.ignore_patterns(".*", "__pycache__", "docs", "build")
            trees.put(Path(shutil.copytree(ROOT, Path(folder, str(i)), ignore=unneeded)))

        def verdict(mutant: Mutant, tests: list[str]) -> str:
            said = "no test"
            if tests:
                tree = trees.get()
                try:
                    said = "killed" if is_killed(mutant, tests, tree) else "alive"
                finally:
                    trees.put(tree)
            if said != "killed":
                place = f"{mutant.file}:{mutant.line}"
                print(f"{said:8}{place}: {mutant.kind}: {mutant.text[:90]}", flush=True)
            return said

        with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
            verdicts = [*pool.map(verdict, *zip(*work, strict=True))]
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for mutant, said in zip(drawn, verdicts, strict=True):
        counts[mutant.kind][said] += 1
        counts["all"][said] += 1
    for kind, each in counts.items():
        print(f"{kind:12}" + ", ".join(f"{number} {said}" for said, number in each.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
