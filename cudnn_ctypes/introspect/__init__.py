"""Looking at what a program does and makes: its C calls one by one, pictures of graphs, tables and
plots of results.
"""
