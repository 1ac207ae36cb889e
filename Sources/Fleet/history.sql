-- Records that have ended: a partition a day, kept for the retention of their queue (T9, N3). Beats look after it (N30).

create or replace function partition_name(day bigint) returns text language sql immutable as $$
  select 'history_' || to_char(timestamp 'epoch' + day * interval '1 day', 'YYYYMMDD') $$;

-- Whether the caller does the housekeeping, until its transaction is over; another one may be at it (N61).
create or replace function may_keep() returns boolean language plpgsql as $$
begin
  perform 1 from keeper k where k.is_here for no key update skip locked;
  return found;
-- Another has done it just now.
exception when serialization_failure then return false;
end $$;

-- Makes the partitions of today and of the two days that follow. What ended on such a day and found none moves there, if it is
-- no more than a piece. Returns how many it made.
create or replace function make_partitions(n bigint) returns int language plpgsql as $$
declare
  day_ns constant bigint := 86400000000000; day bigint; name text; begins bigint; most bigint; found_none bigint; made int := 0;
begin
  for day in select generate_series(n / day_ns, n / day_ns + 2) loop
    name := partition_name(day);
    continue when to_regclass(quote_ident(name)) is not null;
    begins := day * day_ns;
    most := begins + day_ns - 1;
    select count(*) into found_none from (select 1 from history_rest where ended between begins and most limit 1001) few;
    continue when found_none > 1000;
    execute format('create table %I (like history including defaults including constraints)', name);
    if found_none > 0 then
      lock table history_rest in access exclusive mode;
      execute format('with moved as (delete from history_rest where ended between %s and %s returning *)
        insert into %I select * from moved', begins, most, name);
    end if;
    execute format('alter table history attach partition %I for values from (%s) to (%s)', name, begins, most + 1);
    made := made + 1;
  end loop;
  return made;
end $$;

-- The first day of which some record may be younger than its retention.
create or replace function oldest_day(n bigint) returns bigint language plpgsql as $$
begin
  return (n - coalesce((select max(q.retention) from queue q), 86400000000000)) / 86400000000000;
end $$;

-- Drops the partitions whose records are all older than every retention. Returns how many.
create or replace function drop_partitions(n bigint) returns int language plpgsql as $$
declare oldest constant text := partition_name(oldest_day(n)); name text; dropped int := 0;
begin
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'history'::regclass and c.relname ~ '^history_[0-9]{8}$' and c.relname < oldest
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- Both at once, for who does not want to wait for a beat. Returns how many partitions it made or dropped. Waits at most 2 s for
-- a lock.
create or replace function partitions() returns int language plpgsql set lock_timeout = '2s' as $$
declare n constant bigint := now_ns();
begin
  if not may_keep() then return 0; end if;
  return make_partitions(n) + drop_partitions(n);
end $$;

-- Deletes what ended in these queues after `since`, up to `upto`, of so many records that it looks at, and those that ended at
-- the same instant as the last of them. `reached` is how far it came.
create or replace function prune_piece(queues int[], since bigint, upto bigint, most int, out gone bigint, out reached bigint)
language plpgsql as $$
begin
  select h.ended into reached from history h where h.ended > since and h.ended <= upto order by h.ended offset most - 1 limit 1;
  reached := coalesce(reached, upto);
  delete from history h
    where h.ended > since and h.ended <= reached and (select c.queue from class c where c.class = h.class) = any(queues);
  get diagnostics gone = row_count;
end $$;

-- Deletes records that ended longer ago than `age`, or than the retention of their queue, in pieces. Returns how many.
create or replace function prune(age interval default null, most int default 1000) returns bigint language plpgsql as $$
declare
  n constant bigint := now_ns(); kept record; piece record; since bigint; total bigint := 0;
  span constant bigint := case when prune.age is not null then check_span('age', prune.age, 0, 315360000000000000) end;
begin
  perform check_range('most', prune.most, -2147483648, 2147483647);
  for kept in
    select coalesce(span, q.retention) as span, array_agg(q.queue) as queues from queue q group by 1 order by 1
  loop
    since := -9223372036854775808;
    while since < n - kept.span loop
      select * into piece from prune_piece(kept.queues, since, n - kept.span, greatest(prune.most, 1));
      total := total + piece.gone;
      since := piece.reached;
    end loop;
  end loop;
  return total;
end $$;

-- The same for as long as it may take, where no partition can be dropped: of queues whose retention is not the longest one, and
-- what found no partition. Whether that is all.
create or replace function prune_some(n bigint, takes bigint) returns boolean language plpgsql as $$
declare
  day_ns constant bigint := 86400000000000; ends constant timestamptz := clock_timestamp() + span(takes); old bigint;
  kept record; piece record; upto bigint; so_far bigint;
begin
  old := oldest_day(n) * day_ns;
  loop
    delete from history_rest where ctid = any(array(
      select r.ctid from history_rest r where r.ended < old order by r.ended limit 1000));
    exit when not found;
    if clock_timestamp() > ends then return false; end if;
  end loop;
  for kept in
    select q.retention, min(q.pruned) as since, array_agg(q.queue) as queues from queue q
    where q.retention < (select max(retention) from queue) group by q.retention
  loop
    upto := n - kept.retention;
    -- A clock that was set back has not seen what is later.
    so_far := least(kept.since, upto);
    while so_far < upto loop
      select * into piece from prune_piece(kept.queues, so_far, upto, 1000);
      so_far := piece.reached;
      exit when clock_timestamp() > ends;
    end loop;
    update queue q set pruned = so_far where q.queue = any(kept.queues) and q.pruned <> so_far;
    if so_far < upto then return false; end if;
  end loop;
  return true;
end $$;

-- What hello and beats do for the history, once a minute. Who `removes` is steady, so that a clock that was set far ahead costs
-- nothing at once. Nobody waits long: a part of a lease for a lock, and a part for work. What fails is told by `status`, and
-- fails nobody's beat.
create or replace function keep_history(n bigint, lease bigint, removes boolean) returns void language plpgsql
set lock_timeout = '100ms' as $$
declare is_done boolean := true;
begin
  if exists (select 1 from fleet where kept between n - 60000000000 and n) then return; end if;
  perform set_config('lock_timeout', least(100, greatest(1, lease / 50000000)) || 'ms', true);
  begin
    perform make_partitions(n);
    if not removes then return; end if;
    perform drop_partitions(n);
    is_done := prune_some(n, least(lease / 100, 300000000));
    -- What is of a class may be remembered as long as the history is not pruned.
    if is_done then perform prune_classes(n, least(lease / 100, 300000000)); end if;
    update fleet set kept = case when is_done then n else 0 end, kept_whole = n, keeping_fault = null;
  exception when others then
    update fleet set kept = n, keeping_fault = sqlerrm
      where is_here = any(array(select f.is_here from fleet f for no key update skip locked));
  end;
end $$;
