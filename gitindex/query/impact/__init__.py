"""What a change reaches: two trees, compared by their facts. Writes nothing."""
