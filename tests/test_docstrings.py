"""Docstrings begin with a noun or a verb, and their examples do what they show."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes
from cudnn_ctypes import raw

PACKAGE = Path(__file__).parents[1] / "cudnn_ctypes"
PUBLIC = {"np": np, **{name: getattr(cudnn_ctypes, name) for name in cudnn_ctypes.__all__}}
"""What examples use without an import."""

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def with_examples() -> list[str]:
    """Names of the modules whose text has an example."""
    return [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(PACKAGE.rglob("*.py"))
        if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
    ]


class Finder(doctest.DocTestFinder):
    """Finds methods that a decorator made by the module that they say they are of."""

    def _from_module(self, module: Any, object: Any) -> bool:
        return getattr(object, "__module__", None) == module.__name__


class Runner(doctest.DocTestRunner):
    """Runs examples; those of functions that an older library lacks are skipped."""

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        older = cudnn_ctypes.library_versions().number < raw.CUDNN_VERSION
        if older and issubclass(exc_info[0], cudnn_ctypes.SymbolNotFoundError):
            pytest.skip(str(exc_info[1]))
        super().report_unexpected_exception(out, test, example, exc_info)


@pytest.mark.parametrize("name", with_examples())
def test_examples_do_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name.startswith("cudnn_ctypes.torch_ops"):
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    # The functions of layer 1 come into being while one goes through them.
    finder = Finder(recurse=name != "cudnn_ctypes.raw")
    runner = Runner(optionflags=FLAGS)
    for test in finder.find(module, name, globs={**PUBLIC, **vars(module)}):
        if not test.examples:  # each run looks whether the files of all tracebacks have changed
            continue
        with cudnn_ctypes.use_reference_device():
            runner.run(test)
    assert runner.failures == 0
    assert runner.tries or "+SKIP" in Path(str(module.__file__)).read_text()


def test_a_wrong_example_is_seen() -> None:
    parsed = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(parsed, out=lambda _: None).failed == 1


RIDDLES = re.compile(r"""^ *\"{3}\s*(?:What|That|Those|Of|As|Such)\b.*""", re.MULTILINE)
"""First lines of docstrings that do not say what a thing is."""


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    texts = {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    clean = {
        path: text
        for path, text in texts.items()
        if "porting" not in path.parts and "do not edit" not in text[:600]
    }
    found = {path: RIDDLES.findall(text) for path, text in clean.items()}
    assert clean
    assert not {path: lines for path, lines in found.items() if lines}


def test_a_riddling_docstring_is_seen() -> None:
    assert RIDDLES.search('def f():\n    """What a variable holds."""')
    assert not RIDDLES.search('def f():\n    """The value of a variable."""')
