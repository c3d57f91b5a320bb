"""Looking at what a program made: pictures of graphs, tables and plots of results."""
