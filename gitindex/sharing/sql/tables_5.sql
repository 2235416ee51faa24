-- Schema 5: packs can be removed; functions for doctor and monitoring. The tables are those of 4.
UPDATE gi_meta SET schema_version = 5;
