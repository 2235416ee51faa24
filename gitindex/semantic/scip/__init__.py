"""SCIP: running indexers, reading what they write, and making facts about bytes of it."""
