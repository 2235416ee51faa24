-- Facts that came with a pack.
CREATE TABLE pack_imports (
    id INTEGER PRIMARY KEY,
    manifest TEXT NOT NULL,          -- sha256 of the pack's manifest
    signer TEXT NOT NULL,            -- the allowed signer; '' of a pack without a signature
    blobs INTEGER NOT NULL,          -- how many blobs it brought
    at REAL NOT NULL
);

-- Blobs that nobody has extracted here yet. A row goes when its facts were derived again and are equal.
CREATE TABLE pack_blobs (
    blob_id INTEGER PRIMARY KEY REFERENCES blobs(id) ON DELETE CASCADE,
    import_id INTEGER NOT NULL REFERENCES pack_imports(id)
);
