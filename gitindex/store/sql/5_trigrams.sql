-- Blobs whose trigrams are known: any other blob may match anything. The trigrams themselves are in
-- an FTS5 table, made where SQLite has FTS5 (trigrams.py): rowid = blob id, contentless.
CREATE TABLE trigram_blobs (
    blob_id INTEGER PRIMARY KEY REFERENCES blobs(id) ON DELETE CASCADE
);
