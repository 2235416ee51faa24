-- The interface of the team's index. Every function runs as gi_owner with a fixed search path and
-- decides by session_user what the caller may see or change. Questions are in plpgsql, which keeps
-- its plans for the connection; a function in SQL is planned at each call.
CREATE FUNCTION gi_probe() RETURNS TABLE (store_id uuid, schema_version int)
LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT store_id, schema_version FROM gi_meta';

CREATE FUNCTION gi_visible() RETURNS int[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN ARRAY(SELECT DISTINCT m.repo_id FROM gi_member m
        JOIN gi_repo r ON r.id = m.repo_id AND NOT r.archived
        WHERE m.role = session_user OR m.role = 'public'
           OR (EXISTS (SELECT 1 FROM pg_roles p WHERE p.rolname = m.role)
               AND pg_has_role(session_user, m.role, 'member')));
END $$;

CREATE FUNCTION gi_writable(repo int) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT EXISTS (SELECT 1 FROM gi_member
                   WHERE repo_id = repo AND role = session_user AND may_write)
$$;

CREATE FUNCTION gi_repos()
RETURNS TABLE (name text, identity text, ref text, commit text, tree text, completed_at timestamptz, may_write boolean)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT r.name, r.identity, m.ref, m.commit, m.tree, m.completed_at, gi_writable(r.id)
    FROM gi_repo r LEFT JOIN gi_marker m ON m.repo_id = r.id
    WHERE r.id = ANY (gi_visible()) ORDER BY 1, 3 LIMIT 10000
$$;

-- A repository that the caller sees; a shallow clone knows no root commits and is found by its address.
CREATE FUNCTION gi_find(roots text, url text) RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT id FROM gi_repo WHERE id = ANY (gi_visible()) AND
        CASE roots WHEN '' THEN split_part(identity, ' ', 2) = url ELSE identity = roots || ' ' || url END
    ORDER BY id LIMIT 1
$$;

-- Find a repository, or register it. Whoever registers it may write to it.
CREATE FUNCTION gi_join(roots text, url text, its_name text, its_ref text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE found_id int := gi_find(roots, url); its_identity text := roots || ' ' || url;
BEGIN
    IF found_id IS NOT NULL THEN
        RETURN found_id;
    END IF;
    IF NOT pg_has_role(session_user, 'gi_writer', 'member') THEN
        RAISE EXCEPTION 'you are not a member of such a repository, and only writers register one'
            USING ERRCODE = '42501';
    END IF;
    INSERT INTO gi_repo (identity, name, default_ref)
    VALUES (its_identity, left(its_name, 200), left(its_ref, 200)) ON CONFLICT (identity) DO NOTHING
    RETURNING id INTO found_id;
    IF found_id IS NOT NULL THEN
        INSERT INTO gi_member VALUES (session_user, found_id, true);
        RETURN found_id;
    END IF;
    found_id := gi_find(roots, url);  -- somebody registered it meanwhile, or it is not for the caller
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'you are not a member of this repository' USING ERRCODE = '42501';
    END IF;
    RETURN found_id;
END $$;

-- Begin to publish: every writer that began before is fenced off. The fence needs no flush of its own:
-- a server that dies forgets it together with the connection that holds it.
CREATE FUNCTION gi_begin(repo int, its_ref text)
RETURNS TABLE (fence bigint, tree text, fingerprint text, run_id text)
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT gi_writable(repo) THEN
        RAISE EXCEPTION 'you may not publish this repository' USING ERRCODE = '42501';
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY INSERT INTO gi_marker AS m (repo_id, ref, fence) VALUES (repo, its_ref, 1)
    ON CONFLICT ON CONSTRAINT gi_marker_pkey DO UPDATE SET fence = m.fence + 1
    RETURNING m.fence, m.tree, m.fingerprint, m.run_id;
END $$;

CREATE FUNCTION gi_missing(digests bytea[]) RETURNS SETOF bytea
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT a FROM unnest(digests) a WHERE NOT EXISTS (SELECT 1 FROM gi_doc d WHERE d.digest = a)
$$;

-- Documents and facts of blobs. They are in no tree yet, so nobody sees them. Each is a JSON text, whose
-- digest is its name. Conflicts are named: an id that is given twice must not look like a known name.
-- {oid, extractor, size, names, symbols: [[name, kind, line, exported, qualified]],
-- imports, payload}.
CREATE FUNCTION gi_put_docs(texts text[]) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE ids int[]; added bytea[]; digests bytea[]; docs jsonb[]; spelled text[]; known int[];
BEGIN
    IF NOT EXISTS (SELECT 1 FROM gi_member WHERE role = session_user AND may_write) THEN
        RAISE EXCEPTION 'you may not publish' USING ERRCODE = '42501';
    END IF;
    SELECT array_agg(sha256(convert_to(t, 'UTF8'))), array_agg(t::jsonb) INTO digests, docs
    FROM (SELECT DISTINCT unnest(texts) AS t) AS given;
    INSERT INTO gi_extractor (text) SELECT DISTINCT d->>'extractor' FROM unnest(docs) d
    ORDER BY 1 ON CONFLICT (text) DO NOTHING;
    -- Arrays, because the planner takes any JSON for 100 rows, and then reads all names of the index.
    SELECT array_agg(DISTINCT n) INTO spelled
    FROM unnest(docs) d, jsonb_array_elements_text(d->'names') n;
    INSERT INTO gi_name (text) SELECT n FROM unnest(spelled) n
    WHERE NOT EXISTS (SELECT 1 FROM gi_name g WHERE g.text = n COLLATE "C")
    ORDER BY n COLLATE "C" ON CONFLICT (text) DO NOTHING;
    SELECT array_agg(g.id), array_agg(g.text) INTO known, spelled
    FROM unnest(spelled) n JOIN gi_name g ON g.text = n COLLATE "C";
    WITH put AS (
        INSERT INTO gi_doc (digest, oid, extractor, size, names)
        SELECT g.digest, decode(d->>'oid', 'hex'), e.id, (d->>'size')::int,
               (SELECT coalesce(array_agg(DISTINCT n.id), '{}') FROM jsonb_array_elements_text(d->'names') x
                JOIN gi_name n ON n.text = x COLLATE "C")
        FROM unnest(digests, docs) AS g (digest, d) JOIN gi_extractor e ON e.text = d->>'extractor'
        ORDER BY 1 ON CONFLICT (digest) DO NOTHING RETURNING id, digest
    )
    SELECT array_agg(p.id), array_agg(p.digest) INTO ids, added FROM put p;
    INSERT INTO gi_symbol
    SELECT n.id, w.id, s->>1, (s->>2)::int, (s->>3)::boolean, s->>4
    FROM unnest(ids, added) AS w (id, digest) JOIN unnest(digests, docs) AS g (digest, d) USING (digest),
    jsonb_array_elements(d->'symbols') s JOIN unnest(known, spelled) AS n (id, text) ON n.text = s->>0;
    INSERT INTO gi_import
    SELECT DISTINCT w.id, i
    FROM unnest(ids, added) AS w (id, digest) JOIN unnest(digests, docs) AS g (digest, d) USING (digest),
    jsonb_array_elements_text(d->'imports') i;
    INSERT INTO gi_fact (digest, payload)
    SELECT digest, decode(d->>'payload', 'base64')
    FROM unnest(added) AS w (digest) JOIN unnest(digests, docs) AS g (digest, d) USING (digest)
    ORDER BY 1 ON CONFLICT (digest) DO NOTHING;
    RETURN coalesce(array_length(ids, 1), 0);
END $$;

-- Make a tree the published one, in the caller's transaction. False: a newer writer has begun, and
-- nothing was changed. The same run again changes nothing and is true. delta: {commit, tree,
-- fingerprint, runId, base, whole, put: [[path, digest]], gone: [path], packages: [[ecosystem, name, folder]]}.
CREATE FUNCTION gi_publish(repo int, its_ref text, its_fence bigint, delta jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE held gi_marker; put int; wanted int;
BEGIN
    IF NOT gi_writable(repo) THEN
        RAISE EXCEPTION 'you may not publish this repository' USING ERRCODE = '42501';
    END IF;
    PERFORM set_config('synchronous_commit', 'on', true);  -- gi_begin may be of the same transaction
    SELECT * INTO held FROM gi_marker WHERE repo_id = repo AND ref = its_ref FOR UPDATE;
    IF held.run_id = delta->>'runId' THEN
        RETURN true;
    END IF;
    IF held.fence IS DISTINCT FROM its_fence THEN
        RETURN false;
    END IF;
    IF (delta->>'whole')::boolean THEN
        DELETE FROM gi_tree WHERE repo_id = repo AND ref = its_ref;
    ELSIF held.tree IS DISTINCT FROM delta->>'base' THEN
        RAISE EXCEPTION 'the delta is of another tree' USING ERRCODE = '40001';
    END IF;
    DELETE FROM gi_tree t USING jsonb_array_elements_text(delta->'gone') g
    WHERE t.repo_id = repo AND t.ref = its_ref AND t.path = g COLLATE "C";
    INSERT INTO gi_tree (repo_id, ref, path, doc_id)
    SELECT repo, its_ref, p->>0, d.id FROM jsonb_array_elements(delta->'put') p
    JOIN gi_doc d ON d.digest = decode(p->>1, 'hex')
    ON CONFLICT ON CONSTRAINT gi_tree_pkey DO UPDATE SET doc_id = excluded.doc_id;
    GET DIAGNOSTICS put = ROW_COUNT;
    wanted := jsonb_array_length(delta->'put');
    IF put <> wanted THEN
        RAISE EXCEPTION '% documents are missing', wanted - put USING ERRCODE = '22023';
    END IF;
    DELETE FROM gi_package WHERE repo_id = repo;
    INSERT INTO gi_package SELECT DISTINCT ON (p->>0, p->>1) repo, p->>0, p->>1, p->>2
    FROM jsonb_array_elements(delta->'packages') p;
    UPDATE gi_marker SET commit = delta->>'commit', tree = delta->>'tree',
        fingerprint = delta->>'fingerprint', run_id = delta->>'runId', writer = session_user,
        publishes = publishes + 1, completed_at = now()
    WHERE repo_id = repo AND ref = its_ref;
    RETURN true;
END $$;

CREATE TYPE gi_hit AS (
    repo text, ref text, commit text, path text, line int, kind text, name text, qualified text,
    exported boolean, tier text, writer text, indexed_at timestamptz, doc_id int
);

-- `(SELECT gi_visible())` is asked once a question, `gi_visible()` once a row.
CREATE FUNCTION gi_definitions(wanted text, most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT r.name, t.ref, m.commit, t.path, s.line, s.kind, n.text, s.qualified, s.exported, 'name',
           m.writer::text, m.completed_at, d.id
    FROM gi_name n JOIN gi_symbol s ON s.name_id = n.id JOIN gi_doc d ON d.id = s.doc_id
    JOIN gi_tree t ON t.doc_id = d.id AND t.repo_id = ANY ((SELECT gi_visible())::int[])
    JOIN gi_repo r ON r.id = t.repo_id JOIN gi_marker m ON m.repo_id = t.repo_id AND m.ref = t.ref
    WHERE n.text = wanted COLLATE "C" ORDER BY s.exported DESC, 1, 4, 5 LIMIT least(greatest(most, 1), 500);
END $$;

-- Names that contain a part, the shortest first. They are looked up a few at a time, then twice as many,
-- until there are enough hits: of a common part most names are never looked up, and no more than 3,000 read.
CREATE FUNCTION gi_like(part text, most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE ids int[]; seen int[] := gi_visible(); wanted int := least(greatest(most, 1), 500); got int;
        at int := 1; step int := 100;
BEGIN
    IF part !~ '[[:alnum:]]{3}' THEN  -- no trigram: every name would be read
        RETURN;
    END IF;
    ids := ARRAY(SELECT id FROM (SELECT id, text FROM gi_name
        WHERE text ILIKE '%' || replace(replace(replace(part, '\', '\\'), '%', '\%'), '_', '\_') || '%'
        LIMIT 3000) AS found ORDER BY length(text), text LIMIT 2000);
    WHILE at <= coalesce(array_length(ids, 1), 0) LOOP
        RETURN QUERY
        SELECT r.name, t.ref, m.commit, t.path, s.line, s.kind, n.text, s.qualified, s.exported, 'name',
               m.writer::text, m.completed_at, d.id
        FROM gi_name n JOIN gi_symbol s ON s.name_id = n.id JOIN gi_doc d ON d.id = s.doc_id
        JOIN gi_tree t ON t.doc_id = d.id AND t.repo_id = ANY (seen)
        JOIN gi_repo r ON r.id = t.repo_id JOIN gi_marker m ON m.repo_id = t.repo_id AND m.ref = t.ref
        WHERE n.id = ANY (ids[at:at + step - 1])
        ORDER BY length(n.text), n.text, 1, 4, 5 LIMIT wanted;
        GET DIAGNOSTICS got = ROW_COUNT;
        wanted := wanted - got;
        EXIT WHEN wanted <= 0;
        at := at + step;
        step := 2 * step;
    END LOOP;
END $$;

-- Documents that hold a name. Tier `package`: one of its imports is a package of a repository that
-- defines the name and that the caller sees; else `name`.
CREATE FUNCTION gi_references(wanted text, most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    WITH seen AS (SELECT gi_visible() AS repos), named AS (
        SELECT id FROM gi_name WHERE text = wanted COLLATE "C"
    ), packages AS (
        SELECT DISTINCT p.name, p.repo_id FROM named n JOIN gi_symbol s ON s.name_id = n.id
        JOIN gi_tree t ON t.doc_id = s.doc_id AND t.repo_id = ANY ((SELECT repos FROM seen)::int[])
        JOIN gi_package p ON p.repo_id = t.repo_id
    )
    SELECT r.name, t.ref, m.commit, t.path, 0, '', wanted, '', false,
           CASE WHEN EXISTS (SELECT 1 FROM gi_import i JOIN packages p ON p.name = i.root
                             WHERE i.doc_id = d.id AND p.repo_id <> t.repo_id)
                THEN 'package' ELSE 'name' END,
           m.writer::text, m.completed_at, d.id
    FROM named n JOIN gi_doc d ON d.names @> ARRAY[n.id]
    JOIN gi_tree t ON t.doc_id = d.id AND t.repo_id = ANY ((SELECT repos FROM seen)::int[])
    JOIN gi_repo r ON r.id = t.repo_id JOIN gi_marker m ON m.repo_id = t.repo_id AND m.ref = t.ref
    ORDER BY 10 DESC, 1, 4 LIMIT least(greatest(most, 1), 200);
END $$;

-- Packages of repositories that define a name and that the caller sees.
CREATE FUNCTION gi_packages_of(wanted text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT p.name FROM gi_name n JOIN gi_symbol s ON s.name_id = n.id
    JOIN gi_tree t ON t.doc_id = s.doc_id AND t.repo_id = ANY ((SELECT gi_visible())::int[])
    JOIN gi_package p ON p.repo_id = t.repo_id WHERE n.text = wanted COLLATE "C" LIMIT 10000;
END $$;

-- Documents that hold all of some words, as whole names in any case.
CREATE FUNCTION gi_search(words text[], most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE ids int[]; word text; groups jsonb := '[]'; rarest int[];
BEGIN
    IF coalesce(array_length(words, 1), 0) NOT BETWEEN 1 AND 16 THEN
        RETURN;
    END IF;
    FOREACH word IN ARRAY words LOOP
        IF word !~ '[[:alnum:]]{3}' THEN  -- no trigram: only the word itself
            SELECT array_agg(id) INTO ids FROM gi_name
            WHERE text = ANY (ARRAY[word, lower(word), upper(word), initcap(word)] COLLATE "C");
        ELSE
            SELECT array_agg(id) INTO ids FROM (SELECT id FROM gi_name WHERE
            text ILIKE '%' || replace(replace(replace(word, '\', '\\'), '%', '\%'), '_', '\_') || '%'
            ORDER BY length(text) LIMIT 400) found;
        END IF;
        IF ids IS NULL THEN
            RETURN;
        END IF;
        groups := groups || to_jsonb(ids::text);
        IF rarest IS NULL OR array_length(ids, 1) < array_length(rarest, 1) THEN
            rarest := ids;
        END IF;
    END LOOP;
    -- Of a common word only so many documents are looked at: first those that define it.
    RETURN QUERY
    WITH seen AS (SELECT gi_visible() AS repos), chosen AS (
        (SELECT y.doc_id AS id FROM gi_symbol y
         JOIN gi_tree t ON t.doc_id = y.doc_id AND t.repo_id = ANY ((SELECT repos FROM seen)::int[])
         WHERE y.name_id = ANY (rarest) LIMIT 1000)
        UNION
        (SELECT d.id FROM gi_doc d
         JOIN gi_tree t ON t.doc_id = d.id AND t.repo_id = ANY ((SELECT repos FROM seen)::int[])
         WHERE d.names && rarest
           AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements_text(groups) g WHERE NOT d.names && (g::int[]))
         LIMIT 1000)
    )
    SELECT r.name, t.ref, m.commit, t.path, coalesce(s.line, 1), coalesce(s.kind, 'file'),
           coalesce(n.text, ''), coalesce(s.qualified, ''), coalesce(s.exported, false), 'name',
           m.writer::text, m.completed_at, d.id
    FROM chosen c JOIN gi_doc d ON d.id = c.id
    JOIN gi_tree t ON t.doc_id = d.id AND t.repo_id = ANY ((SELECT repos FROM seen)::int[])
    JOIN gi_repo r ON r.id = t.repo_id JOIN gi_marker m ON m.repo_id = t.repo_id AND m.ref = t.ref
    LEFT JOIN LATERAL (SELECT * FROM gi_symbol y WHERE y.doc_id = d.id AND y.name_id = ANY (rarest)
                       ORDER BY y.exported DESC, y.line LIMIT 1) s ON true
    LEFT JOIN gi_name n ON n.id = s.name_id
    WHERE NOT EXISTS (SELECT 1 FROM jsonb_array_elements_text(groups) g WHERE NOT d.names && (g::int[]))
    ORDER BY s.name_id IS NULL, coalesce(s.exported, false) DESC, d.size, 1, 4
    LIMIT least(greatest(most, 1), 200);
END $$;

-- Facts of documents that are in a tree the caller may see.
CREATE FUNCTION gi_facts(ids int[]) RETURNS TABLE (doc_id int, oid bytea, payload bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY
    SELECT d.id, d.oid, f.payload FROM gi_doc d JOIN gi_fact f ON f.digest = d.digest
    WHERE d.id = ANY (ids[:1000])
      AND EXISTS (SELECT 1 FROM gi_tree t WHERE t.doc_id = d.id AND t.repo_id = ANY ((SELECT gi_visible())::int[]));
END $$;

CREATE FUNCTION gi_note_fleet(repo int, its_installation uuid, its_state text, its_lag int, p50 int, p99 int, its_version text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT repo = ANY (gi_visible()) THEN
        RAISE EXCEPTION 'you are not a member of this repository' USING ERRCODE = '42501';
    END IF;
    INSERT INTO gi_fleet VALUES (repo, its_installation, left(its_state, 20), its_lag, p50, p99, left(its_version, 40), now())
    ON CONFLICT ON CONSTRAINT gi_fleet_pkey DO UPDATE SET state = excluded.state, lag_ms = excluded.lag_ms,
        hook_p50_us = excluded.hook_p50_us, hook_p99_us = excluded.hook_p99_us,
        version = excluded.version, seen_at = now();
END $$;

CREATE FUNCTION gi_fleet_view() RETURNS TABLE (name text, state text, installations bigint, oldest timestamptz, lag_ms int)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT r.name, f.state, count(*), min(f.seen_at),
           percentile_disc(0.5) WITHIN GROUP (ORDER BY f.lag_ms) FROM gi_fleet f JOIN gi_repo r ON r.id = f.repo_id
    WHERE r.id = ANY (gi_visible()) GROUP BY 1, 2 ORDER BY 1, 2
$$;

CREATE FUNCTION gi_packs(repo int) RETURNS TABLE (name text)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT name FROM gi_pack WHERE repo_id = repo AND repo = ANY (gi_visible()) ORDER BY id DESC LIMIT 1000
$$;

CREATE FUNCTION gi_get_pack(repo int, its_name text, part int) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT data FROM gi_pack p JOIN gi_pack_part d ON d.pack_id = p.id
    WHERE p.repo_id = repo AND p.name = its_name AND d.number = part AND repo = ANY (gi_visible())
$$;

-- Begin a pack; its parts follow in the same transaction. The newest 30 of a repository stay.
CREATE FUNCTION gi_put_pack(repo int, its_name text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE made int;
BEGIN
    IF NOT gi_writable(repo) THEN
        RAISE EXCEPTION 'you may not publish this repository' USING ERRCODE = '42501';
    END IF;
    DELETE FROM gi_pack WHERE repo_id = repo AND (name = its_name OR id IN
        (SELECT id FROM gi_pack WHERE repo_id = repo ORDER BY id DESC OFFSET 29));
    INSERT INTO gi_pack (repo_id, name) VALUES (repo, left(its_name, 100)) RETURNING id INTO made;
    RETURN made;
END $$;

CREATE FUNCTION gi_put_pack_part(pack int, part int, bytes bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM gi_pack WHERE id = pack AND writer = session_user AND gi_writable(repo_id)) THEN
        RAISE EXCEPTION 'you may not publish this repository' USING ERRCODE = '42501';
    END IF;
    INSERT INTO gi_pack_part VALUES (pack, part, bytes);
END $$;

-- For administrators: members of a repository, and documents that no tree needs any more.
CREATE FUNCTION gi_set_member(its_identity text, its_role name, see boolean, write boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE repo int; others int;
BEGIN
    SELECT min(id), count(*) - 1 INTO repo, others FROM gi_repo WHERE identity = its_identity;
    IF repo IS NULL THEN
        SELECT min(id), count(*) - 1 INTO repo, others FROM gi_repo WHERE name = its_identity;
    END IF;
    IF repo IS NULL THEN
        RETURN false;
    END IF;
    IF others > 0 THEN
        RAISE EXCEPTION '% repositories have this name: give the identity', others + 1 USING ERRCODE = '22023';
    END IF;
    IF see THEN
        INSERT INTO gi_member VALUES (its_role, repo, write)
        ON CONFLICT ON CONSTRAINT gi_member_pkey DO UPDATE SET may_write = excluded.may_write;
    ELSE
        DELETE FROM gi_member WHERE role = its_role AND repo_id = repo;
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION gi_members(its_name text) RETURNS TABLE (role name, may_write boolean)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT m.role, m.may_write FROM gi_member m JOIN gi_repo r ON r.id = m.repo_id
    WHERE r.id = ANY (gi_visible()) AND (r.name = its_name OR r.identity = its_name) ORDER BY 1
$$;

CREATE FUNCTION gi_prune(grace interval) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE dead int[];
BEGIN
    SELECT coalesce(array_agg(d.id), '{}') INTO dead FROM gi_doc d
    JOIN gi_fact f ON f.digest = d.digest
    WHERE f.put_at < now() - grace AND NOT EXISTS (SELECT 1 FROM gi_tree t WHERE t.doc_id = d.id);
    DELETE FROM gi_fact f USING gi_doc d WHERE d.id = ANY (dead) AND f.digest = d.digest;
    DELETE FROM gi_doc WHERE id = ANY (dead);
    DELETE FROM gi_fleet WHERE seen_at < now() - grace;
    RETURN array_length(dead, 1);
END $$;

-- No function finds anything but our own tables and PostgreSQL's own functions.
DO $$
DECLARE f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS signature FROM pg_proc p
             WHERE p.pronamespace = 'gitindex'::regnamespace AND p.proname LIKE 'gi\_%' LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, gitindex, pg_temp', f.signature);
        -- A plan without sequential scans may look dear, and compiling it costs more than running it.
        EXECUTE format('ALTER FUNCTION %s SET jit = off', f.signature);
    END LOOP;
END $$;
