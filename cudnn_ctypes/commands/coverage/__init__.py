"""A computed table of the C functions: who uses each in this package, and where it has been run.

For every function of the headers the table has the public class or function that uses it, read from
the package's source; whether the reference device implements it; and the cuDNN versions with which
a test has run it on a GPU, recorded by the tests.
"""

from __future__ import annotations

from .gpu_runs import GpuRun, gpu_runs
from .report import print_table, summary
from .table import REASONS, Row, table

__all__ = ["REASONS", "GpuRun", "Row", "gpu_runs", "print_table", "summary", "table"]
