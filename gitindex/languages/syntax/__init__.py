"""The syntactic layer: turns bytes and a language into facts. Needs no store and no git."""
