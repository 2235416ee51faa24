"""The seeds sentence by sentence: test ids are those of the conformance audit (differences.md)."""
