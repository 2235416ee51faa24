"""The commands that are no questions, as plain data, and the look-up of both kinds."""

from __future__ import annotations

from gitindex.base.light_types import TYPE_CHECKING, once
from gitindex.questions.table import Command, Question, all_questions, entries, find_question

if TYPE_CHECKING:
    from collections.abc import Iterator

FRONT = (
    "search grep symbols outline refs callers impact merge-check api map explore status install mcp"
)
"""The commands of the front page; `gitindex help --all` has the rest."""
GROUP_HELP = {
    "aliases": "`git fresh` and `git idx` for this user.",
    "link": "Other local repositories that `--linked` asks, too.",
    "decide": "Answers to what the language leaves open about a file.",
    "pack": "Signed packs of facts, for other clones.",
    "semantic": "What SCIP indexers say of the code. Off until you set gitindex.semantic.",
    "team": "The team's index on PostgreSQL.",
}
"""Names that only hold commands."""
GROUPS = (
    "Everyday",
    "Explore",
    "Change",
    "Prove",
    "Hooks and set-up",
    "Agents, editors and teams",
    "Help",
)
TABLE = """\
[Everyday]
status | verbs.indexing:status prints
  Is the index current?
  .
  Edits do not make it stale: every answer lays them over, and `status` counts them. Exit 0
  + fresh, 1 stale or rebuilding, 3 not indexed, 4 error.
    --short | short flag | Print one word, for a prompt.
    --no-edits | no_edits flag | Do not count edits: no probe of the work tree.
    --clean | clean flag | Exit 1 also where a tracked path differs from HEAD.
    --skipped | skipped flag | List tracked paths that are not indexed or parsed, and why.
wait | verbs.refreshing:wait prints
  Wait until HEAD is indexed; starts the index if none is running.
    --timeout | timeout number =60.0 0.. | Seconds to wait at most.
index | verbs.refreshing:index prints
  Build or refresh the index now, then print its status.
    --force | force flag | Extract everything again; rebuild a damaged store.
    --seed | seed <DEST> | Adopt the nearest pack of DEST first.
[Prove]
check | verbs.indexing:check prints
  The same as `status --short`, for scripts and CI.
  .
  Exit 4 also where the proof cannot be read.
    --clean | clean flag | Exit 1 also where a tracked path differs from HEAD.
gc | verbs.indexing:gc
  Remove facts that no worktree and no local branch needs. Forget worktrees that are gone.
    --dry-run | dry_run flag | Say what would go; change nothing.
doctor | gitindex.maintenance.doctor:examine prints
  Say what is installed, what is wrong, and how to fix it. Exit 0 or 4.
    --trial --no-trial | trial flag =True | Commit in a scratch worktree, with the hooks it finds.
[Explore]
history index | verbs.indexing:index_history nojson
  Keep the facts of every blob of HEAD's first-parent history. Run again to catch up.
[Change]
decide commit | verbs.decisions:decide_commit
  Answer an open question: the proof that `state --gate --json` offers, completed.
    * | proof | A JSON file, - for standard input.
decide forget | verbs.decisions:decide_forget nojson
  Re-open what a decision has answered.
    * | decision_id integer 1.. | The decision's number.
[Hooks and set-up]
install | verbs.indexing:install
  Install the git hooks and start the first index. Exit 1: something is to be added by hand.
    --mode | mode =auto | auto, config (git 2.54 and later) or hooks (hook files).
    --global | everywhere flag | For all repositories of this user that are opted in.
    --write | write flag | Also edit the files of husky and lefthook, marked as ours.
    --references | references flag | Also note git am, reset and stash (reference-transaction).
uninstall | verbs.indexing:uninstall
  Remove the git hooks, byte for byte; the index stays.
    --global | everywhere flag | For all repositories of this user that are opted in.
    --purge | purge flag | Remove the index, too.
clear | verbs.indexing:clear
  Remove the index of this work tree; the hooks stay.
template | verbs.indexing:template norepo
  Write a git template directory: new clones index themselves. For `init.templateDir`.
    * | folder | Where to write the template directory.
    --temporary --no-temporary | temporary flag | Index repositories below the temporary folder too.
aliases install | verbs.indexing:install_aliases norepo
  Define the aliases whose names are free. Exit 1: a name was taken.
aliases uninstall | verbs.indexing:uninstall_aliases norepo
  Remove the aliases.
semantic run | verbs.semantic:run
  Run indexers and import what they say of the files that are as in git.
    * | names texts = <[CONTEXT]…> | As `gitindex contexts` calls them; all if none.
    --only | only texts | Keep only what is said of this file or folder.
    --timeout | seconds number =0.0 0.1.. | Stop an indexer after so many seconds.
[Agents, editors and teams]
mcp | verbs.agents:serve nojson
  The MCP server, for agents. Serves over stdin and stdout, or over HTTP on loopback.
    --http | http flag | Serve many clients over HTTP on loopback, with a token.
    --port | port integer 0..65535 | With --http; 0 for any free one.
    --text-only | text_only flag | For clients that show a model the JSON in place of the text.
    --tools | tools =default default/all | Which tools are listed; every one answers.
mcp install | verbs.agents:install_client nojson
  Add the server to a client's configuration; the file as it was is kept beside it.
    --client | name ! @clients,print
      + | claude, codex, cursor, vscode, gemini, zed, opencode, copilot, or print.
    --dry-run | dry_run flag | Show what would be written, and write nothing.
link add | verbs.sharing:add
  Link another local repository: `--linked` asks it, too. Nothing is written into either.
    * | folder ! <FOLDER> | A folder inside of it.
link list | verbs.sharing:show
  The linked repositories, their packages and whether their index is current.
link remove | verbs.sharing:remove
  Remove a link, by folder or name.
    * | folder = <FOLDER> | Its folder or name.
    --all | everything flag | Remove all links.
lsp | verbs.agents:serve_editor norepo nojson
  The language server, for editors.
web | verbs.agents:show_page nojson
  The page: search, map, history and health in a browser, on loopback only.
    --port | port integer 0..65535 | Port on loopback; 0: any free one.
    --no-open | no_open flag | Print the link, and open no browser.
    --export | folder <DIR> | Write a static snapshot of map, symbols and health.
resident | resident:start nojson
  Keep gitindex loaded for this repository: questions answer sooner. Ends after five idle minutes.
agents-md | verbs.agents:agents_md norepo nojson
  Print a short section for AGENTS.md or CLAUDE.md.
export | verbs.export:write_export prints
  The whole index for another tool. Vim reads the ctags file.
    --format | form ! ctags/scip/json/sqlite | ctags, scip, json or sqlite.
    --output -o | output =- | A file; - for standard output.
    --at | at | Answer for this commit, tag or branch.
    --staged | staged flag | Answer for the tree that is staged.
pack create | verbs.packs:create
  Write a pack of one commit: only what its tree needs, and nothing of other branches.
    --at | rev =HEAD | The commit whose facts are packed.
    --output -o | output =. | A file or a folder.
    --sign | key | An SSH key; else gitindex.pack.key.
    --statement | statement flag | Also write the manifest as an in-toto statement beside it.
pack push | verbs.packs:push
  Make the pack of a commit and put it at DEST: a folder or a git remote.
    --at | rev =HEAD | The commit whose facts are packed.
    --to | dest | DEST; else gitindex.pack.dest of your own config.
    --sign | key | An SSH key; else gitindex.pack.key.
    --delta | delta flag | Only what the nearest whole pack of an ancestor there lacks.
pack pull | verbs.packs:pull
  Adopt the nearest pack of DEST and refresh. Exit 1: there is none of an ancestor.
    --from | dest | DEST; else gitindex.pack.dest of your own config.
pack list | verbs.packs:list_packs
  The packs at DEST, nearest to HEAD first. Exit 1: none.
    --from | dest | DEST; else gitindex.pack.dest of your own config.
pack verify | verbs.packs:verify
  Check a pack's signature, members, schema and Merkle root; adopts nothing. Exit 4: refused.
    * | file | A .gixp file.
pack gc | verbs.packs:gc
  Remove the packs at DEST whose tree no branch or tag of this clone reaches.
    --from | dest | DEST; else gitindex.pack.dest of your own config.
    --dry-run | dry_run flag | Name them, and remove nothing.
pack check | verbs.packs:check
  Derive all facts that came with packs again now. Exit 1: some cannot be derived here.
team init | verbs.sharing:init
  Create roles, tables and functions in an empty database, as its owner.
    * | url = | postgresql://…; else gitindex.team.url of your own config.
team join | verbs.sharing:join
  Register this repository, or find it, and publish from here.
    * | url = | postgresql://…; else gitindex.team.url of your own config.
    --ref | ref | The branch that is published.
    --fleet | fleet flag | Report the state of this index: no paths, no names.
team login | verbs.sharing:login nojson
  Fetch a token with your own account, for a server behind a pooler.
    --account | account | Address of your own account; else gitindex.team.url itself.
    --hours | hours integer =8 1..12 | How long it is valid.
team logout | verbs.sharing:logout nojson
  Forget the token.
team revoke | verbs.sharing:revoke
  End all tokens that a member has, as an administrator.
    * | member | The member's role.
    --account | account | Address of your own account, past a pooler; else gitindex.team.url itself.
team leave | verbs.sharing:leave nojson
  Publish nothing from here any more; the team's index keeps what it has.
team status | verbs.sharing:status
  Is the server there, and what was published from here? Exit 3: it is not.
team repos | verbs.sharing:repos
  The repositories that you may see.
team members | verbs.sharing:members
  Who may see a repository; administrators add and remove roles.
    * | repo | A repository's name.
    --add | add texts | Roles that may see it.
    --remove | remove texts | Roles that may not.
    --write | write flag | Those added may publish too.
team push | verbs.sharing:push
  Publish the indexed tree: exactly once, in one transaction.
    --outbox | outbox flag | Only what is on the remote branch, if it is new.
team doctor | verbs.sharing:doctor
  Check the server, its schema, your identity and rights, and whether questions are fast.
team metrics | verbs.sharing:metrics nojson
  Figures of the server for Prometheus, as an administrator: printed, or served on loopback.
    --port | port integer =0 0..65535 | Serve them on this port; 0: print them once.
team gc | verbs.sharing:gc
  Remove documents that no published tree needs, as an administrator.
    --days | days integer =14 0.. | Grace.
[Help]
help | help:show_help norepo nojson
  Explain a command.
    * | command texts = | A command; the front page if left out.
    --all | everything flag | All commands, by group.
    --man | man flag | As a manual page.
completion | complete:print_script norepo nojson
  Print what a shell needs to complete commands, options, symbols and paths.
  .
  bash, in ~/.bashrc:  source <(gitindex completion bash)
  zsh, in ~/.zshrc:    source <(gitindex completion zsh)   # after compinit
  fish:                gitindex completion fish > ~/.config/fish/completions/gitindex.fish
    * | shell bash/zsh/fish | bash, zsh or fish.
[]
hook | gitindex.install.event:note_event norepo nojson raw
  Note that HEAD may have moved, as an installed hook does. Silent; always succeeds.
    * | event | The hook's name; `auto` under pre-commit.
    * | args texts = | The hook's arguments.
gate | verbs.gates:run_gate norepo nojson raw
  Run a check as a hook manager does: exits 1 if the check fails; internal errors never block.
    * | name | dangling, tests, …: see docs/pre-commit.md.
    * | args texts = | Options of the command.
run | verbs.refreshing:run nojson
  Be the runner: process queued refreshes.
    --wait | wait flag | Linger for more events before leaving.
"""
"""NAME | MODULE:FUNCTION and marks, as `questions.table.entries` reads it, by groups."""


def _read(table: str) -> Iterator[Command]:
    """Yield the commands of a table."""
    for part in table.split("\n["):
        group, _, rows = part.lstrip("[").partition("]\n")
        for entry in entries(rows):
            run, *rest = entry.marks
            has = {mark: mark in rest for mark in ("norepo", "nojson", "raw", "prints")}
            made = Command(entry.name, entry.about, entry.params, run, group)
            made = made._replace(repo=not has["norepo"], json=not has["nojson"])
            yield made._replace(raw=has["raw"], prints=has["prints"])


@once
def commands() -> dict[str, Command]:
    """Return all commands by name; a question is answered without reading this table."""
    return {command.name: command for command in _read(TABLE)}


def find_command(words: list[str]) -> Question | Command | None:
    """Return what one or two words name."""
    name = " ".join(words)
    if f"\n{name} | " in TABLE:
        return commands()[name]
    question = find_question(words)
    return question if question is not None and question.group and question.name == name else None


def resolve(args: list[str]) -> tuple[Question | Command | None, list[str]]:
    """Return the command of a line, by its longest name, and the words that follow it."""
    for length in (2, 1):
        if len(args) >= length and all(arg[:1].isalpha() for arg in args[:length]):
            found = find_command(args[:length])
            if found is not None:
                return found, args[length:]
    return None, args


def all_commands() -> Iterator[Question | Command]:
    """Yield what help lists: by group, the front page's first, then by name."""
    shown: list[Question | Command] = [
        *(q for q in all_questions() if q.group),
        *(c for c in commands().values() if c.group),
    ]
    order = {name: at for at, name in enumerate(FRONT.split())}
    yield from sorted(
        shown, key=lambda one: (GROUPS.index(one.group), order.get(one.name, 99), one.name)
    )
