"""Other descriptions of about the same computation, in which engines often want it."""
