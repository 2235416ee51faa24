-- What a path was before a publish changed it: so that a dependency edge can be compared with what
-- the depending file saw there when it was last refreshed. The first publish of a worktree writes
-- none of this, and neither does a path that never changes.
CREATE TABLE path_history (
    worktree_id INTEGER NOT NULL REFERENCES worktrees(id) ON DELETE CASCADE,
    path_id INTEGER NOT NULL REFERENCES paths(id),
    generation INTEGER NOT NULL,     -- the publish that changed it; as new, the path was refreshed by it
    oid BLOB,                        -- the blob it was before; NULL: there was no such path
    interface TEXT,                  -- the interface it had before: see store/history.py; NULL likewise
    PRIMARY KEY (worktree_id, path_id, generation)
) WITHOUT ROWID;

-- Files that were refreshed without having changed: asked for by hand, or by a semantic job.
CREATE TABLE file_refreshes (
    worktree_id INTEGER NOT NULL REFERENCES worktrees(id) ON DELETE CASCADE,
    path_id INTEGER NOT NULL REFERENCES paths(id),
    generation INTEGER NOT NULL,     -- what was published when it was refreshed
    seen TEXT NOT NULL,              -- what it saw of dependencies that differed from that: JSON, see store/history.py
    PRIMARY KEY (worktree_id, path_id)
) WITHOUT ROWID;
