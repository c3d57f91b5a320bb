"""What stands in for a GPU that is not there: its properties, and the driver's library."""
