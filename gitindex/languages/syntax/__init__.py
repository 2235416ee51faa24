"""The syntactic layer: bytes and a language become facts. Knows no store and no git."""
