"""Tools that show a program's work: traces of its C calls, descriptions of objects, pictures of
graphs, tables and plots of results.

Provisional: names and arguments may change in any release.
"""
