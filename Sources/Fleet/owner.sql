-- Whose the schema is (N60): a trigger or a function of another role in it would run with the rights of the role that installs.

do $$
declare
  fleet constant text := current_setting('selene.schema');
  me constant oid := (select oid from pg_roles where rolname = current_user);
  trusted oid[]; strange text;
begin
  begin
    execute format('create schema if not exists %I', fleet);
  exception when unique_violation then null;  -- another session has just made it
  end;
  -- What a superuser has made a superuser may run.
  trusted := array(select r.oid from pg_roles r where r.oid = me
    or r.rolsuper and (select own.rolsuper from pg_roles own where own.oid = me)
    or r.rolname = 'pg_database_owner' and (select d.datdba from pg_database d where d.datname = current_database()) = me);
  select format('schema %I of %I', n.nspname, pg_get_userbyid(n.nspowner)) into strange
    from pg_namespace n where n.nspname = fleet and n.nspowner <> all(trusted);
  if strange is null then
    -- Only the owner may do this, and only one transaction at a time: nobody else can keep it from installing.
    execute format('comment on schema %I is %L', fleet, obj_description(quote_ident(fleet)::regnamespace, 'pg_namespace'));
    select min(format('%s of %I', o.name, pg_get_userbyid(o.owner))) into strange from (
      select 'table ' || c.oid::regclass, c.relowner from pg_class c
        where c.relnamespace = quote_ident(fleet)::regnamespace
      union all
      select 'function ' || p.oid::regprocedure, p.proowner from pg_proc p
        where p.pronamespace = quote_ident(fleet)::regnamespace
      union all
      select 'type ' || t.oid::regtype, t.typowner from pg_type t where t.typnamespace = quote_ident(fleet)::regnamespace
      union all
      select 'operator ' || o.oid::regoperator, o.oprowner from pg_operator o
        where o.oprnamespace = quote_ident(fleet)::regnamespace
      union all
      select 'trigger ' || quote_ident(t.tgname) || ' on ' || c.oid::regclass || ' with function ' || p.oid::regprocedure,
          p.proowner
        from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
        where c.relnamespace = quote_ident(fleet)::regnamespace) o(name, owner)
      where o.owner <> all(trusted);
  end if;
  if strange is not null then
    raise exception using errcode = 'insufficient_privilege', column = 'schema',
      message = format('schema: %s is there; %I installs a fleet only where everything is its own', strange, current_user),
      hint = format('Its owner brings the fleet to this release; %I installs a new one in another schema.', current_user);
  end if;
end $$;
