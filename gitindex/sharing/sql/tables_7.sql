-- Schema 7: packs lie in an object store, a folder or a git remote, not in the database.
UPDATE gi_meta SET schema_version = 7;
DROP TABLE gi_pack_part, gi_pack;
