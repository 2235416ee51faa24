-- Front matter of documents, keyed by blob like every other fact.
CREATE TABLE documents (
    blob_id INTEGER PRIMARY KEY REFERENCES blobs(id) ON DELETE CASCADE,
    topics TEXT NOT NULL,            -- JSON list, as written
    tags TEXT NOT NULL,              -- the same to look up: ' word word ', see store/entities.py
    summary TEXT NOT NULL,
    created_at TEXT NOT NULL         -- ISO date, perhaps with a time; '' without one
);
CREATE INDEX documents_by_day ON documents (substr(created_at, 1, 10));

-- The seed's shape of the same: one row per document of each worktree. A blob may be more than one file.
CREATE VIEW entities AS
    SELECT w.name AS worktree, CAST(p.path AS TEXT) AS path, w.published_at AS mtime, d.topics, d.summary, d.created_at
    FROM documents d
    JOIN files f ON f.blob_id = d.blob_id
    JOIN paths p ON p.id = f.path_id
    JOIN worktrees w ON w.id = f.worktree_id;
