"""The local page: the same answers as the other doors, in a browser. Writes nothing, starts nothing."""
