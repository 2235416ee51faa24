-- Decisions that discharge one ambiguity, replayed while all their files are unchanged, whatever HEAD is.
CREATE TABLE decision_cache (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused
    ambiguity_signature TEXT NOT NULL,
    repo_head TEXT NOT NULL,         -- commit it was made at, for display
    file_hashes TEXT NOT NULL,       -- JSON: {path: blob id of its bytes on disk}, sorted
    decision TEXT NOT NULL,          -- JSON: selected candidates
    proof_payload TEXT NOT NULL,     -- JSON: what was shown as proof
    created_at REAL NOT NULL,
    UNIQUE (ambiguity_signature, file_hashes)  -- one answer to one question about the same bytes
);
