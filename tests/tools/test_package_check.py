"""Wheel and source distribution: what tools for packages say of them, and placeholders."""

from __future__ import annotations

import importlib.util
import io
import re
import tarfile
from pathlib import Path

import pytest

from tools import package_check

tomllib = pytest.importorskip("tomllib")  # since Python 3.11

PLACES = {"PKG-INFO": "Author-email: x <x@example.invalid>\n", "SECURITY.md": "see RFC 2606\n"}


def sdist_of(path, files):
    """A source distribution with these texts."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"cudnn_ctypes-1/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("publish", [[], ["--publish"]])
def test_placeholders_are_refused_before_an_upload(publish, tmp_path, monkeypatch, capsys):
    sdist = sdist_of(tmp_path / "it.tar.gz", PLACES)
    monkeypatch.setattr(package_check, "build", lambda folder: (sdist, sdist))
    monkeypatch.setattr(package_check, "faults", lambda *files: {})
    assert package_check.main([str(tmp_path), *publish]) == len(publish)
    printed = capsys.readouterr()
    assert ("PKG-INFO: x@example.invalid" in printed.err) == bool(publish)
    assert ("1 placeholders" in printed.out) != bool(publish)


def test_without_placeholders_it_may_go(tmp_path):
    texts = {"PKG-INFO": "Author-email: x <x@example.org>\n"}
    assert package_check.placeholders(sdist_of(tmp_path / "it.tar.gz", texts)) == []


@pytest.mark.soak
def test_tools_find_nothing_in_wheel_and_sdist(tmp_path):
    for module in ("hatchling", "twine", "check_wheel_contents", "pyroma"):
        if importlib.util.find_spec(module) is None:  # they run in processes of their own
            pytest.skip(f"no {module} here")
    wheel, sdist = package_check.build(tmp_path)
    assert package_check.faults(wheel, sdist) == {}
    texts = package_check.placeholders(sdist)
    assert not texts or "PKG-INFO: Private :: Do Not Upload" in texts, "an index would take it"


def test_the_lock_file_satisfies_the_project():
    requirements = pytest.importorskip("packaging.requirements")
    root = Path(package_check.__file__).parent.parent
    pins = re.findall(r"^([^#=]+)==(\S+)", (root / ".ci/requirements.txt").read_text(), re.M)
    project = tomllib.loads((root / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    for text in [*wanted, *extras["cu12"], *extras["docs"], *extras["test"]]:
        each = requirements.Requirement(text)
        if each.name != "cudnn-ctypes":
            name = each.name.replace("_", "-")
            assert any(name == pin and version in each.specifier for pin, version in pins), text
