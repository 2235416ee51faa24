"""The writer: from an event to a published, proven generation."""
