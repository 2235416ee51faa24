-- The interface of the team's index. Every function runs as gi_owner with a fixed search path and
-- decides by gi_roles() what the caller may see or change. Questions are in plpgsql, which keeps
-- its plans for the connection; a function in SQL is planned at each call.
CREATE FUNCTION gi_probe() RETURNS TABLE (store_id uuid, schema_version int)
LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT store_id, schema_version FROM gi_meta';

-- Who a token names: {member, groups, issued, expires}. Raises where it is forged, expired or revoked.
CREATE FUNCTION gi_open_token(token text) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE body bytea; claims jsonb;
BEGIN
    body := decode(split_part(token, '.', 1), 'base64');
    IF NOT EXISTS (SELECT 1 FROM gi_key k WHERE
                   encode(sha256(k.outer_key || sha256(k.inner_key || body)), 'hex') = split_part(token, '.', 2)) THEN
        RAISE EXCEPTION 'the token is not of this server: `gitindex team login`' USING ERRCODE = '28000';
    END IF;
    claims := convert_from(body, 'UTF8')::jsonb;
    IF (claims->>'expires')::numeric < extract(epoch FROM now()) THEN
        RAISE EXCEPTION 'the token has expired: `gitindex team login`' USING ERRCODE = '28000';
    END IF;
    IF EXISTS (SELECT 1 FROM gi_revoked WHERE member = claims->>'member'
               AND extract(epoch FROM before) >= (claims->>'issued')::numeric) THEN
        RAISE EXCEPTION 'the token was revoked: `gitindex team login`' USING ERRCODE = '28000';
    END IF;
    RETURN claims;
END $$;

-- The names a caller has rights by: of the token where one is set (through a pooler everybody has
-- the same log-in role), else the log-in role and the roles it is a member of.
CREATE FUNCTION gi_roles() RETURNS name[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE token text := coalesce(current_setting('gitindex.token', true), ''); claims jsonb;
BEGIN
    IF token <> '' THEN
        claims := gi_open_token(token);
        RETURN ARRAY[(claims->>'member')::name, 'public'::name]
            || ARRAY(SELECT jsonb_array_elements_text(claims->'groups')::name);
    END IF;
    RETURN ARRAY[session_user::name, 'public'::name] || ARRAY(WITH RECURSIVE mine AS (
            SELECT oid FROM pg_roles WHERE rolname = session_user
            UNION SELECT m.roleid FROM mine JOIN pg_auth_members m ON m.member = mine.oid
        ) SELECT a.rolname FROM mine JOIN pg_roles a USING (oid) WHERE a.rolname <> session_user);
END $$;

CREATE FUNCTION gi_me() RETURNS name
LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT (gi_roles())[1]';

CREATE FUNCTION gi_sign(member name, groups name[], seconds int) RETURNS text
LANGUAGE sql SECURITY DEFINER AS $$
    SELECT translate(encode(body, 'base64'), E'\n', '') || '.'
        || encode(sha256(k.outer_key || sha256(k.inner_key || body)), 'hex')
    FROM (SELECT * FROM gi_key ORDER BY id DESC LIMIT 1) k, convert_to(jsonb_build_object(
        'member', member, 'groups', array_remove(array_remove(groups, member), 'public'),
        'issued', extract(epoch FROM clock_timestamp()),
        'expires', extract(epoch FROM clock_timestamp()) + seconds)::text, 'UTF8') AS body
$$;

-- A token for the caller's own log-in role and its groups, at most 12 hours. A token issues no other.
CREATE FUNCTION gi_login(seconds int) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF coalesce(current_setting('gitindex.token', true), '') <> '' THEN
        RAISE EXCEPTION 'log in with your own account, not with a token' USING ERRCODE = '42501';
    END IF;
    RETURN gi_sign(session_user, gi_roles(), least(greatest(seconds, 1), 43200));
END $$;

-- For administrators and the gateway of an identity provider: a token for any member.
CREATE FUNCTION gi_issue(member name, groups name[], seconds int) RETURNS text
LANGUAGE sql SECURITY DEFINER AS 'SELECT gi_sign(member, groups, greatest(seconds, 1))';

CREATE FUNCTION gi_revoke(its_member name) RETURNS void
LANGUAGE sql SECURITY DEFINER AS $$
    INSERT INTO gi_revoked VALUES (its_member, clock_timestamp())
    ON CONFLICT (member) DO UPDATE SET before = excluded.before
$$;

CREATE FUNCTION gi_sees(mine name[], repo int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM gi_member v WHERE v.repo_id = repo AND v.role = ANY (mine))
       AND EXISTS (SELECT 1 FROM gi_repo r WHERE r.id = repo AND NOT r.archived)
$$;

CREATE FUNCTION gi_visible() RETURNS SETOF int
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE mine name[] := gi_roles();
BEGIN
    RETURN QUERY SELECT DISTINCT m.repo_id FROM gi_member m
        JOIN gi_repo r ON r.id = m.repo_id AND NOT r.archived WHERE m.role = ANY (mine);
END $$;

-- The repositories of a caller who sees no more than 64 of them; NULL for one who sees more.
CREATE FUNCTION gi_few() RETURNS int[]
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE mine name[] := gi_roles(); few int[];
BEGIN
    few := ARRAY(SELECT m.repo_id FROM gi_member m WHERE m.role = ANY (mine) LIMIT 65);
    IF array_length(few, 1) > 64 THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(SELECT DISTINCT r.id FROM gi_repo r WHERE r.id = ANY (few) AND NOT r.archived);
END $$;

CREATE TYPE gi_place AS (doc_id int, repo_id int, ref text, path text);

-- Where documents are, in repositories that the caller sees. A caller of few repositories has each looked
-- up by the index; one of many has each place checked. The cut comes before any sort, so the cost is that of
-- the answer, whatever the number of repositories.
CREATE FUNCTION gi_places(docs int[], few int[], most int) RETURNS SETOF gi_place
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE mine name[];
BEGIN
    IF few IS NOT NULL THEN
        RETURN QUERY SELECT t.doc_id, t.repo_id, t.ref, t.path FROM unnest(docs) d
            JOIN gi_tree t ON t.doc_id = d AND t.repo_id = ANY (few) LIMIT most;
    ELSE
        mine := gi_roles();
        RETURN QUERY SELECT t.doc_id, t.repo_id, t.ref, t.path FROM unnest(docs) d
            JOIN gi_tree t ON t.doc_id = d JOIN gi_repo r ON r.id = t.repo_id AND NOT r.archived
            WHERE EXISTS (SELECT 1 FROM gi_member v WHERE v.repo_id = t.repo_id AND v.role = ANY (mine) OFFSET 0)
            LIMIT most;
    END IF;
END $$;

CREATE FUNCTION gi_seen(doc int, few int[], mine name[]) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    IF few IS NOT NULL THEN
        RETURN EXISTS (SELECT 1 FROM gi_tree t WHERE t.doc_id = doc AND t.repo_id = ANY (few));
    END IF;
    -- OFFSET 0 keeps the planner from a join that reads all rights of the caller.
    RETURN EXISTS (SELECT 1 FROM gi_tree t WHERE t.doc_id = doc AND EXISTS (
        SELECT 1 FROM gi_member v WHERE v.repo_id = t.repo_id AND v.role = ANY (mine) OFFSET 0));
END $$;

CREATE FUNCTION gi_writable(repo int) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT EXISTS (SELECT 1 FROM gi_member
                   WHERE repo_id = repo AND role = gi_me() AND may_write)
$$;

CREATE FUNCTION gi_repos()
RETURNS TABLE (name text, identity text, ref text, commit text, tree text, completed_at timestamptz, may_write boolean)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT r.name, r.identity, m.ref, m.commit, m.tree, m.completed_at, gi_writable(r.id)
    FROM gi_repo r LEFT JOIN gi_marker m ON m.repo_id = r.id
    WHERE r.id IN (SELECT gi_visible()) ORDER BY 1, 3 LIMIT 10000
$$;

-- A repository that the caller sees; a shallow clone knows no root commits and is found by its address.
CREATE FUNCTION gi_find(roots text, url text) RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT id FROM gi_repo WHERE gi_sees(gi_roles(), id) AND
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
        INSERT INTO gi_member VALUES (gi_me(), found_id, true);
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
-- imports, payload, content?}.
CREATE FUNCTION gi_put_docs(texts text[]) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE ids int[]; added bytea[]; digests bytea[]; docs jsonb[]; spelled text[]; known int[];
BEGIN
    IF NOT EXISTS (SELECT 1 FROM gi_member WHERE role = gi_me() AND may_write) THEN
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
    WITH stored AS (
        INSERT INTO gi_text (sha) SELECT DISTINCT sha256(convert_to(d->>'content', 'UTF8')) FROM unnest(docs) d
        WHERE d->>'content' IS NOT NULL ORDER BY 1 ON CONFLICT (sha) DO NOTHING RETURNING id, sha
    )
    SELECT array_agg(id), array_agg(sha) INTO ids, added FROM stored;
    -- OFFSET 0: each text is cut once, not once for each other text of the batch.
    INSERT INTO gi_part SELECT x.id, p.line, p.part
    FROM (SELECT DISTINCT ON (1) t.id, d->>'content' AS content FROM unnest(ids, added) AS t (id, sha)
          JOIN unnest(docs) d ON sha256(convert_to(d->>'content', 'UTF8')) = t.sha ORDER BY 1 OFFSET 0) x,
    parts_of(x.content) p;
    WITH put AS (
        INSERT INTO gi_doc (digest, oid, extractor, size, text_id, names)
        SELECT g.digest, decode(d->>'oid', 'hex'), e.id, (d->>'size')::int,
               (SELECT t.id FROM gi_text t WHERE t.sha = sha256(convert_to(d->>'content', 'UTF8'))),
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
    PERFORM gin_clean_pending_list(i) FROM unnest('{gi_part_parts,gi_doc_names,gi_name_parts}'::regclass[]) i;
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
        fingerprint = delta->>'fingerprint', run_id = delta->>'runId', writer = gi_me(),
        publishes = publishes + 1, completed_at = now()
    WHERE repo_id = repo AND ref = its_ref;
    RETURN true;
END $$;

CREATE TYPE gi_hit AS (
    repo text, ref text, commit text, path text, line int, kind text, name text, qualified text,
    exported boolean, tier text, writer text, indexed_at timestamptz, doc_id int
);

-- The hits of definitions, given as documents with their name. Each document is of one name here. Planning this
-- join anew for each question costs five times what running it does.
CREATE FUNCTION gi_hits(name_ids int[], docs int[], few int[], most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT r.name, p.ref, m.commit, p.path, s.line, s.kind, n.text, s.qualified, s.exported, 'name',
           m.writer::text, m.completed_at, p.doc_id
    FROM gi_places(docs, few, most) p
    JOIN gi_symbol s ON s.doc_id = p.doc_id AND s.name_id = ANY (name_ids) JOIN gi_name n ON n.id = s.name_id
    JOIN gi_repo r ON r.id = p.repo_id JOIN gi_marker m ON m.repo_id = p.repo_id AND m.ref = p.ref;
END $$;

-- The definitions of names, a few documents at a time, then twice as many, until there are enough hits.
CREATE FUNCTION gi_defined(name_ids int[], most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE few int[] := gi_few(); docs int[] := '{}'; step int := 64; doc int; got int; wanted int := most;
        docs_of_names refcursor;
BEGIN
    IF few = '{}' OR name_ids = '{}' THEN
        RETURN;
    END IF;
    IF array_length(name_ids, 1) = 1 THEN  -- in the order of the index: nothing is sorted
        OPEN docs_of_names FOR SELECT DISTINCT ON (s.exported, s.doc_id) s.doc_id FROM gi_symbol s
            WHERE s.name_id = name_ids[1] ORDER BY s.exported DESC, s.doc_id;
    ELSE
        OPEN docs_of_names FOR SELECT DISTINCT s.doc_id FROM gi_symbol s WHERE s.name_id = ANY (name_ids);
    END IF;
    LOOP
        FETCH docs_of_names INTO doc;
        EXIT WHEN NOT FOUND;
        docs := docs || doc;
        IF array_length(docs, 1) >= step THEN
            RETURN QUERY SELECT * FROM gi_hits(name_ids, docs, few, wanted);
            GET DIAGNOSTICS got = ROW_COUNT;
            wanted := wanted - got;
            EXIT WHEN wanted <= 0;
            docs := '{}';
            step := least(2 * step, 4096);
        END IF;
    END LOOP;
    IF wanted > 0 AND docs <> '{}' THEN
        RETURN QUERY SELECT * FROM gi_hits(name_ids, docs, few, wanted);
    END IF;
END $$;

CREATE FUNCTION gi_definitions(wanted text, most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE count int := least(greatest(most, 1), 500);
BEGIN
    RETURN QUERY SELECT * FROM (
        SELECT * FROM gi_defined(ARRAY(SELECT id FROM gi_name WHERE text = wanted COLLATE "C"), count)
    ) AS hits ORDER BY exported DESC, repo, path, line LIMIT count;
END $$;

-- Names that contain a part, the shortest first; no more than 3,000 are read.
CREATE FUNCTION gi_named_like(part text, most int) RETURNS int[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
BEGIN
    IF part !~ '[[:alnum:]]{3}' THEN  -- no trigram: only the word itself
        RETURN ARRAY(SELECT id FROM gi_name
            WHERE text = ANY (ARRAY[part, lower(part), upper(part), initcap(part)] COLLATE "C"));
    END IF;
    RETURN ARRAY(SELECT id FROM (SELECT id, text FROM gi_name
        WHERE text ILIKE '%' || replace(replace(replace(part, '\', '\\'), '%', '\%'), '_', '\_') || '%'
        LIMIT 3000) AS found ORDER BY length(text), text LIMIT most);
END $$;

CREATE FUNCTION gi_like(part text, most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE ids int[]; wanted int := least(greatest(most, 1), 500); got int; at int := 1; step int := 100;
BEGIN
    IF part !~ '[[:alnum:]]{3}' THEN
        RETURN;
    END IF;
    ids := gi_named_like(part, 2000);
    WHILE at <= coalesce(array_length(ids, 1), 0) LOOP
        RETURN QUERY SELECT * FROM gi_defined(ids[at:at + step - 1], wanted) AS d
            ORDER BY length(d.name), d.name, d.repo, d.path, d.line LIMIT wanted;
        GET DIAGNOSTICS got = ROW_COUNT;
        wanted := wanted - got;
        EXIT WHEN wanted <= 0;
        at := at + step;
        step := 2 * step;
    END LOOP;
END $$;

-- Roots that some documents import and that are packages of repositories which define a name and which
-- the caller sees. The question starts at the imports, of which there are few, not at all packages.
CREATE FUNCTION gi_packages_of(wanted text, docs int[]) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE mine name[] := gi_roles(); defining int[];
BEGIN
    defining := ARRAY(SELECT DISTINCT s.doc_id FROM gi_name n JOIN gi_symbol s ON s.name_id = n.id
                      WHERE n.text = wanted COLLATE "C" LIMIT 2000);
    -- Each OFFSET 0 keeps the order: roots, their packages by name, then the few trees of these. A join would
    -- read all packages, and all trees that hold a defining document.
    RETURN QUERY SELECT DISTINCT k.name
        FROM (SELECT DISTINCT root FROM gi_import WHERE doc_id = ANY (docs[:1000])) i,
        LATERAL (SELECT p.name, p.repo_id FROM gi_package p WHERE p.name = i.root OFFSET 0) k
        WHERE EXISTS (SELECT 1 FROM gi_tree t WHERE t.doc_id = ANY (defining) AND t.repo_id = k.repo_id OFFSET 0)
          AND gi_sees(mine, k.repo_id);
END $$;

-- Documents that hold a name. Tier `package`: one of its imports is a package of another repository that
-- defines the name and that the caller sees; else `name`.
CREATE FUNCTION gi_references(wanted text, most int) RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE few int[] := gi_few(); docs int[] := '{}'; doc int; rows gi_place[] := '{}'; step int := 64;
        count int := least(greatest(most, 1), 200); named int := (SELECT id FROM gi_name WHERE text = wanted COLLATE "C");
        packages text[];
BEGIN
    IF named IS NULL OR few = '{}' THEN
        RETURN;
    END IF;
    FOR doc IN SELECT d.id FROM gi_doc d WHERE d.names @> ARRAY[named] LOOP
        docs := docs || doc;
        IF array_length(docs, 1) >= step THEN
            rows := rows || ARRAY(SELECT p FROM gi_places(docs, few, count) p);
            EXIT WHEN array_length(rows, 1) >= count;
            docs := '{}';
            step := least(2 * step, 4096);
        END IF;
    END LOOP;
    IF docs <> '{}' THEN
        rows := rows || ARRAY(SELECT p FROM gi_places(docs, few, count) p);
    END IF;
    packages := ARRAY(SELECT gi_packages_of(wanted, ARRAY(SELECT p.doc_id FROM unnest(rows) p)));
    RETURN QUERY
    SELECT r.name, p.ref, m.commit, p.path, 0, '', wanted, '', false,
           CASE WHEN EXISTS (SELECT 1 FROM gi_import i WHERE i.doc_id = p.doc_id AND i.root = ANY (packages)
                             AND NOT EXISTS (SELECT 1 FROM gi_package own
                                             WHERE own.repo_id = p.repo_id AND own.name = i.root))
                THEN 'package' ELSE 'name' END,
           m.writer::text, m.completed_at, p.doc_id
    FROM unnest(rows) p JOIN gi_repo r ON r.id = p.repo_id
    JOIN gi_marker m ON m.repo_id = p.repo_id AND m.ref = p.ref
    ORDER BY 10 DESC, 1, 4 LIMIT count;
END $$;

-- Documents that hold all of some words as parts of names or of the path, best first: a definition that is
-- the word counts most, then one that contains it, then the path. `filters`: {lang, path, repo, kind},
-- a part of what it filters (`repo`: at most 64 of them; `lang`: extensions); a phrase (words joined by blanks) is a name with these parts in order.
-- Of a common word only so many documents are looked at: first those that define it.
CREATE FUNCTION gi_search(words text[], most int, filters jsonb DEFAULT '{}') RETURNS SETOF gi_hit
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE few int[] := gi_few(); mine name[] := gi_roles(); ids int[]; word text; rarest int[]; docs int[]; n int := 0;
        firsts int[] := '{}'; lasts int[] := '{}'; pool int[] := '{}';
BEGIN
    IF filters ? 'repo' THEN
        few := ARRAY(SELECT r.id FROM gi_visible() v JOIN gi_repo r ON r.id = v
                     WHERE strpos(lower(r.name), lower(filters->>'repo')) > 0 LIMIT 64);
    END IF;
    IF coalesce(array_length(words, 1), 0) NOT BETWEEN 1 AND 16 OR few = '{}' THEN
        RETURN;
    END IF;
    FOREACH word IN ARRAY words LOOP
        ids := gi_named_like(replace(word, ' ', ''), 400);
        IF word LIKE '% %' THEN
            ids := ids || gi_named_like(replace(word, ' ', '_'), 400) || gi_named_like(replace(word, ' ', '-'), 400);
        END IF;
        IF ids = '{}' THEN
            RETURN;
        END IF;
        firsts := firsts || coalesce(array_length(pool, 1), 0) + 1;
        pool := pool || ids;
        lasts := lasts || array_length(pool, 1);
        IF rarest IS NULL OR array_length(ids, 1) < array_length(rarest, 1) THEN
            rarest := ids;
        END IF;
    END LOOP;
    docs := ARRAY(
        (SELECT y.doc_id FROM gi_symbol y WHERE y.name_id = ANY (rarest) AND gi_seen(y.doc_id, few, mine) LIMIT 1000)
        UNION
        (SELECT d.id FROM gi_doc d WHERE d.names && rarest AND gi_seen(d.id, few, mine) LIMIT 1000));
    FOR n IN 1 .. array_length(words, 1) LOOP
        docs := ARRAY(SELECT d.id FROM gi_doc d WHERE d.id = ANY (docs) AND d.names && pool[firsts[n]:lasts[n]]);
    END LOOP;
    -- Documents are scored before their places are looked up: a document may be in a thousand forks.
    RETURN QUERY
    WITH scored AS (
        SELECT d AS doc_id, s.line, s.kind, s.text, s.qualified, s.exported, coalesce(s.score, 0) AS score
        FROM unnest(docs) d LEFT JOIN LATERAL (
            SELECT y.line, y.kind, g.text, y.qualified, y.exported,
                   (SELECT sum(CASE WHEN lower(g.text) = lower(replace(w, ' ', '_')) THEN 4
                                    WHEN g.text ILIKE '%' || replace(w, '_', '\_') || '%' THEN 2 ELSE 0 END)
                    FROM unnest(words) w) + CASE WHEN y.exported THEN 0.5 ELSE 0 END AS score
            FROM gi_symbol y JOIN gi_name g ON g.id = y.name_id
            WHERE y.doc_id = d AND y.name_id = ANY (pool)
              AND (filters->'kind' IS NULL OR y.kind ILIKE filters->>'kind')
            ORDER BY score DESC, y.line LIMIT 1) s ON true
        WHERE filters->'kind' IS NULL OR s.kind IS NOT NULL
        ORDER BY score DESC LIMIT 1000
    ), chosen AS (
        SELECT p.*, r.name AS repo, m.commit, m.writer, m.completed_at
        FROM gi_places(ARRAY(SELECT x.doc_id FROM scored x ORDER BY x.score DESC), few,
                       CASE WHEN filters = '{}' THEN 500 ELSE 5000 END) p
        JOIN gi_repo r ON r.id = p.repo_id JOIN gi_marker m ON m.repo_id = p.repo_id AND m.ref = p.ref
        WHERE strpos(lower(p.path), lower(coalesce(filters->>'path', ''))) > 0
          AND (filters->'lang' IS NULL OR p.path ~* ('\.(' || (filters->>'lang') || ')$'))
    )
    SELECT c.repo, c.ref, c.commit, c.path, coalesce(s.line, 1), coalesce(s.kind, 'file'),
           coalesce(s.text, ''), coalesce(s.qualified, ''), coalesce(s.exported, false), 'name',
           c.writer::text, c.completed_at, c.doc_id
    FROM chosen c JOIN scored s ON s.doc_id = c.doc_id
    ORDER BY s.score
             + (SELECT sum(CASE WHEN c.path ILIKE '%' || replace(w, '_', '\_') || '%' THEN 1 ELSE 0 END) FROM unnest(words) w)
             - CASE WHEN c.path ~* '(^|/)(tests?|vendor|third_party|node_modules|examples?|docs?)/' THEN 1.5 ELSE 0 END
             + CASE WHEN c.completed_at > now() - interval '90 days' THEN 0.25 ELSE 0 END DESC,
             length(c.path), c.repo, c.path
    LIMIT least(greatest(most, 1), 200);
END $$;

-- Parts of texts that hold one of each of up to four lists of patterns: of LIKE, or (in any case) regular
-- expressions. The caller compares their lines with the pattern itself. Each has a part of three letters or digits,
-- else every text would be read.
CREATE FUNCTION gi_texts(patterns jsonb, any_case boolean, most int)
RETURNS TABLE (repo text, ref text, commit text, path text, writer text, indexed_at timestamptz, line int, content text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE few int[] := gi_few(); mine name[] := gi_roles(); docs int[]; lines int[]; fits text;
        count int := least(greatest(most, 1), 500);
BEGIN
    IF jsonb_array_length(patterns) NOT BETWEEN 1 AND 4 OR few = '{}' THEN
        RETURN;
    END IF;
    -- One condition per pattern: an index of trigrams serves each better than all of them in one.
    SELECT string_agg(format('(%s)', (SELECT string_agg(
        format('x.content %s %L', CASE WHEN any_case THEN '~*' ELSE 'LIKE' END, one), ' OR ')
        FROM jsonb_array_elements_text(list) one)), ' AND ') INTO fits FROM jsonb_array_elements(patterns) list;
    -- No grouping: the first parts that fit end the search.
    EXECUTE 'SELECT array_agg(f.id), array_agg(f.line) FROM (SELECT s.id, x.line FROM gi_part x'
        ' CROSS JOIN LATERAL (SELECT d.id FROM gi_doc d WHERE d.text_id = x.text_id AND gi_seen(d.id, $1, $2)'
        ' ORDER BY d.id LIMIT 1) s WHERE ' || fits || ' LIMIT $3) f'
        INTO docs, lines USING few, mine, count;
    RETURN QUERY SELECT r.name, t.ref, m.commit, t.path, m.writer::text, m.completed_at, x.line, x.content
        FROM gi_places(ARRAY(SELECT DISTINCT unnest(docs)), few, count) t
        JOIN unnest(docs, lines) f (doc_id, line) ON f.doc_id = t.doc_id JOIN gi_doc d ON d.id = t.doc_id
        JOIN gi_part x ON x.text_id = d.text_id AND x.line = f.line
        JOIN gi_repo r ON r.id = t.repo_id JOIN gi_marker m ON m.repo_id = t.repo_id AND m.ref = t.ref
        ORDER BY 1, 4, 7 LIMIT count;
END $$;

-- Facts of documents that are in a tree the caller may see.
CREATE FUNCTION gi_facts(ids int[]) RETURNS TABLE (doc_id int, oid bytea, payload bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE few int[] := gi_few();
BEGIN
    RETURN QUERY
    SELECT d.id, d.oid, f.payload FROM gi_doc d JOIN gi_fact f ON f.digest = d.digest
    WHERE d.id = ANY (ids[:1000])
      AND d.id IN (SELECT p.doc_id FROM unnest(ids[:1000]) i, gi_places(ARRAY[i], few, 1) p);
END $$;

CREATE FUNCTION gi_note_fleet(repo int, its_installation uuid, its_state text, its_lag int, p50 int, p99 int, its_version text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT gi_sees(gi_roles(), repo) THEN
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
    WHERE r.id IN (SELECT gi_visible()) GROUP BY 1, 2 ORDER BY 1, 2
$$;

-- Who asks, as the server sees it: behind a pooler that is the member of the token.
CREATE FUNCTION gi_identity() RETURNS TABLE (member name, roles name[], repositories bigint)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT gi_me(), gi_roles(), (SELECT count(*) FROM gi_visible())
$$;

-- Figures for monitoring. Row counts are the planner's: counting for real would read every table.
CREATE FUNCTION gi_metrics() RETURNS TABLE (name text, value double precision)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT 'rows_' || substr(relname, 4), greatest(reltuples, 0)::float8 FROM pg_class
    WHERE relnamespace = 'gitindex'::regnamespace AND relkind = 'r'
    UNION ALL SELECT 'database_bytes', pg_database_size(current_database())::float8
    UNION ALL SELECT 'connections', count(*)::float8 FROM pg_stat_activity WHERE datname = current_database()
    UNION ALL SELECT 'installations_' || state, count(*)::float8 FROM gi_fleet GROUP BY state
    UNION ALL SELECT 'lag_ms_max', coalesce(max(lag_ms), 0)::float8 FROM gi_fleet
$$;

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
    WHERE r.id IN (SELECT gi_visible()) AND (r.name = its_name OR r.identity = its_name) ORDER BY 1
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
    DELETE FROM gi_text x WHERE NOT EXISTS (SELECT 1 FROM gi_doc d WHERE d.text_id = x.id);
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
