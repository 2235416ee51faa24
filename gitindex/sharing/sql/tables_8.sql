-- Schema 8: texts lie in parts of some 3,000 characters. The letters of a pattern stand in many long texts but
-- together in few parts: with parts of this size, a sixth of the bytes are compared. Smaller ones cost more disk.
UPDATE gi_meta SET schema_version = 8;

CREATE TABLE gi_part (
    text_id int NOT NULL REFERENCES gi_text ON DELETE CASCADE,
    line int NOT NULL,               -- of its first line, 1-based
    content text NOT NULL,           -- whole lines
    PRIMARY KEY (text_id, line)
);
DO $$
BEGIN
    EXECUTE 'ALTER TABLE gi_part ALTER COLUMN content SET COMPRESSION lz4';
EXCEPTION WHEN syntax_error OR feature_not_supported THEN NULL;
END $$;

-- Not a gi_ function: those are dropped before the tables of the next schema are made.
CREATE FUNCTION parts_of(content text) RETURNS TABLE (line bigint, part text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT min(n), string_agg(words, E'\n' ORDER BY n) FROM (
        SELECT n, words, (sum(length(words) + 1) OVER (ORDER BY n) - length(words) - 1) / 3000 AS number
        FROM unnest(string_to_array(content, E'\n')) WITH ORDINALITY AS l (words, n)) AS numbered
    GROUP BY number
$$;
INSERT INTO gi_part SELECT t.id, p.line, p.part FROM gi_text t, parts_of(t.content) p;
-- gi_put_docs empties the pending lists after each batch: a tenth of the work of one entry after the other, and
-- no question has to read a list.
CREATE INDEX gi_part_parts ON gi_part USING gin (content gin_trgm_ops) WITH (gin_pending_list_limit = 65536);
ALTER INDEX gi_doc_names SET (fastupdate = on, gin_pending_list_limit = 65536);
ALTER INDEX gi_name_parts SET (gin_pending_list_limit = 65536);
ALTER TABLE gi_text DROP COLUMN content;
CLUSTER gi_text USING gi_text_pkey;  -- gives the room of the texts back
