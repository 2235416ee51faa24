"""Semantic contexts: which project of which language family owns a path. A pure function of a tree."""

from gitindex.semantic.contexts.discovery import (
    Context,
    Discovery,
    UnownedProject,
    discover,
    family_of,
    is_marker,
)
from gitindex.semantic.contexts.router import ContextRouter, Route, probe

__all__ = [
    "Context",
    "ContextRouter",
    "Discovery",
    "Route",
    "UnownedProject",
    "discover",
    "family_of",
    "is_marker",
    "probe",
]
