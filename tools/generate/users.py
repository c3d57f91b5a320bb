"""The package's source as a graph of names, to find the direct and indirect users of C functions.

A node is a module and a name defined at its top level. Its edges are the names that it mentions,
resolved through imports. The files are parsed, not imported.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cudnn_ctypes.lazy import listed

__all__ = ["Definition", "users"]

PACKAGE = Path(__file__).parents[2] / "cudnn_ctypes"
ROOT = PACKAGE.name

# Layer 1 itself, replacements of C functions, and programs: a use there does not make a function
# part of the package's interface.
_NOT_USERS = {
    "raw",
    "reference",
    "commands",
    "evidence",
    "porting",
    "__main__",
}
# Packages that list public names, in ``__all__`` or in their stub.
_PUBLIC = ("", "device", "legacy")

Node = tuple[str, str]  # module, name


@dataclass
class Definition:
    """A name at the top level of a module, with the names that its definition mentions."""

    edges: set[Node] = field(default_factory=set)
    functions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """C functions, each with the methods that use it ("" for the class or function itself)."""
    bases: list[str] = field(default_factory=list)
    """Names of a class's bases."""
    patterns: set[str] = field(default_factory=set)
    """Arguments of ``self._function``, which puts the class's direction into them."""
    direction: str = ""


@dataclass
class _Module:
    name: str
    imports: dict[str, Node]
    definitions: dict[str, Definition]
    exported: tuple[str, ...]


def users(functions: frozenset[str]) -> dict[str, list[str]]:
    """The public names that use each of these C functions; the most direct ones.

    "TensorDescriptor.set_4d" if a public class or function uses it directly; else the public names
    that reach it in the fewest steps.
    """
    modules = _modules(functions)
    graph = {
        (module.name, name): definition
        for module in modules.values()
        for name, definition in module.definitions.items()
    }
    public = _public(modules)
    for node in public:
        for base in _private_bases(modules, node, public):
            for function, methods in base.functions.items():
                graph[node].functions[function] |= methods
            for pattern in base.patterns:
                graph[node].functions["cudnn" + pattern.format(graph[node].direction)].add("")
    reached_from: dict[Node, set[Node]] = defaultdict(set)
    for node, definition in graph.items():
        for target in definition.edges:
            reached_from[target].add(node)
    found: dict[str, list[str]] = {}
    for function in sorted(functions):
        direct = {n: d.functions[function] for n, d in graph.items() if function in d.functions}
        own = [
            f"{public[node]}.{method}" if method else public[node]
            for node, methods in direct.items()
            if node in public
            for method in sorted(methods)
        ]
        names = own or [public[node] for node in _nearest(set(direct), reached_from, set(public))]
        if names:
            found[function] = sorted(set(names))
    return found


def _nearest(start: set[Node], edges: dict[Node, set[Node]], wanted: set[Node]) -> set[Node]:
    """The wanted nodes that are reached in the fewest steps."""
    level, seen = start, set(start)
    while level:
        if hits := level & wanted:
            return hits
        level = {after for node in level for after in edges[node]} - seen
        seen |= level
    return set()


def _public(modules: dict[str, _Module]) -> dict[Node, str]:
    """The public names, by the node of their definition."""
    names: dict[Node, str] = {}
    for part in _PUBLIC:
        module = modules.get(f"{ROOT}.{part}".rstrip("."))
        for name in module.exported if module else ():
            node = _resolved(modules, (module.name, name)) if module else None
            if node is not None:
                names.setdefault(node, name)
    return names


def _private_bases(
    modules: dict[str, _Module], node: Node, public: Mapping[Node, str]
) -> Iterator[Definition]:
    """The bases of a class that are not public themselves, and theirs."""
    for name in modules[node[0]].definitions[node[1]].bases:
        base = _resolved(modules, (node[0], name))
        if base is not None and base not in public:
            yield modules[base[0]].definitions[base[1]]
            yield from _private_bases(modules, base, public)


def _resolved(modules: dict[str, _Module], node: Node) -> Node | None:
    """The node of a name's definition, resolved through imports; None if not found."""
    for _ in range(8):
        module = modules.get(node[0])
        if module is None:
            return None
        if node[1] in module.definitions:
            return node
        if node[1] not in module.imports:
            return None
        node = module.imports[node[1]]
    return None


@functools.cache
def _modules(functions: frozenset[str]) -> dict[str, _Module]:
    modules = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if len(parts) > 1 and parts[1] in _NOT_USERS:
            continue
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = _parse(path, name, is_package)
    for module in modules.values():
        for definition in module.definitions.values():
            _resolve_edges(modules, module, definition, functions)
            for create in definition.functions.keys() & _getters().keys():
                for getter in _getters()[create]:
                    definition.functions[getter].add("")
    return modules


@functools.cache
def _getters() -> dict[str, set[str]]:
    """The C functions that read a kind of descriptor in layer 1, by the function that creates it.

    A user of the creating function counts as a user of the reading ones, for the records.
    """
    found: dict[str, set[str]] = {}
    for statement in ast.parse((PACKAGE / "raw" / "descriptors.py").read_text()).body:
        match statement:
            case ast.FunctionDef(
                decorator_list=[ast.Call(func=ast.Name("reader"), args=[ast.Attribute(attr=kind)])]
            ):
                stem = kind.removeprefix("cudnn").removesuffix("_t")
                names = (n.value for n in ast.walk(statement) if isinstance(n, ast.Constant))
                getters = {n for n in names if isinstance(n, str) and n.startswith("cudnn")}
                found["cudnnCreate" + stem.removeprefix("Handle")] = getters
    return found


def _parse(path: Path, name: str, is_package: bool) -> _Module:
    tree = ast.parse(path.read_text())
    package = name if is_package else name.rpartition(".")[0]
    lazy = listed(name) if is_package and path.with_suffix(".pyi").exists() else {}
    module = _Module(name, {}, {}, (*_exported(tree), *lazy))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            pieces = package.split(".")
            above = pieces[: len(pieces) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                module.imports[alias.asname or alias.name] = (home, alias.name)
    module.imports |= {name: home for name, home in lazy.items() if home[1]}
    for statement in tree.body:
        for defined in _defined(statement):
            definition = module.definitions.setdefault(defined, Definition())
            if isinstance(statement, ast.ClassDef):
                definition.bases = [
                    base.id for base in statement.bases if isinstance(base, ast.Name)
                ]
                definition.patterns = set(_patterns(statement))
                definition.direction = _direction(statement)
                for stem in _owned(statement):  # `legacy.descriptor` derives these two
                    definition.functions[f"raw\0cudnnCreate{stem}"].add("")
                    definition.functions[f"raw\0cudnnDestroy{stem}"].add("")
            for method, mentioned in _mentions(statement):
                # Not yet resolved: the first word, the second word or "", and the method.
                definition.functions["\0".join(mentioned)].add(method)
    return module


def _resolve_edges(
    modules: dict[str, _Module], module: _Module, definition: Definition, functions: frozenset[str]
) -> None:
    """Resolve the words that `_parse` stored to edges and C functions."""
    noted, definition.functions = definition.functions, defaultdict(set)
    for words, methods in noted.items():
        first, _, second = words.partition("\0")
        home = module.imports.get(first)
        if home == (ROOT, "raw") and second in functions:
            definition.functions[second] |= methods
        elif home is not None and home[0] == f"{ROOT}.raw" and home[1] in functions:
            definition.functions[home[1]] |= methods
        elif first in module.definitions:
            definition.edges.add((module.name, first))
        elif home is not None:
            inside = (".".join(home), second)  # an attribute of an imported module
            target = _resolved(modules, inside) or _resolved(modules, home)
            if target is not None:
                definition.edges.add(target)


def _owned(statement: ast.ClassDef) -> Iterator[str]:
    """The kinds of descriptors that the bases of a class name, as in ``Descriptor[raw.…]``."""
    for base in statement.bases:
        match base:
            case ast.Subscript(slice=ast.Attribute(value=ast.Name("raw"), attr=pointer)):
                yield pointer.removeprefix("cudnn").removesuffix("_t")


def _patterns(statement: ast.ClassDef) -> Iterator[str]:
    """The names of C functions that a class completes by its direction."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr="_function"), args=[ast.Constant(str(pattern))]):
                yield pattern


def _direction(statement: ast.ClassDef) -> str:
    for each in statement.body:
        match each:
            case ast.AnnAssign(target=ast.Name("direction"), value=ast.Constant(str(direction))):
                return direction
    return ""


def _defined(statement: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _mentions(statement: ast.stmt) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names in a statement with their first attribute, each after its enclosing method."""
    queue: deque[tuple[ast.AST, str, bool]] = deque([(statement, "", True)])
    while queue:
        node, method, top = queue.popleft()
        match node:
            case ast.Attribute(value=ast.Name(id=first), attr=second):
                yield method, (first, second)
                continue
            case ast.Name(id=first):
                yield method, (first, "")
        for child in ast.iter_child_nodes(node):
            inner = method
            if top and isinstance(node, ast.ClassDef) and isinstance(child, ast.FunctionDef):
                inner = "" if child.name.startswith("_") else child.name
            queue.append((child, inner, False))


def _exported(tree: ast.Module) -> tuple[str, ...]:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items)):
                return tuple(ast.literal_eval(item) for item in items)
    return ()
