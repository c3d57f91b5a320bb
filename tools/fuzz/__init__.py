"""Fuzzers of the C API: calls with right, wrong and extreme arguments, in child processes."""
