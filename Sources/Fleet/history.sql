-- Records that have ended: a partition a day, kept for the retention of their queue (T9, N3).

create or replace function partition_name(day bigint) returns text language sql immutable as $$
  select 'history_' || to_char(timestamp 'epoch' + day * interval '1 day', 'YYYYMMDD') $$;

-- Makes the partitions of today and the two days that follow, drops those that are older than every retention.
-- Returns how many it made or dropped. Waits at most 2 s for a lock.
create or replace function partitions() returns int language plpgsql as $$
declare
  day_ns constant bigint := 86400000000000;
  today constant bigint := now_ns() / day_ns;
  oldest constant bigint := (now_ns() - (select coalesce(max(retention), day_ns) from queue)) / day_ns;
  changed int := 0; name text; day bigint;
begin
  perform set_config('lock_timeout', '2s', true);
  if not pg_try_advisory_xact_lock(hashtext('selene partitions ' || current_schema())) then return 0; end if;
  for day in select generate_series(today, today + 2) loop
    name := partition_name(day);
    continue when to_regclass(quote_ident(name)) is not null
      or exists (select 1 from history_rest where ended between day * day_ns and (day + 1) * day_ns - 1);
    execute format('create table %I (like history including defaults including constraints)', name);
    execute format('alter table history attach partition %I for values from (%s) to (%s)', name, day * day_ns, (day + 1) * day_ns);
    changed := changed + 1;
  end loop;
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'history'::regclass and c.relname ~ '^history_\d{8}$' and c.relname < partition_name(oldest)
  loop
    execute format('drop table %I', name);
    changed := changed + 1;
  end loop;
  return changed;
end $$;

-- Deletes records that ended longer ago than `age`, or than the retention of their queue, in pieces; and workers' leavings
-- whose time is over. Returns how many records.
create or replace function prune(age interval default null, most int default 1000) returns bigint language plpgsql as $$
declare n constant bigint := now_ns(); gone bigint; total bigint := 0; q queue;
begin
  for q in select * from queue order by queue loop
    loop
      with old as (
        select h.ctid, h.tableoid from history h join class c on c.class = h.class
        where c.queue = q.queue and h.ended <= n - coalesce(span_ns(prune.age), q.retention) limit prune.most)
      delete from history h using old where h.ctid = old.ctid and h.tableoid = old.tableoid;
      get diagnostics gone = row_count;
      total := total + gone;
      exit when gone < prune.most;
    end loop;
  end loop;
  return total;
end $$;
