-- Who may call what (N32), and plans that no statistics decide (N6): here once for all functions, so none is forgotten.
-- A role is a name with what it may do: that of the schema, or, since roles are the whole server's, that with the name of the
-- database where the fleet of another one has those already (N62). Tables are granted to nobody.

-- The databases but this one in which any of a fleet's roles is granted anything.
create or replace function databases_of(roles text) returns text[] language plpgsql as $$
begin
  return array(
    select distinct d.datname::text from pg_roles r
      join pg_shdepend s on s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid and s.deptype = 'a'
      join pg_database d on d.oid = s.dbid
    where r.rolname = any(array[databases_of.roles || '_enqueue', databases_of.roles || '_work', databases_of.roles || '_look',
        databases_of.roles || '_manage']) and d.datname <> current_database()
    order by 1);
end $$;

-- The name with which the fleet's roles begin.
create or replace function roles_of(fleet text) returns text language plpgsql as $$
declare own constant text := fleet || '_' || current_database(); told text;
begin
  select f.roles into told from fleet f;
  if told is not null then return told; end if;
  -- What an earlier release has granted stays.
  if exists (select 1 from pg_namespace n cross join lateral aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
      where n.nspname = fleet and r.rolname = fleet || '_work') or databases_of(fleet) = '{}' then return fleet; end if;
  return case when octet_length(own) <= 55 then own else 'fleet_' || md5(own) end;
end $$;

do $$
#variable_conflict use_variable
declare
  fleet constant text := current_schema();
  callable constant jsonb := '{
    "enqueue": ["register", "try_register", "register_batch", "update_task", "cancel", "cancel_tag", "retry", "run_now", "result", "wake"],
    "work": ["hello", "beat", "bye", "turn", "claim", "complete", "release", "promote", "fate", "classes", "listen", "tell"],
    "look": ["get", "list", "explain", "status", "board", "last_ended", "queues", "workers", "counters", "classes", "now_ns"],
    "manage": ["pause", "resume", "set_queue", "prune", "partitions", "cancel_all", "drain"]}';
  -- An index for tags can only be read as a bitmap.
  by_tag constant text[] := '{cancel_tag,list}';
  -- What a worker calls gives up what transactions of others keep locked before the worker gives the call up: it would go on
  -- waiting here, on a connection that nobody reads any more.
  of_workers constant text[] := '{hello,beat,bye,classes,turn,claim,release,fate}';
  f regprocedure; right_name text; role_name text; missing text[] := '{}'; roles text; others text[]; orders text := '';
begin
  -- Names have 63 bytes: what is longer is cut, and two roles could become one.
  perform check_range('schema', octet_length(fleet), 1,
    (select 62 - max(octet_length(one)) from jsonb_object_keys(callable) one), ' bytes');
  roles := roles_of(fleet);
  update fleet f set roles = own.name from (select roles) own(name) where f.roles is distinct from own.name;
  for right_name in select jsonb_object_keys(callable) loop
    role_name := roles || '_' || right_name;
    if not exists (select 1 from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception when insufficient_privilege then
        missing := missing || role_name;
      when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
  for f in select p.oid::regprocedure from pg_proc p where p.pronamespace = quote_ident(fleet)::regnamespace loop
    -- Who reads the views calls what is plain arithmetic in them.
    continue when (select p.provolatile = 'i' from pg_proc p where p.oid = f);
    execute format('revoke all on function %s from public', f);
    -- What is written in SQL reads no table, becomes a part of the statement that asks for it, and needs no settings.
    continue when (select l.lanname = 'sql' from pg_proc p join pg_language l on l.oid = p.prolang where p.oid = f);
    continue when not exists (
      select 1 from jsonb_each(callable) c join pg_proc p on p.oid = f and c.value ? p.proname);
    -- With `x = any(array[y])` instead of x = y where rows are found by number: of tables that it saw empty the planner else
    -- reads a whole index in its order, and looks for the few rows in that (N6).
    execute format('alter function %s security definer set search_path = %I, pg_temp set jit = off
      set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
      set enable_bitmapscan = %s', f, fleet, case when (select p.proname = any(by_tag) from pg_proc p where p.oid = f)
        then 'on' else 'off' end);
    if (select p.proname = any(of_workers) from pg_proc p where p.oid = f) then
      execute format('alter function %s set lock_timeout = %L', f, '1s');
    end if;
  end loop;
  if missing <> '{}' then
    raise warning 'only % and superusers can use the fleet %; nothing needs to be done, unless others are to use it, too: '
      'then a superuser creates the roles % and grants them to % with admin option, and % installs once more',
      quote_ident(current_user), quote_ident(fleet), array_to_string(missing, ', '), quote_ident(current_user),
      quote_ident(current_user);
    return;
  end if;
  others := databases_of(roles);
  if others <> '{}' then
    raise warning 'the roles %_enqueue, _work, _look and _manage are granted rights in the fleets of other databases, too: %. '
      'Whoever has one of them may do there what it says, unless pg_hba.conf or CONNECT keeps him out. For roles of its own set '
      '%.fleet.roles to another name, install once more, and grant those', roles, some_of(others),
      quote_ident(fleet);
  end if;
  -- Roles that were its own before.
  for role_name in
    select distinct r.rolname from pg_namespace n cross join lateral aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
    where n.nspname = fleet and r.rolname ~ '_(enqueue|work|look|manage)$'
      and r.rolname <> all(array(select roles || '_' || one from jsonb_object_keys(callable) one))
  loop
    execute format('revoke all on all functions in schema %I from %I', fleet, role_name);
    execute format('revoke all on all tables in schema %I from %I', fleet, role_name);
    execute format('revoke usage on schema %I from %I', fleet, role_name);
  end loop;
  for right_name in select jsonb_object_keys(callable) loop
    role_name := roles || '_' || right_name;
    execute format('grant usage on schema %I to %I', fleet, role_name);
    for f in
      select p.oid::regprocedure from pg_proc p
      where p.pronamespace = quote_ident(fleet)::regnamespace and callable -> right_name ? p.proname
    loop
      execute format('grant execute on function %s to %I', f, role_name);
    end loop;
  end loop;
  execute format('grant select on live, ended, nodes to %I', roles || '_look');
  -- An owner for whom somebody else made the roles may not do this, but need not either.
  if not (select bool_and(pg_has_role(roles || '_manage', roles || '_' || one, 'member'))
    from unnest('{enqueue,work,look}'::text[]) one)
  then
    execute format('grant %I, %I, %I to %I', roles || '_enqueue', roles || '_work', roles || '_look', roles || '_manage');
  end if;
end $$;
