-- The facts store. Facts belong to blobs, which never change; a tree is only a mapping.
-- History: 1 = first shape; 2 = the text index in tables of ours, checksums;
-- 3 = contexts can be switched off; 5 = kinds and signatures stored once;
-- 6 = places of a blob in one row, qualified names derived; 7 = scopes; 8 = the database names its
-- lexical index, rows of the text index without checksums.
-- Times are REAL seconds since 1970, for display only: no decision reads them.

-- One row per blob, read as one language by one extractor. Never updated, only added or collected.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    oid BLOB NOT NULL,               -- git's blob id, raw bytes (20 or 32)
    extractor TEXT NOT NULL,         -- extractor id: version, language, grammar
    language TEXT NOT NULL,          -- name in languages/table.py; 'text' without a grammar
    status TEXT NOT NULL,            -- base/vocabulary.py: FactsStatus
    reason TEXT NOT NULL,            -- skip reason, cause of quarantine, or what made it partial; ''
    lines INTEGER NOT NULL,          -- 0 of a binary that git does not search either
    symbols INTEGER NOT NULL,        -- how many definitions it has
    interface_hash TEXT NOT NULL,    -- of the exported surface; '' without one
    flags TEXT NOT NULL,             -- ambiguity flags, comma separated; ''
    lexical INTEGER NOT NULL,        -- 1: the lexical index holds a document for it
    UNIQUE (oid, extractor)
);

-- Blobs that no parser survived: few, and every publish asks for them.
CREATE INDEX blobs_quarantined ON blobs (id) WHERE status='quarantined';

-- Blobs that a limit left out: few, and every publish counts them.
CREATE INDEX blobs_oversize ON blobs (id) WHERE status='skipped' AND reason='oversize';

-- Dictionary of identifiers, so that a name is stored once.
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

-- Kinds and signatures of definitions, cut where the definition's own name stands. Stored once for each
-- writer: to find what another one stored would need an index as large as the texts.
CREATE TABLE shapes (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    before TEXT NOT NULL,            -- the signature up to the name, or all of it; on one line
    after TEXT                       -- what follows the name; NULL where the signature has no name
);

-- Definitions, read through the view `symbols`. Lines and columns are 0-based; columns count UTF-8 bytes.
CREATE TABLE definitions (
    blob_id INTEGER NOT NULL REFERENCES blobs(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,        -- position in the blob's list; occurrences refer to it
    name_id INTEGER NOT NULL REFERENCES names(id),
    qualified_name TEXT,             -- NULL where the view derives it: the parent's, a dot and the name
    shape_id INTEGER NOT NULL REFERENCES shapes(id),
    line INTEGER NOT NULL,           -- of the name
    "column" INTEGER NOT NULL,       -- of the name
    above INTEGER NOT NULL,          -- lines of the definition before the name's
    below INTEGER NOT NULL,          -- and after it
    parent INTEGER NOT NULL,         -- ordinal of the enclosing symbol, -1 at module level
    exported INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (blob_id, ordinal)
) WITHOUT ROWID;

-- Definitions with kind, signature and qualified name. One that is NULL is the name itself at module level;
-- elsewhere the parent's is written out, or the parent is at module level.
CREATE VIEW symbols AS SELECT
    blob_id, ordinal, name_id,
    coalesce(qualified_name, CASE WHEN parent<0 THEN '' ELSE
        (SELECT coalesce(p.qualified_name, (SELECT text FROM names WHERE id=p.name_id)) || '.'
            FROM definitions p WHERE p.blob_id=d.blob_id AND p.ordinal=d.parent) END
        || (SELECT text FROM names WHERE id=d.name_id)) AS qualified_name,
    (SELECT h.kind FROM shapes h WHERE h.id=shape_id) AS kind,
    line, "column", line - above AS start_line, line + below AS end_line,
    (SELECT h.before || coalesce(n.text || h.after, '') FROM shapes h, names n
        WHERE h.id=shape_id AND n.id=name_id) AS signature,
    doc, parent, exported
FROM definitions d;

-- Names of a blob and their places, one row per blob that has any (store/name_rows.py).
CREATE TABLE occurrences (
    blob_id INTEGER PRIMARY KEY REFERENCES blobs(id) ON DELETE CASCADE,
    names BLOB NOT NULL,             -- how many, their ids as distances, bytes of places of each
    places BLOB NOT NULL             -- three or four bytes per place, by name (languages/postings.py)
);

-- The blobs of a name: follows `occurrences` (store/name_index.py). A batch has one row per name; in SQL
-- of ours `blob_list(first, others)` is the JSON list of its blobs.
CREATE TABLE name_blobs (
    name_id INTEGER NOT NULL REFERENCES names(id),
    first INTEGER NOT NULL,          -- blob id
    others BLOB NOT NULL,            -- the distance of each further blob from the one before
    PRIMARY KEY (name_id, first)
) WITHOUT ROWID;

-- Imports as written; what they resolve to depends on the tree and is worked out by each reader.
CREATE TABLE imports (
    blob_id INTEGER NOT NULL REFERENCES blobs(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    module TEXT NOT NULL,
    names TEXT NOT NULL,             -- JSON: [[imported, local], …]
    level INTEGER NOT NULL,          -- leading dots of a relative import
    line INTEGER NOT NULL,
    PRIMARY KEY (blob_id, ordinal)
) WITHOUT ROWID;

-- Names a blob exports, in its own order.
CREATE TABLE exports (
    blob_id INTEGER NOT NULL REFERENCES blobs(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (blob_id, ordinal)
) WITHOUT ROWID;

-- Scopes, declarations and bases of classes, one row per blob of a language that has them.
CREATE TABLE scopes (
    blob_id INTEGER PRIMARY KEY REFERENCES blobs(id) ON DELETE CASCADE,
    packed BLOB NOT NULL             -- languages/scopes/packed.py, compressed (store/blobs.py)
);

-- Dictionary of paths, shared by all worktrees.
CREATE TABLE paths (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,       -- raw bytes: git does not promise UTF-8
    policy INTEGER NOT NULL          -- 1: a file of this name decides what is indexed
);

-- Checkouts of this repository and what is published for each.
CREATE TABLE worktrees (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,       -- 'main' or 'wt-<git's name>'
    root BLOB NOT NULL,              -- last known root, raw bytes
    generation INTEGER NOT NULL,     -- raised by every publish; 0 = nothing published
    tree TEXT,                       -- id of the published tree
    head_commit TEXT,                -- commit it was read from; NULL before the first
    files INTEGER NOT NULL DEFAULT 0,    -- paths of the mapping whose content is indexed
    symbols INTEGER NOT NULL DEFAULT 0,  -- definitions in them
    fingerprint TEXT,                -- JSON of the fingerprint it was published with
    run_id TEXT,                     -- of the run that published it
    published_at REAL
);

-- The published mapping: every tracked path of the published tree.
CREATE TABLE files (
    worktree_id INTEGER NOT NULL REFERENCES worktrees(id) ON DELETE CASCADE,
    path_id INTEGER NOT NULL REFERENCES paths(id),
    oid BLOB NOT NULL,               -- as in the tree
    mode INTEGER NOT NULL,
    blob_id INTEGER REFERENCES blobs(id),  -- its facts; NULL when the path itself is skipped
    skip TEXT,                       -- base/vocabulary.py: SkipReason of the path; NULL when it has facts
    PRIMARY KEY (worktree_id, path_id)
) WITHOUT ROWID;

-- The refresh queue. context_id 0 is the lexical and syntactic refresh of a worktree.
CREATE TABLE refresh_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused
    worktree_id INTEGER NOT NULL REFERENCES worktrees(id) ON DELETE CASCADE,
    context_id INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL,            -- base/vocabulary.py: JobStatus
    scope TEXT NOT NULL,             -- JSON: RefreshScope
    trigger_reason TEXT NOT NULL,
    head_at_enqueue TEXT NOT NULL,   -- commit id, or the empty tree before the first commit
    created_at REAL NOT NULL,
    started_at REAL,
    finished_at REAL,
    superseded_reason TEXT,
    error TEXT,
    failure_reason TEXT,             -- base/vocabulary.py: FailureReason of a failed job
    run_id TEXT,                     -- fences every update of a running job
    attempts INTEGER NOT NULL DEFAULT 0,
    extracted INTEGER NOT NULL DEFAULT 0  -- blobs whose facts had to be computed
);
CREATE UNIQUE INDEX one_queued ON refresh_jobs (worktree_id, context_id) WHERE status = 'queued';
CREATE UNIQUE INDEX one_running ON refresh_jobs (worktree_id, context_id) WHERE status = 'running';

-- One row about the store as a whole.
CREATE TABLE repo_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last_seen_head TEXT,             -- commit of the last publish, of any worktree
    last_seen_index_mtime REAL,      -- of that worktree's git index then; NULL where there is none
    checked_at REAL,                 -- when that was
    lexical_docs INTEGER NOT NULL DEFAULT 0, -- documents the lexical index must hold
    lexical_half TEXT NOT NULL DEFAULT ''    -- which index, and its last commit (store/checksums.py)
);
INSERT INTO repo_state (id) VALUES (1);

CREATE INDEX policy_paths ON paths (id) WHERE policy = 1;
CREATE INDEX files_absent ON files (worktree_id) WHERE skip = 'missing_blob';
CREATE INDEX files_left_out ON files (worktree_id) WHERE skip = 'oversize';
CREATE INDEX symbols_by_name ON definitions (name_id);
CREATE INDEX files_by_blob ON files (blob_id);
