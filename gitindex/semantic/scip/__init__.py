"""SCIP: runs indexers, reads their output and turns it into facts."""
