"""What each operation computes, in plain NumPy; and the reference device that carries it out."""
