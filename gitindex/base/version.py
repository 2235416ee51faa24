"""The version of this package, in a leaf: the package's own module leads to everything."""

__version__ = "0.2.0"
