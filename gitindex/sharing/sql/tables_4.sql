-- Schema 4: rights by index, tokens for pooled connections, ranked search.
UPDATE gi_meta SET schema_version = 4;

-- A question about a name reads its definitions in this order, the exported ones first.
DROP INDEX gi_symbol_name;
CREATE INDEX gi_symbol_name ON gi_symbol (name_id, exported DESC, doc_id);
DROP INDEX gi_symbol_doc;
CREATE INDEX gi_symbol_doc ON gi_symbol (doc_id, name_id);
CREATE INDEX gi_package_name ON gi_package (name, repo_id);

-- The keys that sign tokens: an inner and an outer one, as in HMAC. The newest signs; the ones before
-- it are accepted until they are deleted, so a key can be replaced without logging everybody out.
CREATE TABLE gi_key (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    inner_key bytea NOT NULL,
    outer_key bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now()
);

-- Tokens of a member that were issued before this moment are refused.
CREATE TABLE gi_revoked (
    member text PRIMARY KEY,
    before timestamptz NOT NULL
);

-- gen_random_uuid is the server's strong random source: 122 bits each, 488 a key.
INSERT INTO gi_key (inner_key, outer_key)
SELECT string_agg(uuid_send(gen_random_uuid()), ''), string_agg(uuid_send(gen_random_uuid()), '')
FROM generate_series(1, 4);

-- The text of a document, once for all documents that say the same: forks and branches share it. It is
-- sent with the document, which is named by its digest, so nobody reads a text by knowing an id.
CREATE TABLE gi_text (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha bytea NOT NULL UNIQUE,
    content text NOT NULL
);
CREATE INDEX gi_text_parts ON gi_text USING gin (content gin_trgm_ops) WITH (fastupdate = off);
ALTER TABLE gi_doc ADD COLUMN text_id int REFERENCES gi_text;
CREATE INDEX gi_doc_text ON gi_doc (text_id);
