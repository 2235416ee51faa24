"""The seeds sentence by sentence: test ids are those of the conformance audit (docs/seeds.md)."""
