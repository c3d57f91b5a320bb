"""Execution plans, their operands and their launches."""
