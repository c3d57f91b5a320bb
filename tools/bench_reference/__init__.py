"""Times of the reference device beside PyTorch's: see `__main__`."""
