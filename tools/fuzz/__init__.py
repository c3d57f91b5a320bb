"""Fuzzers of the C API and of graphs, in child processes."""
