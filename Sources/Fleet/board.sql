-- What a board for people shows: pages of each state in the order in which one asks, queues, nodes. Every statement stops
-- after so many rows, however many there are (N31).

-- Classes of a queue; null for those of every queue.
create or replace function classes_of(queue text) returns int[] language plpgsql as $$
#variable_conflict use_column
begin
  if classes_of.queue is null then return null; end if;
  return coalesce((select array_agg(c.class) from class c join queue q on q.queue = c.queue where q.name = classes_of.queue), '{}');
end $$;

-- Records that are in a state, in the order of `board`, from a place on: at most so many are looked at.
create or replace function looked(number int, mine int[], prefix text, a bigint, b bigint, size bigint)
returns table (seq bigint, class int, place bigint[], nth bigint) language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns();
begin
  case number
    when 0 then return query
      select s.seq, s.line >> 8, array[s.worker, s.seq], row_number() over (order by s.worker, s.seq) from slot s
      where s.state = 4 and s.worker >= a and (s.worker > a or s.seq > b) order by s.worker, s.seq limit size;
    when 1 then return query
      with head as (
        select h.line, h.seq, h.last_run, h.line >> 4 & 15 as priority
        from unnest(lines_of(coalesce(mine, (select array_agg(c.class) from class c)))) l(line) cross join lateral (
          select s.line, s.seq, s.last_run from slot s where s.line = l.line and s.state = 0
          order by s.last_run, s.seq limit a + size) h
      ), ranked as (
        select h.seq, h.line, row_number() over (
          order by h.priority * least(greatest(n - h.last_run, 0), 1800000000000000000) desc, h.priority desc, h.seq) as nth
        from head h)
      select r.seq, r.line >> 8, array[r.nth], r.nth from ranked r where r.nth > a order by r.nth limit size;
    when 2 then return query
      select s.seq, s.line >> 8, array[s.due, s.seq], row_number() over (order by s.due, s.seq) from slot s
      where s.state = 1 and s.due >= a and (s.due > a or s.seq > b) order by s.due, s.seq limit size;
    when 3 then return query
      select s.seq, s.line >> 8, array[s.line >> 4, s.seq], row_number() over (order by s.line >> 4, s.seq) from slot s
      where s.state = 2 and s.line >> 4 >= a and (s.line >> 4 > a or s.seq > b) order by s.line >> 4, s.seq limit size;
    when 4 then return query
      select t.seq, t.class, array[t.seq], row_number() over (order by t.id, t.seq) from task t
      where t.behind is not null order by t.id, t.seq limit size;
    when 5 then return query
      select s.seq, s.line >> 8, array[s.seq], row_number() over (order by s.seq) from slot s
      where s.line & 1 = 1 and s.seq > a order by s.seq limit size;
    else
      if prefix is null then return query
        select t.seq, t.class, array[t.seq], row_number() over (order by t.seq) from task t
        where t.seq > a order by t.seq limit size;
      else return query
        select l.seq, l.class, array[l.nth], l.nth from (
          select t.seq, t.class, t.id, row_number() over (order by t.id) as nth from task t
          where t.behind is null and t.id >= prefix order by t.id limit size) l
        where starts_with(l.id, prefix);
      end if;
  end case;
end $$;

-- A page of the live records that are in a state, with why they do not run. States and their order: `running` by node,
-- `ready` by rank (the first 10,000), `waiting` by earliest begin, `held` by priority, `blocked` by id (the first 10,000),
-- `suspect` and `live`, which is all of them, by number; with `prefix` those of `live` whose id begins so, by id, among the
-- 10,000 that follow it. `after` is the place of the last row of the page before. Of one queue 10,000 records at a time are
-- looked through: a last row without an id says from where to look on.
create or replace function board(
  which text, of_queue text default null, prefix text default null, most int default 50, after bigint[] default null)
returns table (
  place bigint[], seq bigint, id text, queue text, kind text, handler text, labels text[], schedule text, priority smallint,
  state text, attempts int, max_attempts int, every interval, earliest_begin timestamptz, last_run timestamptz,
  estimate interval, tags text[], registered timestamptz, node text, run bigint, begun timestamptz, suspect boolean, failure text, reasons jsonb)
language plpgsql as $$
#variable_conflict use_column
declare
  n constant bigint := now_ns(); most constant bigint := least(board.most, 1000);
  number constant int := word_number('which', board.which, array[
    'running', 'ready', 'waiting', 'held', 'blocked', 'suspect', 'live']);
  mine constant int[] := classes_of(board.of_queue);
  -- Where the order is no index's, what is not wanted is not looked at.
  is_narrow constant boolean := number in (0, 2, 3, 4, 5, 6) and (mine is not null or prefix is not null);
begin
  perform check_range('most', board.most, 1, 1000);
  if number = 1 then perform check_range('after', coalesce(board.after[1], 0), 0, 9000); end if;
  return query
    with l as materialized (
      select * from looked(number, mine, board.prefix, coalesce(board.after[1], case number when 1 then 0 else -1 end),
        coalesce(board.after[2], -1), case when is_narrow then 10000 else most end)
    ), f as (
      select l.* from l where mine is null or l.class = any(mine) order by l.nth limit most
    ), p as (
      select f.seq, f.place, f.nth from f
      union all
      select null, l.place, l.nth from l
      where l.nth = 10000 and number not in (1, 4) and board.prefix is null and (select count(*) from f) < most)
    select p.place, t.seq, t.id, q.name, (array['refresh', 'processing'])[c.kind], c.handler, c.labels,
      (array['standing', 'once', 'periodic'])[t.schedule + 1], t.priority,
      case when t.behind is null then state_name(s.state) else 'blocked' end, coalesce(s.attempts, 0), t.max_attempts,
      case when t.schedule = 2 then span(t.period) end, instant(coalesce(s.due, t.anchor)),
      instant(coalesce(s.last_run, t.registered)), span(coalesce(s.est, t.expected)),
      t.tags, instant(t.registered), w.name, nullif(s.run, 0), instant(case when s.state = 4 then s.begun end),
      coalesce(s.line & 1 = 1, false), s.failure,
      case when t.seq is not null then (
        select jsonb_agg(jsonb_build_object('reason', r.reason, 'detail', r.detail, 'until', r.until)) from reasons(t, s, n) r)
      end
    from p left join task t on t.seq = any(array[p.seq]) left join class c on c.class = any(array[t.class])
      left join queue q on q.queue = any(array[c.queue]) left join slot s on s.seq = any(array[t.seq])
      left join worker w on w.worker = any(array[s.worker]) and s.worker <> 0
    where p.seq is null or t.seq is not null order by p.nth;
end $$;

-- A page of what has ended, the last ones first: in one state (succeeded, failed, cancelled) or, by default, in any. `after`
-- and a queue are those of `board`. Only what failed can be tried again, once its id is free.
create or replace function last_ended(
  which text default null, of_queue text default null, most int default 50, after bigint[] default null)
returns table (
  place bigint[], seq bigint, id text, queue text, kind text, handler text, schedule text, priority smallint, state text,
  attempts int, tags text[], registered timestamptz, ended timestamptz, run bigint, stop text, failure text, can_retry boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  mine constant int[] := classes_of(last_ended.of_queue); most constant bigint := least(last_ended.most, 1000);
  states int[] := '{4,5,6}'; size bigint;
begin
  perform check_range('most', last_ended.most, 1, 1000);
  if last_ended.which is not null then
    states := array[4 + word_number('which', last_ended.which, array['succeeded', 'failed', 'cancelled'])];
  end if;
  size := case when mine is null then most else 10000 end;
  return query
    with l as materialized (
      select o.*, row_number() over (order by o.ended desc, o.seq desc) as nth
      from unnest(states) wanted cross join lateral (
        select h.* from history h
        where h.state = wanted and h.ended <= coalesce(last_ended.after[1], 9223372036854775807)
          and (h.ended < coalesce(last_ended.after[1], 9223372036854775807) or h.seq < last_ended.after[2])
        order by h.ended desc, h.seq desc limit size) o
      order by o.ended desc, o.seq desc limit size
    ), f as (
      select l.* from l where mine is null or l.class = any(mine) order by l.nth limit most
    ), p as (
      select f.*, f.id as shown from f
      union all
      select l.*, null from l where l.nth = 10000 and (select count(*) from f) < most)
    select array[p.ended, p.seq], p.seq, p.shown, q.name, (array['refresh', 'processing'])[c.kind], c.handler,
      (array['standing', 'once', 'periodic'])[p.schedule + 1], p.priority, end_name(p.state), p.attempts, p.tags,
      instant(p.registered), instant(p.ended), nullif(p.run, 0), stop_name(p.stop), p.failure,
      p.state = 5 and p.terms is not null and not exists (select 1 from task t where t.id = any(array[p.id]) and t.behind is null)
    from p join class c on c.class = any(array[p.class]) join queue q on q.queue = any(array[c.queue]) order by p.nth;
end $$;

-- One queue, or those after `after` by name: whether they are paused, what is ready (counted to 10,000) and for how long, and
-- what `set_queue` sets.
do $$
begin
  if exists (select 1 from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace
    and p.proname = 'queues' and not 'crash_pause' = any(p.proargnames)) then
    drop function queues(text, text, int);
  end if;
end $$;
create or replace function queues(of_name text default null, after text default '', most int default 100)
returns table (
  queue text, paused boolean, paused_until timestamptz, ready bigint, oldest interval, limit_refresh int, pending_refresh bigint,
  limit_processing int, pending_processing bigint, holds boolean, pace interval, retention interval, backoff_min interval,
  backoff_max interval, jitter int, max_input int, crash_pause interval)
language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns();
begin
  perform check_range('most', queues.most, 0, 2147483647);
  return query
    select q.name, q.paused_until > n,
      case when q.paused_until > n and q.paused_until < 9223372036854775807 then instant(q.paused_until) end,
      (select count(*) from (
        select 1 from unnest(l.lines) x(line) cross join lateral (
          select 1 from slot s where s.line = x.line and s.state = 0 limit 10000) o limit 10000) counted),
      (select span(n - min(o.last_run)) from unnest(l.lines) x(line) cross join lateral (
        select s.last_run from slot s where s.line = x.line and s.state = 0 order by s.last_run limit 1) o),
      q.limit_refresh, (select p.pending from pending p where p.queue = q.queue and p.kind = 1),
      q.limit_processing, (select p.pending from pending p where p.queue = q.queue and p.kind = 2),
      q.holds, span(q.pace), span(q.retention), span(q.backoff_min), span(q.backoff_max), q.jitter, q.max_input,
      span(q.crash_pause)
    from queue q cross join lateral (
      select lines_of(coalesce((select array_agg(c.class) from class c where c.queue = q.queue), '{}')) as lines) l
    where case when queues.of_name is null then q.name > queues.after else q.name = queues.of_name end
    order by q.name limit least(queues.most, 1000);
end $$;

-- Nodes, those that are alive first, with what they run (counted to 10,000), 20 of the handlers that they serve, and whether
-- they were asked to leave.
do $$
begin
  if exists (select 1 from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace
    and p.proname = 'workers' and not 'draining' = any(p.proargnames)) then
    drop function workers(int);
  end if;
end $$;
create or replace function workers(most int default 100)
returns table (
  worker bigint, name text, version text, started timestamptz, beaten timestamptz, expires timestamptz, lease interval,
  alive boolean, jumps int, runs bigint, handlers text[], draining boolean)
language plpgsql as $$
#variable_conflict use_column
begin
  perform check_range('most', workers.most, 0, 2147483647);
  return query
    select d.worker, d.name, d.version, d.started, d.beaten, d.expires, d.lease, d.alive, d.jumps,
      (select count(*) from (select 1 from slot s where s.worker = d.worker and s.state = 4 limit 10000) counted),
      array(select distinct c.handler from class c where c.class = any(d.serves) order by c.handler limit 20), d.draining
    from nodes d order by d.alive desc, d.name, d.worker limit least(workers.most, 1000);
end $$;

-- How often what happened, as far as numbers tell: tasks that were registered and runs that began, ever; and of what ended
-- after `ended`, at most 100,000 of each state, how many, and up to when. Decisions of the last seconds may still be on
-- their way, so it looks up to five seconds ago.
create or replace function counters(ended bigint[] default null)
returns table (registered bigint, runs bigint, succeeded bigint, failed bigint, cancelled bigint, upto bigint[])
language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns() - 5000000000; number int; count bigint; last bigint; counts bigint[]; ends bigint[];
begin
  for number in 4..6 loop
    select count(*), max(e.ended) into count, last from (
      select h.ended from history h
      where h.state = number and h.ended > coalesce(counters.ended[number - 3], n) and h.ended <= n order by h.ended limit 100000) e;
    counts := counts || count;
    ends := ends || case when count = 100000 then last else greatest(n, counters.ended[number - 3]) end;
  end loop;
  -- After a failover the numbers of runs go on 2^32 further (N34).
  return query select coalesce(pg_sequence_last_value(pg_get_serial_sequence('task', 'seq')), 0),
    coalesce(pg_sequence_last_value('run_number'), 0) % 4294967296, counts[1], counts[2], counts[3], ends;
end $$;
