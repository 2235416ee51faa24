"""Proof and upkeep: doctor, verify, audit, gc."""
