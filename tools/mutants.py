"""How many mistakes the tests find: mutants of the package, each run against tests that reach it.

``python -m tools.mutants COVERAGE`` where COVERAGE is a file of `coverage`, written with
``dynamic_context = test_function``, and, for what tests run in child processes, with
``parallel = true``, ``context = ${PYTEST_CURRENT_TEST-}`` and COVERAGE_PROCESS_START in the
environment. A mutant is the package with one change: a comparison, an operator, a constant or a
condition is another one, or a statement is gone. It is killed if a test fails that passes without
it. Tests are those that run the line, some of them if they are many, first those whose names have
words of the file's; for a line that runs when its file is imported, some of all. A line that no
test runs leaves its mutant alive.

All tests are collected once in each of a few processes. A mutant of a function is put into a fork
of one, in place of the function's code; one that is still alive then is tried in a copy of the
repository, too, if its line runs when files are imported or in programs that tests start.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import functools
import gc
import inspect
import multiprocessing
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "cudnn_ctypes"
GENERATED = ("raw/constants.py", "raw/enums.py", "raw/functions.py", "raw/types.py")
MOST_TESTS = 400
NEAR = 100
NEAR_OF_ONE = 25  # cases of a test function
OPTIONS = ("-q", "-n", "0", "-m", "not gpu", "-p", "no:cacheprovider")
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
    statement: int  # the first line of the statement around it
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

    statement = 1

    def change(node: ast.AST, after: str, kind: str) -> Mutant:
        at: Any = node
        start = starts[at.lineno - 1] + at.col_offset
        end = starts[at.end_lineno - 1] + at.end_col_offset
        return Mutant(file, at.lineno, statement, start, end, after, kind)

    def source(node: ast.AST) -> str:
        found = change(node, "", "")
        return encoded[found.start : found.end].decode()

    def visit(node: ast.AST, in_function: bool) -> Iterator[Mutant]:
        nonlocal statement
        if isinstance(node, ast.stmt):
            statement = node.lineno
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
        for measured in data.measured_files():  # elsewhere, too: some tests install the package
            lines = self._lines.setdefault(measured[measured.rindex(f"{PACKAGE}/") :], {})
            for line, contexts in data.contexts_by_lineno(measured).items():
                lines.setdefault(line, []).extend(contexts)

    def tests(self, mutant: Mutant) -> tuple[list[str], bool]:
        """Test functions by their ids, and whether the line runs elsewhere, too."""
        lines = self._lines.get(mutant.file, {})
        names = set(lines.get(mutant.line) or lines.get(mutant.statement, ()))
        if not names:
            return [], False
        elsewhere = "" in names or any("::" in name for name in names)
        names = names - {""} or {name for each in lines.values() for name in each if name}
        return sorted({found for found in map(_id_of, names) if found is not None}), elsewhere


@functools.cache
def _id_of(context: str) -> str | None:
    """A test function's id, of the name that `coverage` gives it, or pytest for a child."""
    if "::" in context:
        return context.rpartition(" (")[0].partition("[")[0]
    parts = context.removeprefix("tests.").split(".")
    for at in range(len(parts), 0, -1):
        file = Path("tests", *parts[:at]).with_suffix(".py")
        if (ROOT / file).is_file():
            return "::".join([str(file), *parts[at:]])
    # A folder without __init__.py is no package: its modules go by their name alone.
    for found in (ROOT / "tests").rglob(f"{parts[0]}.py"):
        return "::".join([str(found.relative_to(ROOT)), *parts[1:]])
    return None


def swaps(before: CodeType, after: CodeType) -> dict[CodeType, CodeType] | None:
    """Functions whose code is another one; None if what runs at import is."""
    nested = [
        [each for each in code.co_consts if isinstance(each, CodeType)] for code in (before, after)
    ]
    if len(nested[0]) != len(nested[1]):
        return None
    found: dict[CodeType, CodeType] = {}
    if before.co_flags & inspect.CO_OPTIMIZED:
        found |= {before: after} if before != after else {}
    else:  # a module or the body of a class
        own = [
            (code.co_code, code.co_names, [each for each in code.co_consts if each not in inner])
            for code, inner in zip((before, after), nested, strict=True)
        ]
        if repr(own[0]) != repr(own[1]):
            return None
    for each in zip(*nested, strict=True):
        inner_swaps = swaps(*each)
        if inner_swaps is None:
            return None
        found |= inner_swaps
    return found


class Tester:
    """A plugin of pytest: instead of running the tests that it collects, tries mutants."""

    def __init__(self, work: Any, verdicts: Any) -> None:
        self._work, self._verdicts = work, verdicts
        self._failed = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        self._cases: dict[str, list[str]] = collections.defaultdict(list)
        for each in self._items:
            self._cases[each.partition("[")[0]].append(each)
        with tempfile.TemporaryDirectory() as folder:
            unneeded = shutil.ignore_patterns(".*", "__pycache__", "docs", "build")
            self._tree = Path(shutil.copytree(ROOT, Path(folder, "tree"), ignore=unneeded))
            while (found := self._work.get()) is not None:
                number, mutant, tests, elsewhere = found
                self._verdicts.put((number, self._verdict(mutant, tests, elsewhere)))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = self._failed or report.nodeid

    def _verdict(self, mutant: Mutant, tests: list[str], elsewhere: bool) -> str:
        near, rng = functools.partial(self._near, file=mutant.file), random.Random(mutant.start)
        chosen = [*dict.fromkeys((*near(tests, rng), *self._chosen(tests, rng)))]
        if not chosen:
            return "no test"
        text = (ROOT / mutant.file).read_bytes()
        mutated = text[: mutant.start] + mutant.text.encode() + text[mutant.end :]
        path = str(ROOT / mutant.file)
        changes = swaps(*(compile(each, path, "exec") for each in (text, mutated)))
        if not any(getattr(each, "__file__", None) == path for each in [*sys.modules.values()]):
            changes = {}  # it is read when a test imports it
        if changes is not None:
            exchange = functools.partial(_exchange, path, mutated, changes)
            if _is_killed(chosen, exchange, lambda: None, self._first_failure):
                return "killed"
            if not elsewhere:
                return "alive"
        chosen = near(tests if changes is not None else [*self._cases], rng)
        file = self._tree / mutant.file
        mutate, restore = (functools.partial(file.write_bytes, each) for each in (mutated, text))
        try:
            found = _is_killed(chosen, mutate, restore, self._first_failure_in_copy)
        finally:
            restore()
        return "killed" if found else "alive"

    def _chosen(self, tests: list[str], chosen: random.Random) -> list[str]:
        """At most `MOST_TESTS` cases, of as many files and functions as there are."""
        by_file: dict[str, list[list[str]]] = collections.defaultdict(list)
        for test in tests:
            if cases := self._cases.get(test):
                by_file[test.partition("::")[0]].append(chosen.sample(cases, len(cases)))
        found: list[str] = []
        while by_file and len(found) < MOST_TESTS:
            for file, functions in [*by_file.items()]:
                cases = functions.pop(chosen.randrange(len(functions)))
                found.append(cases.pop())
                if cases:
                    functions.append(cases)
                elif not functions:
                    del by_file[file]
        return found[:MOST_TESTS]

    def _near(self, tests: list[str], chosen: random.Random, *, file: str) -> list[str]:
        """At most `NEAR` cases, first those whose names have most words of the file's."""
        words = set(re.split(r"[\W_]+", file))
        found: list[str] = []
        for test in sorted(
            chosen.sample(tests, len(tests)),
            key=lambda test: -len(words & {*re.split(r"[\W_]+", test)}),
        ):
            cases = self._cases.get(test, [])
            found += chosen.sample(cases, min(len(cases), NEAR_OF_ONE))
            if len(found) >= NEAR:
                break
        return found[:NEAR]

    def _first_failure(self, tests: list[str], change: Callable[[], object]) -> str | None:
        """The first test that fails in a fork; "" if they take too long or end it; None if none."""
        items = [self._items[each] for each in tests]
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            try:
                change()
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if self._failed:
                        break
                os.write(writes, (self._failed or "none").encode())
            finally:
                os._exit(0)
        os.close(writes)
        ends = os.pidfd_open(child)
        ended = select.select([ends], [], [], SECONDS)[0]
        with contextlib.suppress(ProcessLookupError):  # programs that tests started, too
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        said = os.read(reads, 10_000).decode() if select.select([reads], [], [], 0)[0] else ""
        os.close(ends)
        os.close(reads)
        return None if said == "none" else said if ended else ""

    def _first_failure_in_copy(self, tests: list[str], change: Callable[[], object]) -> str | None:
        """The same of a pytest of its own, in a copy of the repository."""
        change()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *OPTIONS, "-x", "--tb=no", *tests],
                cwd=self._tree,
                env={**os.environ, "PYTHONPATH": str(self._tree), "PYTHONDONTWRITEBYTECODE": "1"},
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


def _exchange(path: str, mutated: bytes, found: dict[CodeType, CodeType]) -> None:
    """Exchange the code of functions, and that of the file for when it is imported."""
    read = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        here = loader.get_filename(fullname) == path
        return compile(mutated, path, "exec") if here else read(loader, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == path:
            each.__code__ = found.get(each.__code__, each.__code__)


def _is_killed(
    tests: list[str],
    mutate: Callable[[], object],
    restore: Callable[[], object],
    first_failure: Callable[[list[str], Callable[[], object]], str | None],
) -> bool:
    """Whether a test fails with a mutant and passes without it."""
    while tests:
        failed = first_failure(tests, mutate)
        if failed is None:
            return False
        if first_failure([failed] if failed else tests, restore) is None:
            return True
        if failed not in tests:  # they take too long, or end Python, without it, too
            return False
        tests = [each for each in tests if each != failed]
    return False


def _tries(work: Any, verdicts: Any) -> None:
    """Try mutants in a process that has collected all tests that need no GPU."""
    os.chdir(ROOT)
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        pytest.main(["tests", *OPTIONS], plugins=[Tester(work, verdicts)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("coverage", type=Path)
    parser.add_argument("--within", default="", help="a pattern: mutants of such files alone")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    chosen = random.Random(options.seed)
    mutants: list[Mutant] = []
    within = re.compile(options.within)
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        file = str(path.relative_to(ROOT))
        if not file.endswith(GENERATED) and within.search(file):
            mutants += mutants_of(file, path.read_text("utf-8"))
    print(f"{len(mutants)} mutants, {options.count} drawn with seed {options.seed}")
    drawn = chosen.sample(mutants, min(options.count, len(mutants)))
    reach = Reach(options.coverage)
    fork = multiprocessing.get_context("fork")
    work, verdicts = fork.Queue(), fork.Queue()
    for number, mutant in enumerate(drawn):
        work.put((number, mutant, *reach.tests(mutant)))
    for _ in range(options.processes):
        work.put(None)
        fork.Process(target=_tries, args=(work, verdicts)).start()
    found: dict[int, str] = {}
    while len(found) < len(drawn):
        number, said = verdicts.get()
        found[number] = said
        if said != "killed":
            mutant = drawn[number]
            place = f"{mutant.file}:{mutant.line}"
            print(f"{said:8}{place}: {mutant.kind}: {mutant.text[:90]}", flush=True)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for number, said in found.items():
        counts[drawn[number].kind][said] += 1
        counts["all"][said] += 1
    for kind, each in counts.items():
        print(f"{kind:12}" + ", ".join(f"{number} {said}" for said, number in each.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
