"""Launches: recognized by form and shape, carried out with addresses alone, bound, in sequences."""
