"""The verbs behind the command line, a file per topic: plain arguments in, an exit code out."""
