"""An exhaustive model of the refresh protocol, and the mutants it must catch."""
