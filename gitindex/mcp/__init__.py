"""The agents' interface: MCP tools, each a thin translation of one use case. Answers are data."""
