"""Stand-ins for an absent GPU: properties of GPUs, and a stub of the driver's library."""
