"""The page of the atlas: which shapes compile for which GPU with which cuDNN."""

from __future__ import annotations

from cudnn_ctypes.evidence.atlas import Atlas

from .page_parts import code, grid, write

__all__ = ["write_atlas"]

_FILTER = """\
<p><input id="atlas" size="50" placeholder="b200 attention backward head 256"
 aria-label="Words that rows must have, and GPUs"></p>
<script>
addEventListener("DOMContentLoaded", () => {
  const input = document.getElementById("atlas");
  const tables = [...document.querySelectorAll(".bd-article table")].filter(
    (table) => table.rows[0].cells[0].textContent.trim() === "shape");
  const show = (element, shown) => { element.style.display = shown ? "" : "none"; };
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const table of tables) {
      const names = [...table.rows[0].cells].map((cell) => cell.textContent.trim());
      const gpus = words.filter((word) => names.includes(word));
      const parts = words.filter((word) => !names.includes(word));
      for (const row of [...table.rows].slice(1)) {
        const text = row.cells[0].textContent.toLowerCase().split(/[\\s,]+/);
        show(row, parts.every((part) => text.some((word) => word.startsWith(part))));
      }
      for (const row of table.rows) {
        [...row.cells].forEach((cell, i) =>
          show(cell, !i || !gpus.length || gpus.includes(names[i])));
      }
    }
  });
});
</script>"""


def write_atlas() -> None:
    """A table for each version and family, and the reasons below."""
    atlas = Atlas.known()
    parts = [
        "# The atlas of engines",
        f"{len(atlas.cells):,} cells: graphs of common shapes, compiled with full builds of cuDNN "
        "for GPUs that were not there, and not executed. A number is the first engine that "
        "compiles, *fails* stands where engines accept the graph and none that was tried "
        "compiles, *no* where none accepts it, and a star where a [known fault](known_faults.md) "
        "concerns it. 9.28 was asked with NVRTC of CUDA 12.9, 9.19 with that of CUDA 13. "
        "`python -m cudnn_ctypes atlas` asks the same from a shell, "
        "[`Atlas`](api/Atlas.rst) in Python.",
        _FILTER,
    ]
    for version in atlas.versions:
        found = atlas.where(version)
        parts += [f"## cuDNN {version}", code(found.counts(), "text")]
        for family in dict.fromkeys(shape.split()[0] for shape in found.shapes):
            head, *rows = found.where(family).rows()
            parts += [f"### {family.capitalize()}, cuDNN {version}", grid(head, rows)]
        parts += [f"### Why not, cuDNN {version}", code(found.reasons(), "text")]
    write("atlas.md", *parts)
