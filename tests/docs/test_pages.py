"""Every code block of README, CONTRIBUTING and the site runs, and prints what the page says."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages import FAILED, NEEDS, ROOT, Block, blocks, faults, pages, run

import cudnn_ctypes
from cudnn_ctypes import raw

PAGES = pages()

# Their blocks compile many kernels or start many programs, which takes seconds.
LONG = {
    "command_line.md",
    "engines.md",
    "environment.md",
    "errors.md",
    "graph.md",
    "lifetimes.md",
    "porting.md",
    "teaching.md",
}
SKIPPED = {"gpu", "install", "minutes"} if find_spec("torch") else set(NEEDS)


def _of(page: Path) -> list[Block]:
    return list(blocks(page.read_text()))


def _named(chosen: list[Path]) -> pytest.MarkDecorator:
    cases = [
        pytest.param(page, marks=pytest.mark.soak if page.name in LONG else ()) for page in chosen
    ]
    return pytest.mark.parametrize("page", cases, ids=lambda path: str(path.relative_to(ROOT)))


def _check(chosen: list[Block], folder: Path, device: str) -> None:
    found = list(faults(chosen, run(chosen, folder / "work", device=device)))
    assert not found, "\n\n".join(found)


@pytest.mark.thinned(4)
@_named([page for page in PAGES if any(not SKIPPED & set(b.needs) for b in _of(page))])
def test_page(page, tmp_path):
    _check([b for b in _of(page) if not SKIPPED & set(b.needs)], tmp_path, "reference")


@pytest.mark.gpu
@_named([page for page in PAGES if any("gpu" in b.needs for b in _of(page))])
def test_page_on_a_gpu(page, tmp_path):
    _check([b for b in _of(page) if "gpu" in b.needs], tmp_path, "cuda")


LEFT = [(page, block) for page in PAGES for block in _of(page) if SKIPPED & set(block.needs)]


@pytest.mark.parametrize(
    ("page", "block"), LEFT, ids=[f"{page.relative_to(ROOT)}:{block.line}" for page, block in LEFT]
)
def test_block_that_is_not_run_here(page, block):
    if block.language == "python":
        compile(block.source, f"{page.name}:{block.line}", "exec")
    else:
        subprocess.run(["bash", "-n", "-c", block.source], check=True)
    pytest.skip(f"not run, only parsed: {NEEDS[min(SKIPPED & set(block.needs))]}")


# --- what pages say of the code ------------------------------------------------------------------


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def test_every_environment_variable_that_is_read_is_told():
    read = {
        name
        for path in (ROOT / "cudnn_ctypes").rglob("*.py")
        if "os.environ" in (source := path.read_text())
        for name in re.findall(r'"((?:CUDNN|CUDA|NVIDIA|XDG|LD|CONDA)_[A-Z0-9_]+)"', source)
    }
    assert len(read) > 10
    assert not {name for name in read if f"`{name}`" not in _page("environment.md")} - {
        "CUDNN_STATUS_SUCCESS"
    }


def test_every_exception_is_told_in_the_order_of_the_alphabet():
    errors = _page("errors.md")
    terms = re.findall(r"^\[?(\w+)\]?(?:\(.*\))?\n: ", errors, re.MULTILINE)
    assert terms == sorted(terms)
    for name in cudnn_ctypes.__all__:
        item = getattr(cudnn_ctypes, name)
        if isinstance(item, type) and issubclass(item, BaseException):
            assert name in terms or f"`{name}`" in errors, name


def test_modules_are_stable_or_say_that_they_are_provisional():
    row = re.compile(r"^\| `(cudnn_ctypes\.(\w+))` \| (\w+) \|", re.MULTILINE)
    marks = {module: (name, mark) for name, module, mark in row.findall(_page("compatibility.md"))}
    folders = {file.parent.name for file in (ROOT / "cudnn_ctypes").glob("*/__init__.py")}
    of_users = folders - {"absent_gpu", "commands", "porting"} | {"compat", "cudart", "cublas"}
    assert set(marks) == of_users
    for name, mark in marks.values():
        if name != "cudnn_ctypes.torch_ops" or find_spec("torch"):
            text = import_module(name).__doc__
            assert mark == ("provisional" if "\nProvisional: " in text else "stable"), name


def test_guides_name_what_is_there():
    for title, module in (("cupy.cudnn", "cudnn_ctypes"), ("PyTorch", "cudnn_ctypes.torch_ops")):
        table = _page("porting.md").partition(f"## From {title}\n")[2].partition("\n## ")[0]
        cells = [row.split("|")[2] for row in re.findall(r"^\| .*[^|]\|$", table, re.MULTILINE)[1:]]
        names = {
            name for cell in cells for name in re.findall(r"`(?:raw\.)?([A-Za-z]\w+)[`(.]", cell)
        }
        assert len(names) > 8
        if module != "cudnn_ctypes.torch_ops" or find_spec("torch"):
            places = [cudnn_ctypes, raw, import_module(module)]
            missing = {name for name in names if not any(hasattr(each, name) for each in places)}
            assert missing <= {"torch", "workspace"}, title


def test_pages_name_the_release_that_is_declared():
    release = f"{raw.CUDNN_MAJOR}.{raw.CUDNN_MINOR}"
    named = re.compile(r"(?:9\.0 to|headers of(?: cuDNN)?) (9\.\d+)")
    for name in ("raw.md", "compatibility.md", "pictures/layers.svg"):
        assert set(named.findall(_page(name))) == {release}, name
    assert f"has all {len(raw.FUNCTIONS)}" in _page("raw.md")


# --- the mechanism itself ------------------------------------------------------------------------

PAGE = """
```python
import sys
word = "one"
print(word, "two")
```

```text
one   ...
```

Prose between.

```shell
python -c 'print(1)'
```
```text
2
```

```python
1 / 0
```

```text
ZeroDivisionError: division by zero
```

```python
raise KeyError(word)
```

```python gpu torch
never()
```
"""


def test_what_differs_from_a_page_is_found(tmp_path):
    chosen = list(blocks(PAGE))
    assert [block.line for block in chosen] == [3, 15, 22, 30, 34]
    assert [block.needs for block in chosen][-1] == ("gpu", "torch")
    printed = run(chosen, tmp_path / "work")
    assert printed[:2] == ["one two\n", "1\n"]
    assert printed[3:] == [FAILED + "KeyError: 'one'\n", None]
    found = list(faults(chosen, printed))
    assert [each.split(":")[0] for each in found] == ["line 15", "line 30", "line 34"]


@pytest.mark.parametrize("info", ["", "pyhton", "python gpus"])
def test_a_block_that_nobody_would_run_is_refused(info):
    with pytest.raises(ValueError, match="unknown"):
        list(blocks(f"```{info}\n1\n```\n"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_code_is_marked_by_its_indentation_alone(page):
    """Nobody would run it."""
    unfenced = re.sub(r"^(```+).*?^\1", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"\n\n {4,}\S", unfenced)


def test_directives_of_the_site_are_no_code():
    assert not list(blocks("```{toctree}\npage\n```\n"))
