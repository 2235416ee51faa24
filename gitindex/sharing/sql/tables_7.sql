-- Schema 7: packs lie in an object store, a folder or a git remote, not in the database.
UPDATE gi_meta SET schema_version = 7;
DROP TABLE gi_pack_part, gi_pack;

-- Half of the cost of comparing a text with a pattern is unpacking it: lz4 takes a third of the time of
-- PostgreSQL's own form. Texts that are there stay as they are. PostgreSQL 13 and some builds have none.
DO $$
BEGIN
    EXECUTE 'ALTER TABLE gi_text ALTER COLUMN content SET COMPRESSION lz4';
EXCEPTION WHEN syntax_error OR feature_not_supported THEN NULL;
END $$;
