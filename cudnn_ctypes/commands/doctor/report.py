"""The doctor's findings as one block of text, for bug reports."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence

from ... import __version__
from .findings import Finding

__all__ = ["report"]

_PREFIXES = ("CUDNN", "CUDA_", "NVIDIA_", "LD_", "PYTORCH_CUDA")


def report(findings: Sequence[Finding]) -> str:
    """A block of Markdown: the system, the environment, the findings by section, advice.

    Examples
    --------
    >>> from cudnn_ctypes.commands.doctor import examine, report
    >>> print(report(list(examine())))  # doctest: +SKIP
    """
    return "\n".join(["```text", *_lines(findings), "```"])


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    yield f"cudnn-ctypes {__version__}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"{python}, {sys.executable}"
    yield f"{platform.platform()}, {platform.machine()}"
    variables = [name for name in sorted(os.environ) if name.startswith(_PREFIXES)]
    yield from (f"{name}={os.environ[name]}" for name in variables)
    for section in dict.fromkeys(finding.section for finding in findings):
        yield f"\n{section}"
        for finding in findings:
            if finding.section == section:
                value = finding.value.replace("\n", "\n      ")
                mark = "" if finding.state == "ok" else f"[{finding.state}] "
                yield f"  {finding.name}: {mark}{value}"
