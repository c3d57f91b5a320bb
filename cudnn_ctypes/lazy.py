"""Names that a package loads on first use, and modules that can be imported under other names.

The stub of a package lists each of its names once, for type checkers and here.
"""

from __future__ import annotations

import _ast  # not ast, importlib.abc and pkgutil: they are most of what an import would take
import functools
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


@functools.cache
def listed(package: str) -> Mapping[str, tuple[str, str]]:
    """The names that the imports of a package's stub list.

    - `package`: the package's dotted name; its folder has an ``__init__.pyi``.

    Returns for each name the dotted name of its module, and its name there; "" for a module itself.
    """
    names: dict[str, tuple[str, str]] = {}
    tree: Any = compile(_stub(package), f"{package}.pyi", "exec", _ast.PyCF_ONLY_AST)
    for node in tree.body:
        if not isinstance(node, _ast.ImportFrom) or not node.level:
            continue
        above = package.split(".")[: package.count(".") + 2 - node.level]
        module = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            if alias.name == "*":
                names |= _all_of(module)
            elif node.module is None:
                names[alias.asname or alias.name] = f"{package}.{alias.name}", ""
            else:
                names[alias.asname or alias.name] = module, alias.name
    return names


def _stub(package: str) -> bytes:
    root, _, path = f"{package}.__init__".replace(".", "/").partition("/")
    spec: Any = sys.modules[root].__spec__
    folder = os.path.dirname(spec.origin)
    data: bytes = spec.loader.get_data(os.path.join(folder, f"{path}.pyi"))
    return data


def _all_of(module: str) -> Mapping[str, tuple[str, str]]:
    try:
        return listed(module)
    except OSError:  # no package with a stub
        return {name: (module, name) for name in importlib.import_module(module).__all__}


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose stub lists its names."""
    names = listed(package)

    def __getattr__(name: str) -> Any:
        if name not in names:
            text = f"module {package!r} has no attribute {name!r}"
            # A traceback suggests a name of the object.
            raise AttributeError(text, name=name, obj=sys.modules[package])
        module, attribute = names[name]
        value: Any = importlib.import_module(module)
        if attribute:
            value = getattr(value, attribute)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return __getattr__, __dir__, sorted(names)


def import_under_other_names(packages: Mapping[str, str]) -> None:
    """Let packages be imported under other names, with their modules.

    - `packages`: the dotted names, by the other ones.
    """
    sys.meta_path.insert(0, _OtherNames(packages))  # before what would load the files once more


class _OtherNames:
    def __init__(self, packages: Mapping[str, str]) -> None:
        self._packages = packages

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        loader: Any = self
        package = ".".join(fullname.split(".", 2)[:2])
        return ModuleSpec(fullname, loader) if package in self._packages else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        package = ".".join(spec.name.split(".", 2)[:2])
        module = importlib.import_module(self._packages[package] + spec.name[len(package) :])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has been run, its own specification back."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state
