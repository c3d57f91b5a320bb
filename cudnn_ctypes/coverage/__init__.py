"""Which part of this package uses which C function, and where each has been run. All computed.

For every function of the headers: the public class or function that uses it, found by reading the
package's own source; whether the reference device carries it out; and the cuDNN versions with which
a test has run it on a GPU, which the tests record.
"""

from __future__ import annotations

from .gpu_runs import GpuRun, gpu_runs
from .report import print_table, summary
from .table import REASONS, Row, table

__all__ = ["REASONS", "GpuRun", "Row", "gpu_runs", "print_table", "summary", "table"]
