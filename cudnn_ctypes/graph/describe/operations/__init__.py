"""The operations that a `Graph` can hold: one class per family, all on `base.Operations`."""
