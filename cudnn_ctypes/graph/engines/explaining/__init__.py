"""Explanations of why an engine takes or refuses a graph, and advice on what to change."""
