-- The semantic layer: what SCIP indexers say of a path's bytes in a context. Opt-in; empty without.

-- Semantic contexts: one project of one language family. A tree's contexts are computed, not stored:
-- a row is only a number for jobs and facts, with what was last seen of its tool.
CREATE TABLE contexts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,       -- family:folder, escaped for display
    language TEXT NOT NULL,          -- the family
    root BLOB NOT NULL,              -- its folder, raw bytes; empty for the repository's root
    tool_version TEXT NOT NULL,      -- of the indexer that ran last; '' before the first run
    enabled INTEGER NOT NULL DEFAULT 1  -- 0: no indexer runs for it and its facts are not used
);

-- What the semantic layer knows of a path's bytes in a context. Coming back to them needs nothing.
CREATE TABLE file_semantic_facts (
    id INTEGER PRIMARY KEY,
    path_id INTEGER NOT NULL REFERENCES paths(id),
    context_id INTEGER NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
    oid BLOB NOT NULL,               -- the bytes it was computed from: git's blob id, raw
    semantic_interface_hash TEXT NOT NULL,  -- of what other files can see of it
    ambiguity_flags TEXT NOT NULL,   -- JSON list
    config_hash TEXT NOT NULL,       -- of the context when it was computed
    tool_version TEXT NOT NULL,      -- of the indexer that computed it
    digest BLOB NOT NULL,            -- of all that is stored for it: the same output changes no row
    refreshed_at REAL NOT NULL,
    UNIQUE (path_id, oid, context_id)
);

-- Dictionary of symbol identities: SCIP's names without the version; `local N` means its own file's.
CREATE TABLE semantic_symbols (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name_id INTEGER NOT NULL REFERENCES names(id)
);

-- Symbols that a context uses and that no file of it defines.
CREATE TABLE semantic_externals (
    context_id INTEGER NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
    symbol_id INTEGER NOT NULL REFERENCES semantic_symbols(id),
    PRIMARY KEY (context_id, symbol_id)
) WITHOUT ROWID;

-- Definitions. Lines and columns are 0-based; columns count UTF-8 bytes.
CREATE TABLE semantic_definitions (
    facts_id INTEGER NOT NULL REFERENCES file_semantic_facts(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,        -- position in the file's list; places refer to it
    symbol_id INTEGER NOT NULL REFERENCES semantic_symbols(id),
    kind TEXT NOT NULL,
    line INTEGER NOT NULL,           -- of the name
    "column" INTEGER NOT NULL,
    end_column INTEGER NOT NULL,
    start_line INTEGER NOT NULL,     -- of the whole definition
    end_line INTEGER NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL,
    parent INTEGER NOT NULL,         -- ordinal of the enclosing definition, -1 at module level
    exported INTEGER NOT NULL,
    PRIMARY KEY (facts_id, ordinal)
) WITHOUT ROWID;

-- Occurrences as packed postings: one row per symbol and file, twenty bytes per place (store/semantic.py).
CREATE TABLE semantic_occurrences (
    symbol_id INTEGER NOT NULL REFERENCES semantic_symbols(id),
    facts_id INTEGER NOT NULL REFERENCES file_semantic_facts(id) ON DELETE CASCADE,
    places BLOB NOT NULL,
    PRIMARY KEY (symbol_id, facts_id)
) WITHOUT ROWID;

-- What a symbol is to another: it implements or overrides it, is its type, or is the same thing.
CREATE TABLE semantic_relations (
    facts_id INTEGER NOT NULL REFERENCES file_semantic_facts(id) ON DELETE CASCADE,
    symbol_id INTEGER NOT NULL REFERENCES semantic_symbols(id),
    target_id INTEGER NOT NULL REFERENCES semantic_symbols(id),
    kind TEXT NOT NULL,              -- base/vocabulary.py: Relation
    PRIMARY KEY (facts_id, symbol_id, target_id, kind)
) WITHOUT ROWID;

-- Files whose symbols a file used when its facts were computed, and how they looked from outside then.
CREATE TABLE edges (
    facts_id INTEGER NOT NULL REFERENCES file_semantic_facts(id) ON DELETE CASCADE,
    target_path INTEGER NOT NULL REFERENCES paths(id),
    target_oid BLOB NOT NULL,        -- the target's bytes then; empty: bytes that are not in git
    target_hash TEXT NOT NULL,       -- its semantic interface hash then; likewise
    PRIMARY KEY (facts_id, target_path)
) WITHOUT ROWID;

CREATE INDEX semantic_symbols_by_name ON semantic_symbols (name_id);
CREATE INDEX semantic_definitions_by_symbol ON semantic_definitions (symbol_id);
CREATE INDEX semantic_occurrences_by_file ON semantic_occurrences (facts_id);
CREATE INDEX semantic_relations_by_target ON semantic_relations (target_id);
CREATE INDEX semantic_relations_by_symbol ON semantic_relations (symbol_id);
CREATE INDEX edges_by_target ON edges (target_path);
