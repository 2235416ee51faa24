"""The verbs behind the command line, a file per topic: functions that return an exit code."""
