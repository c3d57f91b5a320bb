"""The generated pages of the site hold what they promise."""

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from programs import ROOT

pytest.importorskip("numpydoc")

from cudnn_ctypes import known_faults, raw
from cudnn_ctypes.commands.lookup.entries import glossary
from tools import course_pages, markdown_pages, page_parts, reference_pages, tool_pages

TOOLS = Path(tool_pages.__file__).parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All generated pages, in a folder of their own."""
    folder = tmp_path_factory.mktemp("reference")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_parts, "FOLDER", folder)
        reference_pages.write_reference()
    return folder


@pytest.mark.soak
def test_a_page_of_a_function_has_all_parts(site):
    text = (site / "c" / "cudnnPoolingForward.md").read_text()
    for part in (
        "cudnnStatus_t cudnnPoolingForward(",
        "[cudnnHandle_t](../types.md#cudnnhandle_t)",
        "since cuDNN 1.0.0",
        "[`pooling_forward`](../api/pooling_forward.rst)",
        "[`Graph.resample`](../graph/resample.rst)",
        "y = alpha * pool(x) + beta * y",
        ">>> y.numpy()[0, 0]",
        "[06_pooling.py](../examples/06_pooling.md)",
    ):
        assert part in text, part


def test_every_function_has_a_page_and_a_place_in_the_sidebar(site):
    pages = {path.stem for path in (site / "c").glob("*.md")} - {"index"}
    assert pages == set(raw.FUNCTIONS)
    for folder, families in reference_pages.reference_names().items():
        names = [name for family in families.values() for name in family]
        written = {path.stem for path in (site / Path(folder).name).iterdir()} - {"index"}
        assert (written, len(names)) == (set(names), len(written)), folder


def test_the_front_end_s_names_have_pages(site):
    text = (site / "frontend" / "index.md").read_text()
    assert all(
        f"`{name}`" in text for name in ("pygraph", "create_handle", "heur_mode", "FALLBACK")
    )
    assert (
        ".. autoclass:: cudnn_ctypes.frontend.pygraph"
        in (site / "frontend" / "pygraph.rst").read_text()
    )


def test_known_faults_are_listed_with_their_programs(site):
    text = (site / "known_faults.md").read_text()
    for row in known_faults():
        assert f"\n### {row.name[0].upper()}{row.name[1:]}\n" in text
    for part in ("remedy | build two graphs", "= sdpa(", "raw.cudnnSoftmaxForward(handle"):
        assert part in text, part
    told = "## Random calls on two devices", "| `cudnnPoolingForward` |", " differences"
    for part in told:
        assert part in text, part


WITHOUT_FORMULA = {
    "cudnnBuildRNNDynamic": "computes nothing",
    "cudnnFusedOpsExecute": "computes whatever its plan says",
    "cudnnRestoreDropoutDescriptor": "computes nothing",
    "cudnnTransformTensor": "copies",
}


def test_functions_that_compute_have_their_formula(site):
    computing = {
        name
        for name in raw.FUNCTIONS
        if not re.match("cudnn(Create|Destroy|Set|Get|Find|Make|Query|Derive|Init|Backend)", name)
        and not name.endswith("VersionCheck")
        and not re.search("(Get|Set)[A-Z]", name)
    }
    without = {
        name for name in computing if "It computes" not in (site / "c" / f"{name}.md").read_text()
    }
    assert without == WITHOUT_FORMULA.keys()


def test_methods_that_describe_tensors_are_on_the_page_of_graphs(site):
    operations = {path.stem for path in (site / "graph").iterdir()}
    assert {"matmul", "sdpa"} <= operations
    assert not {"find_tensor", "tensor", "tensor_like", "tensor_scalar"} & operations
    assert "find_tensor" not in (site / "api" / "Graph.rst").read_text()  # of those left out


def test_links_between_generated_pages_lead_somewhere(site):
    for page in site.rglob("*.md"):
        for target in re.findall(r"\]\((?!http)([^)#\s]+\.(?:md|rst|ipynb))", page.read_text()):
            path = (page.parent / target).resolve()
            assert path.exists() or not path.is_relative_to(site), f"{page.name}: {target}"


def test_an_example_has_its_introduction_its_program_and_its_output(site):
    text = (site / "examples" / "06_pooling.md").read_text()
    assert text.startswith("# 06: Pooling\n")
    assert "Two things that surprise" in text
    assert text.count("Two things that surprise") == 1
    assert "average_count_exclude_padding: (1 + 2 + 5 + 3) / 4 = 2.750" in text


def test_the_glossary_tells_each_term(site):
    text = (site / "glossary.md").read_text()
    for term, row in glossary().items():
        assert f"\n\n{term}\n: {row['says']}" in text, term


def test_pages_are_there_as_markdown_and_listed(site, tmp_path):
    files = {"handle": site / "api/Handle.rst", "installation": ROOT / "docs/installation.md"}
    pages = SimpleNamespace(found_docs=set(files), doc2path=files.get)
    html = SimpleNamespace(format="html")
    markdown_pages.write_markdown(
        SimpleNamespace(builder=html, env=pages, outdir=str(tmp_path)), None
    )
    text = (tmp_path / "handle.md").read_text()
    assert "### synchronize(self) -> None\n" in text
    assert "```{" not in markdown_pages.markdown(site / "c/index.md")
    listed = (tmp_path / "llms.txt").read_text()
    assert "- [Installation](installation.md): Linux, on x86-64 or aarch64, " in listed


def test_a_star_is_no_emphasis():
    assert page_parts.prose("n*sn + ``c*sc``\n    a * b") == "n\\*sn + `c\\*sc`\n    a * b"


def test_notebooks_keep_their_outputs_fold_answers_and_explain_terms(site):
    pages = sorted((site / "notebooks").glob("*.ipynb"))
    assert len(pages) == 13
    for page in pages:
        text = page.read_text()
        assert text.count("<details>") == 3
        assert '"output_type"' in text
        assert f"examples/notebooks/{page.name}>`" in text
    first = json.loads(pages[0].read_text())["cells"]
    told = next(c["source"] for c in first if "**<abbr" in c["source"] and "handle" in c["source"])
    assert '**<abbr title="A value that stands for an open use of the library. ' in told
    listed = (site / "notebooks" / "index.md").read_text()
    assert all(f"]({page.name})" in listed for page in pages)


def test_every_tool_that_is_a_command_has_a_page():
    commands = {
        path.stem if path.stem != "__main__" else path.parent.name
        for path in [*TOOLS.glob("*.py"), *TOOLS.glob("*/__main__.py")]
        if '__name__ == "__main__"' in path.read_text() or path.stem == "__main__"
    }
    assert commands == set(" ".join(tool_pages.KINDS.values()).split())


def test_programs_on_pages_are_whole():
    for path in sorted(course_pages.folder().glob("[0-9]*.py")):
        tree = ast.parse(course_pages._program(path))
        assert len(tree.body) == len(ast.parse(path.read_text()).body) - 1
