"""Autotuning: which plan is the fastest, and on which GPU."""
