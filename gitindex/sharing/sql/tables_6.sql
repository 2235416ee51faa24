-- Schema 6: questions of references and lines read less. The tables are those of 4.
UPDATE gi_meta SET schema_version = 6;
