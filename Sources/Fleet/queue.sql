-- Queues: made by the first task that names one; pace, limits, pauses.

create or replace function queue_of(name text) returns queue language plpgsql as $$
#variable_conflict use_column
declare q queue;
begin
  loop
    select * into q from queue where name = queue_of.name order by is_new, queue limit 1;
    exit when not found;
    if not q.is_new then return q; end if;
    -- It stays until this transaction is over.
    perform 1 from queue where queue = q.queue for key share;
    if found then return q; end if;
  end loop;
  perform check_name('queue', queue_of.name);
  -- Another open transaction may be doing the same: neither waits (N55).
  insert into queue (name) values (queue_of.name) returning * into q;
  return q;
end $$;

-- Whether two numbers are of one queue.
create or replace function is_same_queue(a int, b int) returns boolean language plpgsql as $$
begin
  return a = b or (select q.name from queue q where q.queue = a) = (select q.name from queue q where q.queue = b);
end $$;

-- Makes one queue of those that transactions made at once. One that a transaction still uses is left to who comes later.
create or replace function settle_queues() returns void language plpgsql as $$
declare made queue; own queue;
begin
  for made in select * from queue q where q.is_new order by q.queue for update skip locked loop
    select * into own from queue q
      where q.name = made.name and q.queue <> made.queue and (not q.is_new or q.queue < made.queue)
      order by q.is_new, q.queue limit 1;
    if not found then
      update queue set is_new = false where queue = made.queue;
      continue;
    end if;
    update class set queue = own.queue where queue = made.queue;
    delete from pending where queue = made.queue;
    delete from queue where queue = made.queue;
  end loop;
end $$;

drop function if exists set_queue(text, interval, interval, interval, int, interval, int, int, int, boolean);  -- as it was before
-- Changes what is not null. A limit below 0 takes it away. Waits no longer than two seconds for a lock (N24).
create or replace function set_queue(
  name text, pace interval default null, backoff_min interval default null, backoff_max interval default null,
  jitter int default null, retention interval default null, max_input int default null, limit_refresh int default null,
  limit_processing int default null, holds boolean default null, crash_pause interval default null) returns void language plpgsql as $$
#variable_conflict use_column
declare q queue := queue_of(set_queue.name); own constant text := current_setting('lock_timeout');
begin
  if own = '0' or own::interval > '2s' then perform set_config('lock_timeout', '2s', true); end if;
  select * into q from queue where queue = q.queue for no key update;
  if set_queue.pace is not null then q.pace := check_span('pace', set_queue.pace, 0, 315360000000000000); end if;
  if set_queue.backoff_max is not null then
    q.backoff_max := check_span('backoff_max', set_queue.backoff_max, 0, 315360000000000000);
  end if;
  if set_queue.backoff_min is not null then q.backoff_min := check_span('backoff_min', set_queue.backoff_min, 0, q.backoff_max); end if;
  q.jitter := coalesce(set_queue.jitter, q.jitter);
  perform check_range('backoff_min', q.backoff_min, 0, q.backoff_max, ' ns');
  if set_queue.retention is not null then
    q.retention := check_span('retention', set_queue.retention, 0, 315360000000000000);
  end if;
  q.max_input := coalesce(set_queue.max_input, q.max_input);
  perform check_range('backoff_min', q.backoff_min, 0, q.backoff_max, ' ns');
  if set_queue.crash_pause is not null then
    q.crash_pause := check_span('crash_pause', set_queue.crash_pause, 0, 315360000000000000);
  end if;
  perform check_range('jitter', q.jitter, 0, 1000);
  perform check_range('max_input', q.max_input, 0, 1073741823);
  q.limit_refresh := nullif(greatest(coalesce(set_queue.limit_refresh, q.limit_refresh), -1), -1);
  q.limit_processing := nullif(greatest(coalesce(set_queue.limit_processing, q.limit_processing), -1), -1);
  q.holds := coalesce(set_queue.holds, q.holds);
  update queue set pace = q.pace, backoff_min = q.backoff_min, backoff_max = q.backoff_max, jitter = q.jitter,
      retention = q.retention, max_input = q.max_input, limit_refresh = q.limit_refresh,
      limit_processing = q.limit_processing, holds = q.holds, crash_pause = q.crash_pause
    where name = q.name;
  if set_queue.limit_refresh is not null then perform count_places(q.queue, 1, q.limit_refresh); end if;
  if set_queue.limit_processing is not null then perform count_places(q.queue, 2, q.limit_processing); end if;
  if set_queue.holds is not null then
    perform settle_places();
    perform fill_places(q.queue, 1);
    perform fill_places(q.queue, 2);
  end if;
  perform set_config('lock_timeout', own, true);
exception when lock_not_available then
  raise exception using errcode = 'lock_not_available', message = 'queue: ' || quote_literal(q.name)
    || ' cannot be set while a transaction is open that has set it, or has registered, cancelled or completed tasks; '
    'nothing was changed, try again when it has ended';
end $$;

create or replace function pause(queue text, span interval default null) returns void language plpgsql as $$
#variable_conflict use_column
declare
  q constant queue := queue_of(pause.queue);
  until constant bigint := case when pause.span is null then 9223372036854775807
    else now_ns() + check_span('span', pause.span, 0, 315360000000000000) end;
begin
  update queue set paused_until = until where name = q.name;
end $$;

create or replace function resume(queue text) returns void language plpgsql as $$
#variable_conflict use_column
declare q constant queue := queue_of(resume.queue);
begin
  update queue set paused_until = 0 where name = q.name;
end $$;

-- Nobody registers or decides until the caller's transaction is over. Whoever comes later waits for who waits for this: so it
-- is waited for in pieces, each shorter than what a worker waits for a lock (N29), lock_timeout in all.
create or replace function lock_places() returns void language plpgsql as $$
declare
  own constant text := current_setting('lock_timeout'); patience constant interval := own::interval;
  ends constant timestamptz := clock_timestamp() + patience;
begin
  perform set_config('lock_timeout', least(extract(epoch from patience) * 1000, 250)::int::text, true);
  loop
    begin
      lock table slot in share row exclusive mode;
      exit;
    exception when lock_not_available then
      if clock_timestamp() >= ends then raise; end if;
    end;
    perform pg_sleep(0.05);
  end loop;
  perform set_config('lock_timeout', own, true);
end $$;

-- Places (T6, N24). Each time that a queue is given a limit its places are counted, while nobody registers or decides.
create or replace function count_places(p_queue int, p_kind int, p_limit int) returns void language plpgsql as $$
begin
  perform lock_places();
  -- Nobody has registered whose transaction is open: what those made at once is one now, and all is there to be counted.
  perform settle_queues();
  delete from placed where queue = p_queue and kind = p_kind;
  if p_limit is null then
    delete from pending where queue = p_queue and kind = p_kind;
    -- What was held needs no place any more.
    update slot set state = state_with_place(seq)
      where seq = any(array(
        select h.seq from class c cross join generate_series(1, 5) priority cross join lateral (
          select s.seq from slot s where s.line >> 4 = (c.class << 4 | priority) and s.state = 2) h
        where c.queue = p_queue and c.kind = p_kind));
  else
    insert into pending
      select p_queue, p_kind, count(*) from slot s join task t on t.seq = s.seq join class c on c.class = t.class
      where c.queue = p_queue and c.kind = p_kind and s.schedule <> 0 and s.state <> 2
      on conflict (queue, kind) do update set pending = excluded.pending;
    perform fill_places(p_queue, p_kind);
  end if;
end $$;

drop function if exists take_place(queue, int);  -- as it was before
-- Takes a place for a record; gives the state that it has with one (1) or without (2), or refuses. What other open transactions
-- take is not known yet: with the commit what is too much is held, or the commit is refused.
create or replace function take_place(q queue, p_kind int, p_seq bigint) returns smallint language plpgsql as $$
declare most constant int := case p_kind when 1 then q.limit_refresh else q.limit_processing end;
begin
  if most is null then return 1; end if;
  if (select p.pending from pending p where p.queue = q.queue and p.kind = p_kind)
    + coalesce((select sum(c.change) from placed c where c.queue = q.queue and c.kind = p_kind), 0) < most
  then
    insert into placed (queue, kind, seq, change) values (q.queue, p_kind, p_seq, 1);
    return 1;
  end if;
  if not q.holds then
    perform refuse(2, 'queue', 'pending requests of ' || quote_literal(q.name) || ' exceed its limit, which is ' || most);
  end if;
  return 2;
end $$;

-- The state of a held record once it has a place: it waits until it is due, or for the run that its id is taken by (C4).
create or replace function state_with_place(p_seq bigint) returns smallint language plpgsql as $$
begin
  return case when exists (
    select 1 from stray where id = (select t.id from task t where t.seq = p_seq) and until > now_ns()) then 5 else 1 end;
end $$;

-- Places that are free go to those that are held: higher priority first, then lower number (T6). What somebody is at is passed,
-- up to a hundred of them; housekeeping looks again.
create or replace function fill_places(p_queue int, p_kind int) returns void language plpgsql as $$
declare most int; taken bigint; best bigint; passed bigint[] := '{}';
begin
  select case p_kind when 1 then limit_refresh else limit_processing end into most from queue where queue = p_queue;
  if most is null then return; end if;
  select pending into taken from pending where queue = p_queue and kind = p_kind for update;
  while taken < most loop
    select h.seq into best
      from class c cross join generate_series(1, 5) priority cross join lateral (
        -- In an order that only its own index has: of tables that it saw empty the planner else looks along their numbers.
        select s.seq from slot s
        where (s.line >> 4, s.seq) > (c.class << 4 | priority, 0::bigint) and s.line >> 4 <= (c.class << 4 | priority)
          and s.state = 2 and s.seq <> all(passed)
        order by s.line >> 4, s.seq limit 1) h
      where c.queue = p_queue and c.kind = p_kind order by priority desc, h.seq limit 1;
    exit when best is null;
    perform 1 from slot where seq = best and state = 2 for update skip locked;
    if not found then
      passed := passed || best;
      exit when cardinality(passed) > 100;
      continue;
    end if;
    update slot set state = state_with_place(best) where seq = best;
    taken := taken + 1;
  end loop;
  update pending set pending = taken where queue = p_queue and kind = p_kind and pending <> taken;
end $$;

-- Gives a place back.
create or replace function free_place(p_queue int, p_kind int) returns void language plpgsql as $$
begin
  if exists (select 1 from pending where queue = p_queue and kind = p_kind) then
    insert into placed (queue, kind, change) values (p_queue, p_kind, -1);
  end if;
end $$;

-- Counts what was taken and given back, and gives free places to what is held. Nobody is waited for longer than a tenth of a
-- second: what is left is counted by who comes next.
create or replace function settle_places() returns void language plpgsql as $$
declare one record; each placed; q queue; most int; taken bigint;
begin
  for one in select distinct c.queue, c.kind from placed c order by 1, 2 loop
    for tries in 1..20 loop
      select p.pending into taken from pending p where p.queue = one.queue and p.kind = one.kind for update skip locked;
      exit when found or not exists (select 1 from pending p where p.queue = one.queue and p.kind = one.kind);
      perform pg_sleep(0.005);
    end loop;
    continue when taken is null and exists (select 1 from pending p where p.queue = one.queue and p.kind = one.kind);
    select * into q from queue where queue = one.queue;
    most := case one.kind when 1 then q.limit_refresh else q.limit_processing end;
    for each in
      with gone as (delete from placed c where c.queue = one.queue and c.kind = one.kind returning c.*)
      select g.* from gone g order by g.change, g.seq
    loop
      if each.change > 0 and taken >= most and not q.holds and each.xact = pg_current_xact_id() then
        perform refuse(2, 'queue', 'pending requests of ' || quote_literal(q.name) || ' exceed its limit, which is ' || most
          || ', with those that others have registered meanwhile');
      end if;
      if each.change > 0 and q.holds and taken >= most then
        perform 1 from slot s where s.seq = any(array[each.seq]) and s.state in (0, 1, 5) for update skip locked;
        if found then
          update slot set state = 2 where seq = each.seq;
          continue;
        end if;
      end if;
      taken := taken + each.change;
    end loop;
    continue when most is null;
    update pending p set pending = taken where p.queue = one.queue and p.kind = one.kind and p.pending <> taken;
    perform fill_places(one.queue, one.kind);
    taken := null;
  end loop;
end $$;

-- With the commit of whoever took places or gave them back.
create or replace function settle_placed() returns trigger language plpgsql security definer set search_path from current
set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  perform settle_places();
  return null;
end $$;
do $$
begin
  if not exists (select 1 from pg_trigger where tgrelid = 'placed'::regclass and tgname = 'settle') then
    create constraint trigger settle after insert on placed deferrable initially deferred
      for each row execute function settle_placed();
  end if;
end $$;

-- Tells nodes that listen that something may be due (N28). To be called alone, after the commit of what it is about.
create or replace function wake(queue text default 'default') returns void language plpgsql as $$
begin
  perform check_name('queue', wake.queue);
  perform set_config('synchronous_commit', 'off', true);
  perform tell(wake.queue);
end $$;
