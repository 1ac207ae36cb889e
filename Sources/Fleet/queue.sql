-- Queues: made by the first task that names one; pace, limits, pauses.

create or replace function queue_of(name text) returns queue language plpgsql as $$
#variable_conflict use_column
declare q queue;
begin
  select * into q from queue where name = queue_of.name;
  if found then return q; end if;
  perform check_name('queue', queue_of.name);
  insert into queue (name) values (queue_of.name) on conflict do nothing;
  select * into q from queue where name = queue_of.name;
  return q;
end $$;

-- Changes what is not null. A limit below 0 takes it away. Waits no longer than two seconds for a lock (N24).
create or replace function set_queue(
  name text, pace interval default null, backoff_min interval default null, backoff_max interval default null,
  jitter int default null, retention interval default null, max_input int default null, limit_refresh int default null,
  limit_processing int default null, holds boolean default null) returns void language plpgsql as $$
#variable_conflict use_column
declare q queue := queue_of(set_queue.name); own constant text := current_setting('lock_timeout');
begin
  if own = '0' or own::interval > '2s' then perform set_config('lock_timeout', '2s', true); end if;
  select * into q from queue where queue = q.queue for update;
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
  perform check_range('jitter', q.jitter, 0, 1000);
  perform check_range('max_input', q.max_input, 0, 1073741823);
  q.limit_refresh := nullif(greatest(coalesce(set_queue.limit_refresh, q.limit_refresh), -1), -1);
  q.limit_processing := nullif(greatest(coalesce(set_queue.limit_processing, q.limit_processing), -1), -1);
  q.holds := coalesce(set_queue.holds, q.holds);
  update queue set pace = q.pace, backoff_min = q.backoff_min, backoff_max = q.backoff_max, jitter = q.jitter,
      retention = q.retention, max_input = q.max_input, limit_refresh = q.limit_refresh,
      limit_processing = q.limit_processing, holds = q.holds
    where queue = q.queue;
  if set_queue.limit_refresh is not null then perform count_places(q.queue, 1, q.limit_refresh); end if;
  if set_queue.limit_processing is not null then perform count_places(q.queue, 2, q.limit_processing); end if;
  if set_queue.holds is not null then
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
  update queue set paused_until = until where queue = q.queue;
end $$;

create or replace function resume(queue text) returns void language plpgsql as $$
#variable_conflict use_column
declare q constant queue := queue_of(resume.queue);
begin
  update queue set paused_until = 0 where queue = q.queue;
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

-- Takes a place; gives the state that a record has with it (1) or without (2), or refuses.
create or replace function take_place(q queue, p_kind int) returns smallint language plpgsql as $$
declare most constant int := case p_kind when 1 then q.limit_refresh else q.limit_processing end;
begin
  if most is null then return 1; end if;
  update pending set pending = pending + 1 where queue = q.queue and kind = p_kind and pending < most;
  if found then return 1; end if;
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
  update pending set pending = pending - 1 where queue = p_queue and kind = p_kind;
  if found then perform fill_places(p_queue, p_kind); end if;
end $$;

-- Tells nodes that listen that something may be due (N28). To be called alone, after the commit of what it is about.
create or replace function wake(queue text default 'default') returns void language plpgsql as $$
begin
  perform check_name('queue', wake.queue);
  perform set_config('synchronous_commit', 'off', true);
  perform pg_notify(current_schema(), wake.queue);
end $$;
