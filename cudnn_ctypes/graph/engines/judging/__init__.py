"""A judge of engines: each runs in a child process, and is compared with float64."""
