-- Who may call what. Nobody gets a table.
REVOKE ALL ON ALL TABLES IN SCHEMA gitindex FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA gitindex FROM PUBLIC;
GRANT USAGE ON SCHEMA gitindex TO gi_reader, gi_writer, gi_admin;
GRANT EXECUTE ON FUNCTION gi_probe(), gi_repos(), gi_definitions(text, int), gi_like(text, int),
    gi_references(text, int), gi_packages_of(text, int[]), gi_search(text[], int, jsonb), gi_facts(int[]), gi_login(int), gi_texts(jsonb, boolean, int), gi_members(text),
    gi_fleet_view(), gi_note_fleet(int, uuid, text, int, int, int, text),
    gi_join(text, text, text, text), gi_identity()
    TO gi_reader;
GRANT EXECUTE ON FUNCTION gi_begin(int, text), gi_missing(bytea[]), gi_put_docs(text[]),
    gi_publish(int, text, bigint, jsonb) TO gi_writer;
GRANT EXECUTE ON FUNCTION gi_set_member(text, name, boolean, boolean), gi_prune(interval),
    gi_issue(name, name[], int), gi_revoke(name), gi_metrics() TO gi_admin;
