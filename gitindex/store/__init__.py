"""The facts store: SQLite behind one connection module, one module per group of tables."""
