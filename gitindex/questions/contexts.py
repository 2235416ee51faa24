"""`gitindex contexts`: the projects of the tree, and which files each owns."""

from __future__ import annotations

import os

from gitindex.base.escape import counted, safe_text
from gitindex.questions.table import Answer, Here, Ink, Lines, Params, question


def ask(here: Here, params: Params) -> Answer:
    """Return the projects by language family; or switch the indexers of one on or off."""
    name = params["off"] or params["on"]
    if name:
        from gitindex.semantic.jobs import switch

        os.umask(0o077)
        switch(here.worktree, name, bool(params["on"]))
        return {"status": "ok", "context": name, "enabled": bool(params["on"])}
    from gitindex.semantic.contexts.router import LiveContexts

    with here.tree() as view:
        return LiveContexts(view).answer()


def text(answer: Answer, _ink: Ink) -> Lines:
    """Yield the projects, and what a workspace leaves out."""
    if "context" in answer:
        state = "on" if answer["enabled"] else "off"
        yield safe_text(f"{answer['context']} is switched {state}")
        return
    for context in answer["contexts"]:
        kind = f"{context['kind']}, {context['state']}"
        kind += "" if context["enabled"] else ", switched off"
        yield f"{context['name']:<40} {counted(context['files'], 'files'):>12}  {kind}"
    for hole in answer["leftOut"]:
        where = f"the workspace {hole['workspace'] or '.'}"
        files = counted(hole["files"], "files")
        yield f"{hole['family']}:{hole['root']:<30} {files:>12}  left out by {where}"


TABLE = """
Hooks and set-up: contexts | found=context,contexts
  The projects of the tree, and which files each owns.
    --off | off <NAME> | Run no indexer for it, use no facts of it.
    --on | on <NAME> | Take that back.
    --at | at ..256 | Answer for this commit, tag or branch.
"""
QUESTION = question(TABLE, ask, text)
