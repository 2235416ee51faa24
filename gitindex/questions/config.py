"""`gitindex config`: the settings in force, and where each was set."""

from __future__ import annotations

from gitindex.base.escape import safe_text
from gitindex.questions.ink import Note
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, _params: Params) -> Answer:
    """Return every setting and its value; `origin` is null if the default applies."""
    from gitindex.git.settings import SETTINGS, read_settings, unknown_settings

    values = read_settings(here.worktree)
    given = {value.name: value for value in values}
    rows = []
    for setting in SETTINGS:
        value = given.get(setting.name)
        shown = safe_text(value.value) if value else setting.default
        origin = value.origin if value else None
        rows.append({"name": setting.name, "value": shown, "origin": origin})
    return {"status": "ok", "settings": rows, "unknown": unknown_settings(values)}


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield each setting with its meaning; unknown ones are reported by name."""
    from gitindex.git.settings import SETTINGS

    meanings = {setting.name: setting.meaning for setting in SETTINGS}
    for row in answer["settings"]:
        shown = f"{row['value']} ({row['origin']})" if row["origin"] else row["value"]
        yield f"gitindex.{row['name']:<17} {shown:<20} {meanings[row['name']]}"
    for name in answer["unknown"]:
        yield Note(f"unknown setting gitindex.{name}")


TABLE = """
Hooks and set-up: config
  The settings in force. Set them with `git config gitindex.NAME VALUE`.
"""
QUESTION = question(TABLE, ask, text)
