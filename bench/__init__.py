"""Benchmarks: CPU time of the product against its peers, interleaved, over real repositories."""
