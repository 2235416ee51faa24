-- Words of the messages of past commits, by the paths that these commits changed. A window is the set of
-- commits that count for a published commit (git/subjects.py).
CREATE TABLE subject_windows (
    id INTEGER PRIMARY KEY,
    head TEXT NOT NULL,              -- the commit that the window is of
    commits BLOB NOT NULL            -- ids of its commits, raw bytes, newest first
);

-- The window of each worktree: those of one commit share it.
CREATE TABLE subject_users (
    worktree_id INTEGER PRIMARY KEY REFERENCES worktrees(id) ON DELETE CASCADE,
    window_id INTEGER NOT NULL REFERENCES subject_windows(id)
);

-- For each word the paths whose commits say it.
CREATE TABLE subject_words (
    window_id INTEGER NOT NULL REFERENCES subject_windows(id) ON DELETE CASCADE,
    word TEXT NOT NULL,              -- a stem; '' counts all words of a path's messages
    places BLOB NOT NULL,            -- pairs of path id and count, four bytes each, by path id
    PRIMARY KEY (window_id, word)
) WITHOUT ROWID;
