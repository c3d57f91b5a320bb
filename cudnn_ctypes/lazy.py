"""Names that a package loads on first use: its stub lists each once, for type checkers and here."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from importlib.util import resolve_name
from typing import Any

__all__ = ["attach", "listed"]


@functools.cache
def listed(package: str) -> Mapping[str, tuple[str, str]]:
    """The names that the imports of a package's stub list.

    Parameters
    ----------
    package : str
        The package's dotted name; its folder has an ``__init__.pyi``.

    Returns
    -------
    mapping
        For each name the dotted name of its module, and its name there; "" for a module itself.
    """
    names: dict[str, tuple[str, str]] = {}
    for node in ast.parse(_stub(package)).body:
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        module = resolve_name("." * node.level + (node.module or ""), package)
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
    return pkgutil.get_data(root, f"{path}.pyi") or b""


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
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = names[name]
        value: Any = importlib.import_module(module)
        if attribute:
            value = getattr(value, attribute)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return __getattr__, __dir__, sorted(names)
