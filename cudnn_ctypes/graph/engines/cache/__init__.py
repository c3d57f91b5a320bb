"""Plans and results of autotuning on disk."""
