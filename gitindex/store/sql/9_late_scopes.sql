-- Blobs whose scopes are derived after the refresh that added them. A row goes when they are stored.
CREATE TABLE late_scopes (
    blob_id INTEGER PRIMARY KEY REFERENCES blobs(id) ON DELETE CASCADE,
    failed INTEGER NOT NULL DEFAULT 0  -- 1: their parser died, or git has lost the blob; not tried again
);
