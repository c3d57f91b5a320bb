"""Who may import whom, and what importing the package may load."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple

import pytest
from programs import ROOT, printed

import cudnn_ctypes
from cudnn_ctypes.lazy import listed
from cudnn_ctypes.porting import runtime

PACKAGE = ROOT / "cudnn_ctypes"

# What each part may import of the others. A part is a module of the package, or a folder.
BELOW = {
    "errors": "",
    "lazy": "",
    "raw": "errors",
    "dtypes": "raw",
    "arguments": "raw dtypes",
    "resource": "raw errors",
    "absent_gpu": "raw errors arguments",
    "runtime": "raw arguments absent_gpu resource errors dtypes",
    "handle": "raw runtime resource",
    "reference": "raw arguments absent_gpu resource errors dtypes runtime lazy",
    "legacy": "raw arguments resource errors dtypes runtime lazy handle",
    "graph": "raw arguments absent_gpu resource errors dtypes runtime lazy handle reference",
    "frontend": "raw arguments resource errors dtypes runtime lazy handle graph torch_ops",
    "torch_ops": "raw errors legacy graph",
}
ALLOWED: dict[str, set[str]] = {part: set(below.split()) for part, below in BELOW.items()}
ALLOWED["graph"] |= {"__version__"}
ALLOWED["evidence"] = {*ALLOWED, "__version__"} - {"torch_ops"}
ALLOWED["porting"] = {*ALLOWED} - {"torch_ops"}
ALLOWED["commands"] = {*ALLOWED, *cudnn_ctypes.__all__, "__version__"} - {"torch_ops"}
ALLOWED["__main__"] = {"commands"}

# What each room of the graph API may import of the others; what stands beside them, of all.
ROOMS: dict[str, set[str]] = {
    "backend": set(),
    "describe": set(),
    "lower": {"describe", "backend"},
    "run": {"backend"},
    "engines": {"lower", "run", "backend"},
}
# What describes a graph knows of layer 1: enumerators and tables, but nothing that loads cuDNN.
PLAIN_DATA = {"attributes", "ctypes_support", "strides", "values"}

FRAMEWORKS = {"torch", "cupy", "jax", "numba", "tensorflow"}
MADE_FOR = {"torch_ops": {"torch"}}
"""Parts for users of one framework, which import it; nothing else imports them."""
FRONT_END_FOR_TORCH = {"__init__.pyi", "ops.py", "experimental/ops.py"}
"""Files of the front end with its functions for PyTorch, which load when they are asked for."""
MAINTAINERS = {"tools", "tests", "examples"}


def modules(folder: Path = PACKAGE) -> list[Path]:
    """All modules; of a package whose names load on first use the stub, too, which lists them."""
    return sorted([*folder.rglob("*.py"), *folder.rglob("__init__.pyi")])


def dotted(path: Path) -> list[str]:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


class Import(NamedTuple):
    """A dotted name that a module imports, a relative one resolved."""

    name: str
    in_function: bool
    for_types: bool
    """Whether only a type checker imports it."""


@functools.cache
def read(path: Path) -> tuple[list[Import], list[str]]:
    """Of a module, parsed once: what it imports anywhere, and the exceptions that it defines."""
    tree = ast.parse(path.read_text())
    package = dotted(path)
    if path.stem != "__init__":
        package = package[:-1]
    imports: list[Import] = []
    exceptions: list[str] = []

    def walk(node: ast.AST, in_function: bool, for_types: bool) -> None:
        """Of statements alone: nothing else imports or defines."""
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            # "from . import x" may name a module or a thing in one; both resolve here.
            names = [f"{home}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ClassDef) and any(
            ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases
        ):
            exceptions.append(node.name)
        imports.extend(Import(name, in_function, for_types) for name in names)
        in_function |= isinstance(node, ast.FunctionDef)
        checked = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for each in getattr(node, field, ()) if not isinstance(node, ast.expr) else ():
                walk(each, in_function, for_types or (checked and field == "body"))

    walk(tree, False, False)
    return imports, exceptions


def imported(path: Path, *, types: bool = True, functions: bool = True) -> set[str]:
    """Dotted names that a module imports: also those for type checkers, and in functions."""
    return {
        each.name
        for each in read(path)[0]
        if (types or not each.for_types) and (functions or not each.in_function)
    }


def part_of(name: str) -> str | None:
    """The part of the package that a dotted name belongs to."""
    pieces = name.split(".")
    return pieces[1] if pieces[0] == "cudnn_ctypes" and len(pieces) > 1 else None


PICTURES = "cudnn_ctypes.evidence.pictures"
"""What objects import when they are asked to show themselves, whatever they stand on."""


@functools.cache
def arrows() -> tuple[tuple[str, str, Path], ...]:
    """Who imports whom; drawing, which knows nothing of whom it draws, is below everything."""
    return tuple(_arrows())


def _arrows() -> Iterator[tuple[str, str, Path]]:
    for path in modules():
        here = part_of(".".join(dotted(path)))
        for name in imported(path):
            there = None if name.startswith(f"{PICTURES}.") else part_of(name)
            if here is not None and there is not None and here != there:
                yield here, there, path


@pytest.mark.parametrize("path", modules(PACKAGE / "evidence" / "pictures"), ids=lambda p: p.stem)
def test_pictures_know_nothing_of_what_they_show(path: Path) -> None:
    below = {part_of(name) for name in imported(path)} - {None, "evidence"}
    assert below <= {"arguments", "dtypes"}


def test_pictures_are_imported_when_they_are_asked_for() -> None:
    """In functions only: whoever draws nothing loads nothing of it."""
    for path in modules():
        if "evidence" not in dotted(path):
            names = imported(path, types=False, functions=False)
            assert not [name for name in names if name.startswith(PICTURES)], path


def test_every_part_is_known() -> None:
    parts = {part_of(".".join(dotted(path))) for path in modules()} - {None}
    assert parts <= ALLOWED.keys()


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_downwards(part: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {there}"
        for here, there, path in arrows()
        if here == part and there not in ALLOWED[part]
    ]
    assert wrong == []


def check_without_circles(below: Mapping[str, Set[str]]) -> None:
    rest = dict(below)
    while rest:
        lowest = [each for each in rest if not rest[each] & rest.keys()]
        assert lowest, f"circles among {sorted(rest)}"
        for each in lowest:
            del rest[each]


def test_the_arrows_have_no_circle() -> None:
    check_without_circles(ALLOWED)


@functools.cache
def graph_imports() -> dict[str, frozenset[str]]:
    """The modules of the graph API, each with those of them that it imports anywhere."""
    paths = {".".join(dotted(path)): path for path in modules(PACKAGE / "graph")}
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        names = imported(path, types=False)
        # "from .x import y" names the module x, or the module y in the package x.
        found[module] = {name if name in paths else name.rpartition(".")[0] for name in names}
    return {module: frozenset(names & paths.keys()) for module, names in found.items()}


def room_of(module: str) -> str:
    """The folder in graph/ that has the module; "" for what stands beside the rooms."""
    pieces = module.split(".")[2:]
    return pieces[0] if pieces and pieces[0] in ROOMS else ""


def test_rooms_of_the_graph_api_import_as_they_may() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in graph_imports().items()
        for other in others
        if (room := room_of(module))
        and room_of(other) != room
        and room_of(other) not in ROOMS[room]
    ]
    assert wrong == []


def test_the_graph_api_has_no_circle_of_modules() -> None:
    check_without_circles(graph_imports())


def reached(imports: dict[str, set[str]], start: str) -> set[str]:
    """The modules that a module imports, directly or through others."""
    found, waiting = set[str](), [start]
    while waiting:
        new = imports[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def circles(*, of_types: bool) -> set[frozenset[str]]:
    """Modules that import each other as they load; `of_types`: or where type checkers read them."""
    paths = {".".join(dotted(path)): path for path in PACKAGE.rglob("*.py")}
    imports: dict[str, set[str]] = {}
    for module, path in paths.items():
        named = imported(path, types=of_types, functions=False)
        names = {name if name in paths else name.rpartition(".")[0] for name in named}
        imports[module] = (names & paths.keys()) - {module}
    below = {module: reached(imports, module) for module in imports}
    return {
        frozenset(other for other in others if module in below[other])
        for module, others in below.items()
        if module in others
    }


def test_circles_are_few_and_of_types_within_a_folder() -> None:
    assert circles(of_types=False) == set()
    found = circles(of_types=True)
    assert len(found) <= 5
    for circle in found:
        folders = {tuple(module.split(".")[1:3]) for module in circle}
        assert len(folders) == 1 or {folder[0] for folder in folders} == {"raw"}, circle


def test_what_describes_a_graph_never_asks_the_library() -> None:
    for path in modules(PACKAGE / "graph" / "describe"):
        for name in imported(path, types=False):
            if name.startswith("cudnn_ctypes.raw"):
                pieces = name.split(".")[2:]
                plain = not pieces or pieces[0].startswith("cudnn") or pieces[0] in PLAIN_DATA
                assert plain, f"{path.name} imports {name}"
        assert "raw.load(" not in path.read_text()


def test_the_check_sees_every_kind_of_import(tmp_path: Path) -> None:
    """The check itself: relative, absolute and inside functions."""
    names = imported(PACKAGE / "handle.py")
    assert any(name.startswith("cudnn_ctypes.raw") for name in names)
    assert {"cudnn_ctypes.resource.Resource"} <= names
    everything = set().union(*(imported(path) for path in modules()))
    assert "cudnn_ctypes.raw.memory.memory_pointer" in everything
    assert ("legacy", "raw") in {(here, there) for here, there, _ in arrows()}


def test_no_framework_and_no_maintainer_s_tool() -> None:
    for path in modules():
        roots = {name.split(".")[0] for name in imported(path)}
        own = MADE_FOR.get(path.relative_to(PACKAGE).parts[0], set())
        assert not roots & ((FRAMEWORKS | MAINTAINERS) - own)


@pytest.mark.parametrize("part", MADE_FOR)
def test_only_the_front_end_imports_what_is_made_for_one_framework(part: str) -> None:
    found = {path.relative_to(PACKAGE).as_posix() for _, there, path in arrows() if there == part}
    assert found <= {f"frontend/{name}" for name in FRONT_END_FOR_TORCH}
    assert part not in cudnn_ctypes.__all__


def test_reference_computations_know_only_numpy() -> None:
    """What states an operation's meaning does not lean on what it is compared with."""
    for name in ("convolution", "activation", "pooling", "softmax", "lrn", "batch_normalization"):
        path = PACKAGE / "reference" / f"{name}.py"
        below = {part_of(found) for found in imported(path)} - {None, "reference", "dtypes"}
        assert below == set(), path


def test_importing_the_package_loads_little() -> None:
    program = """
        import sys
        before = set(sys.modules)
        import cudnn_ctypes
        maps = open("/proc/self/maps").read()
        loaded = set(sys.modules) - before
        print(sorted(m for m in loaded if m.split(".")[0] in (
            "cuda", "numpy", "ml_dtypes", "rich", "torch", "cupy", "jax", "PIL", "sklearn")))
        print(sorted(m for m in loaded if m.startswith("cudnn_ctypes")))
        print("libcudnn" in maps, "libcuda" in maps, "libcublas" in maps)
    """
    assert printed(program) == ["[]", "['cudnn_ctypes', 'cudnn_ctypes.lazy']", "False False False"]


@pytest.mark.parametrize("name", ["compat.v7", "compat.v7.rnn", "cublas", "cudart.types"])
def test_modules_are_the_same_under_their_other_names(name: str) -> None:
    module = importlib.import_module(f"cudnn_ctypes.porting.{name}")
    assert importlib.import_module(f"cudnn_ctypes.{name}") is module
    assert module.__spec__ is not None
    assert module.__spec__.name == f"cudnn_ctypes.porting.{name}"


def test_describing_a_graph_loads_nothing_that_builds_or_runs_one() -> None:
    program = """
        import sys
        from cudnn_ctypes import Graph
        graph = Graph(io_data_type="float16")
        graph.relu(graph.tensor((2, 3, 4))).set_output()
        graph.validate()
        rooms = ("engines", "lower", "run", "backend")
        print(sorted(
            name for name in sys.modules
            if name.startswith("cudnn_ctypes.runtime")
            or name.startswith("cudnn_ctypes.graph.") and name.count(".") > 2
            and name.split(".")[2] in rooms
        ))
    """
    assert printed(program) == ["['cudnn_ctypes.graph.run.execution_methods']"]


def test_every_public_name_can_be_had() -> None:
    program = """
        import sys
        import cudnn_ctypes
        assert set(cudnn_ctypes.__all__) <= set(dir(cudnn_ctypes))
        for name in cudnn_ctypes.__all__:
            assert getattr(cudnn_ctypes, name) is not None, name
        exec("from cudnn_ctypes import *")
        maps = open("/proc/self/maps").read()
        print("libcudnn" in maps, "torch" in sys.modules, "cuda.core" in sys.modules)
        try:
            cudnn_ctypes.TensorDescripter
        except AttributeError as error:
            print(error)
    """
    assert printed(program) == [
        "False False False",
        "module 'cudnn_ctypes' has no attribute 'TensorDescripter'",
    ]


@pytest.mark.soak
def test_import_time() -> None:
    """Importing layer 1 takes less CPU time than importing NumPy and a half."""
    from tools.bench_call import start_seconds

    numpy, ours = start_seconds(["import numpy", "import cudnn_ctypes.raw"], rounds=5).values()
    assert ours < 1.5 * numpy


INTERNAL_ERRORS = (
    "CommandError Death Invalid MissingNameError NoKey NoSuchPlanError NotReproducible OnlyThere "
    "Refused Spent Unreadable Untranslatable _Goto"
)
"""What users never see, or see as the built-in exceptions that they also are."""


def test_exceptions_are_public() -> None:
    defined = {name for path in modules() for name in read(path)[1]}
    exported = {*cudnn_ctypes.__all__, *cudnn_ctypes.frontend.__all__}
    exported |= {*runtime.__all__}
    assert defined - exported == set(INTERNAL_ERRORS.split())


def test_each_module_of_layer_2_can_be_the_first_that_is_loaded() -> None:
    """Docstrings are put together from those of other modules."""
    program = """
import importlib, pathlib, sys
from cudnn_ctypes import legacy
for path in pathlib.Path(legacy.__file__).parent.glob("[a-z]*.py"):
    for name in [name for name in sys.modules if name.startswith("cudnn_ctypes.legacy.")]:
        del sys.modules[name]
    importlib.import_module(f"cudnn_ctypes.legacy.{path.stem}")
"""
    assert printed(program) == []


@pytest.mark.parametrize(
    "stub", sorted(PACKAGE.rglob("__init__.pyi")), ids=lambda stub: stub.parent.name
)
def test_packages_offer_what_their_stubs_list(stub: Path) -> None:
    name = ".".join(("cudnn_ctypes", *stub.parent.relative_to(PACKAGE).parts))
    package = importlib.import_module(name)
    assert package.__all__ == sorted(listed(name))
    for each in package.__all__:
        assert getattr(package, each) is not None
    assert set(package.__all__) <= set(dir(package))
