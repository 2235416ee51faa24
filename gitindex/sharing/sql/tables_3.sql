-- The team's index, schema 3. Facts belong to blobs; a tree is a mapping of one repository's ref.
-- Everything is owned by gi_owner, which nobody can log in as; the functions of functions.sql are
-- the only way in. Row-level security is not used: it would keep the searched tables from their indexes.
CREATE TABLE gi_meta (
    store_id uuid NOT NULL DEFAULT gen_random_uuid(),
    schema_version int NOT NULL
);
INSERT INTO gi_meta (schema_version) VALUES (3);

CREATE TABLE gi_repo (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    identity text NOT NULL UNIQUE,   -- sorted root commits and the canonical address
    name text NOT NULL,
    default_ref text NOT NULL,
    archived boolean NOT NULL DEFAULT false
);

-- Who may see, and who may publish, which repository.
CREATE TABLE gi_member (
    role name NOT NULL,
    repo_id int NOT NULL REFERENCES gi_repo ON DELETE CASCADE,
    may_write boolean NOT NULL DEFAULT false,
    PRIMARY KEY (role, repo_id)
);

CREATE TABLE gi_extractor (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text text NOT NULL UNIQUE
);

-- A document is what a writer says about a blob. Its digest is over all of it, so a writer cannot
-- replace another's, and only who knows a document can put it into a tree of their own.
CREATE TABLE gi_fact (
    digest bytea NOT NULL,
    payload bytea NOT NULL,          -- as languages/facts.py encodes it
    put_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (digest)
) PARTITION BY HASH (digest);
CREATE TABLE gi_fact_0 PARTITION OF gi_fact FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE gi_fact_1 PARTITION OF gi_fact FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE gi_fact_2 PARTITION OF gi_fact FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE gi_fact_3 PARTITION OF gi_fact FOR VALUES WITH (MODULUS 4, REMAINDER 3);

CREATE TABLE gi_name (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text text COLLATE "C" NOT NULL UNIQUE
);
CREATE INDEX gi_name_parts ON gi_name USING gin (text gin_trgm_ops);

CREATE TABLE gi_doc (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    oid bytea NOT NULL,
    extractor smallint NOT NULL REFERENCES gi_extractor,
    size int NOT NULL,
    names int[] NOT NULL             -- every name that occurs in it
);
CREATE INDEX gi_doc_names ON gi_doc USING gin (names) WITH (fastupdate = off);

CREATE TABLE gi_symbol (
    name_id int NOT NULL REFERENCES gi_name,
    doc_id int NOT NULL REFERENCES gi_doc ON DELETE CASCADE,
    kind text NOT NULL,
    line int NOT NULL,               -- 1-based
    exported boolean NOT NULL,
    qualified text NOT NULL
);
CREATE INDEX gi_symbol_name ON gi_symbol (name_id, doc_id);
CREATE INDEX gi_symbol_doc ON gi_symbol (doc_id);

-- Roots of what a document imports, and packages that a repository is: together the edges between
-- repositories.
CREATE TABLE gi_import (
    doc_id int NOT NULL REFERENCES gi_doc ON DELETE CASCADE,
    root text NOT NULL,
    PRIMARY KEY (doc_id, root)
);
CREATE TABLE gi_package (
    repo_id int NOT NULL REFERENCES gi_repo ON DELETE CASCADE,
    ecosystem text NOT NULL,
    name text NOT NULL,
    folder text NOT NULL,
    PRIMARY KEY (repo_id, ecosystem, name)
);

CREATE TABLE gi_tree (
    repo_id int NOT NULL REFERENCES gi_repo ON DELETE CASCADE,
    ref text NOT NULL,
    path text COLLATE "C" NOT NULL,
    doc_id int NOT NULL REFERENCES gi_doc,
    PRIMARY KEY (repo_id, ref, path)
);
CREATE INDEX gi_tree_doc ON gi_tree (doc_id, repo_id);

-- What is published of each ref. The fence is raised by every writer that begins: an older one
-- changes nothing any more.
CREATE TABLE gi_marker (
    repo_id int NOT NULL REFERENCES gi_repo ON DELETE CASCADE,
    ref text NOT NULL,
    commit text,
    tree text,
    fingerprint text,
    run_id text,
    writer name,                     -- who published it
    fence bigint NOT NULL DEFAULT 0,
    publishes bigint NOT NULL DEFAULT 0,
    completed_at timestamptz,
    PRIMARY KEY (repo_id, ref)
);

CREATE TABLE gi_fleet (
    repo_id int NOT NULL REFERENCES gi_repo ON DELETE CASCADE,
    installation uuid NOT NULL,
    state text NOT NULL,
    lag_ms int,
    hook_p50_us int,
    hook_p99_us int,
    version text NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (repo_id, installation)
);

-- Packs in parts of a megabyte; part 0 is the signature.
CREATE TABLE gi_pack (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repo_id int NOT NULL REFERENCES gi_repo ON DELETE CASCADE,
    name text NOT NULL,
    writer name NOT NULL DEFAULT session_user,
    put_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (repo_id, name)
);
CREATE TABLE gi_pack_part (
    pack_id int NOT NULL REFERENCES gi_pack ON DELETE CASCADE,
    number int NOT NULL CHECK (number BETWEEN 0 AND 8192),
    data bytea NOT NULL CHECK (length(data) <= 1048576),
    PRIMARY KEY (pack_id, number)
);
ALTER TABLE gi_pack_part ALTER COLUMN data SET STORAGE EXTERNAL;
