"""Semantic contexts: which project of which language family owns a path. A pure function of a tree."""

from gitindex.contexts.discovery import Context, Discovery, LeftOut, discover
from gitindex.contexts.families import family_of, is_marker
from gitindex.contexts.probe import probe
from gitindex.contexts.router import ContextRouter, Route

__all__ = [
    "Context",
    "ContextRouter",
    "Discovery",
    "LeftOut",
    "Route",
    "discover",
    "family_of",
    "is_marker",
    "probe",
]
