"""Is the index current, and may it be served?"""
