"""The tree a reader asks for: the published one with what differs laid over it. Writes nothing."""
