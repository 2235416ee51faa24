"""The local web page: the same answers as the other interfaces. Writes nothing, starts nothing."""
