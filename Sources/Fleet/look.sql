-- Looking: never at inputs, never at more than a page; counts stop at 10,000 (N31, N35).

create or replace function state_name(state int) returns text language sql immutable as $$
  select (array['enqueued', 'enqueued', 'held', 'blocked', 'running', 'enqueued'])[state + 1] $$;
create or replace function end_name(state int) returns text language sql immutable as $$
  select (array['succeeded', 'failed', 'cancelled'])[state - 3] $$;
create or replace function stop_name(stop int) returns text language sql immutable as $$
  select (array['expiring', 'preempted', 'constraint_lost', 'replaced', 'cancelled', 'shutdown', 'interrupted'])[stop] $$;
create or replace function constraints_in(bits int) returns text[] language sql immutable as $$
  select coalesce(array_agg(name order by place), '{}')
  from unnest(array['network', 'external_power', 'unmetered', 'battery_not_low', 'idle', 'storage_not_low', 'display_off',
    'not_roaming']) with ordinality as n(name, place) where bits & (1 << (place::int - 1)) <> 0 $$;
-- At most three names, and whether there are more; null: none.
create or replace function some_of(names text[]) returns text language sql immutable as $$
  select nullif(array_to_string(names[:3], ', '), '') || case when cardinality(names) > 3 then ', …' else '' end $$;
-- What no node has that could run a class: in the words of `explain` and of `status`.
create or replace function lacking(handler text, labels text[], constraints int) returns text language sql immutable as $$
  select 'no node has handler ' || quote_literal(handler) || coalesce(' with ' || nullif(concat_ws(' and ',
    nullif(array_to_string(labels, ', '), ''), nullif(array_to_string(constraints_in(constraints), ', '), '')), ''), '') $$;

do $do$ begin perform renew_view('live', $$
  select t.seq, t.id, q.name as queue, (array['refresh', 'processing'])[c.kind] as kind, c.handler, c.labels,
    constraints_in(c.constraints) as requires, (array['standing', 'once', 'periodic'])[t.schedule + 1] as schedule, t.priority,
    case when t.behind is null then state_name(s.state) else 'blocked' end as state, coalesce(s.attempts, 0) as attempts,
    t.max_attempts, instant(coalesce(s.due, t.anchor)) as earliest_begin, instant(coalesce(s.last_run, t.registered)) as last_run,
    span(coalesce(s.est, t.expected)) as estimate, t.generation, coalesce(cardinality(s.response), 0) as runs, t.tags,
    instant(t.registered) as registered, w.name as node, nullif(s.run, 0) as run, s.line & 1 = 1 as suspect,
    stop_name(s.stop) as stop, s.failure, instant(case when s.state = 4 then s.begun end) as begun
  from task t join class c on c.class = t.class join queue q on q.queue = c.queue left join slot s on s.seq = t.seq
    left join worker w on w.worker = s.worker$$); end $do$;

do $do$ begin perform renew_view('ended', $$
  select h.seq, h.id, q.name as queue, (array['refresh', 'processing'])[c.kind] as kind, c.handler, c.labels,
    constraints_in(c.constraints) as requires, (array['standing', 'once', 'periodic'])[h.schedule + 1] as schedule, h.priority,
    end_name(h.state) as state, h.attempts, instant(h.due) as earliest_begin, instant(h.last_run) as last_run,
    span(h.est) as estimate, h.generation, coalesce(cardinality(h.response), 0) as runs, h.tags,
    instant(h.registered) as registered, instant(h.ended) as ended, nullif(h.run, 0) as run, stop_name(h.stop) as stop, h.failure
  from history h join class c on c.class = h.class join queue q on q.queue = c.queue$$); end $do$;

do $do$ begin perform renew_view('nodes', $$
  select w.worker, w.name, w.version, instant(w.started) as started, instant(w.beaten) as beaten, instant(w.expires) as expires,
    span(w.ttl) as lease, w.expires >= now_ns() and w.beaten <= now_ns() + w.ttl / 10 as alive, w.jumps, w.serves,
    w.draining, w.relaxed
  from worker w$$); end $do$;

-- One record: the live one of an id, else the last. No row: the id is not registered.
create or replace function get(text) returns table (
  seq bigint, id text, queue text, kind text, handler text, labels text[], requires text[], schedule text, priority smallint,
  state text, attempts int, earliest_begin timestamptz, last_run timestamptz, estimate interval, generation int, runs int,
  tags text[], registered timestamptz, ended timestamptz, node text, run bigint, stop text, failure text, appended bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  perform check_name('id', $1);
  return query select l.seq, l.id, l.queue, l.kind, l.handler, l.labels, l.requires, l.schedule, l.priority, l.state, l.attempts,
      l.earliest_begin, l.last_run, l.estimate, l.generation, l.runs, l.tags, l.registered, null::timestamptz, l.node, l.run,
      l.stop, l.failure, (select count(*) from task b where b.id = $1 and b.behind is not null)
    from task t cross join lateral (select v.* from live v where v.seq = t.seq offset 0) l where t.id = $1 and t.behind is null;
  if found then return; end if;
  return query select e.seq, e.id, e.queue, e.kind, e.handler, e.labels, e.requires, e.schedule, e.priority, e.state, e.attempts,
      e.earliest_begin, e.last_run, e.estimate, e.generation, e.runs, e.tags, e.registered, e.ended, null::text, e.run, e.stop,
      e.failure, 0::bigint
    from ended e where e.id = $1 order by e.ended desc, e.seq desc limit 1;
end $$;

-- The numbers of a page of live records, in order, from indexes that hold little else: of a rare state, or of a queue's classes.
create or replace function live_page(mine int[], state text, after bigint, most int) returns bigint[] language plpgsql
set enable_bitmapscan = off as $$
#variable_conflict use_variable
begin
  case when live_page.state = 'running' then return array(
      select s.seq from slot s where s.state = 4 and s.seq + 0 > after and (mine is null or s.line >> 8 = any(mine))
      order by s.seq + 0 limit most);
    when live_page.state = 'held' then return array(
      select s.seq from slot s where s.state + 0 = 2 and s.seq > after and (mine is null or s.line >> 8 = any(mine))
      order by s.seq limit most);
    when live_page.state = 'blocked' then return array(
      select t.seq from task t where t.behind is not null and t.seq > after and (mine is null or t.class = any(mine))
      order by t.seq limit most);
    when cardinality(mine) <= 100 then return array(
      select o.seq from unnest(mine) m(class) cross join lateral (
        select t.seq from task t
        where t.class > 0 and (t.class, t.seq) > (m.class, after) and t.class <= m.class and (live_page.state is null
          or case when t.behind is null then (select state_name(s.state) from slot s where s.seq = t.seq) else 'blocked' end
            = live_page.state)
        order by t.class, t.seq limit most) o
      order by o.seq limit most);
    else return array(
      select t.seq from task t
      where t.seq > after and (mine is null or t.class = any(mine)) and (live_page.state is null
        or case when t.behind is null then (select state_name(s.state) from slot s where s.seq = t.seq) else 'blocked' end
          = live_page.state)
      order by t.seq limit most);
  end case;
end $$;

-- A page of live records by number: those after `after`.
create or replace function list(
  queue text default null, state text default null, tag text default null, after bigint default 0, most int default 100)
returns setof live language plpgsql as $$
#variable_conflict use_column
declare
  page bigint[]; mine constant int[] := classes_of(list.queue);
begin
  perform check_range('most', list.most, 0, 2147483647);
  -- Which ones, one after the other by number, and then what they are: no plan turns that round.
  if list.tag is null then
    page := live_page(mine, list.state, list.after, least(list.most, 1000));
  else
    page := array(
      select t.seq from task t
      where t.tags @> array[list.tag] and t.seq + 0 > list.after and (mine is null or t.class = any(mine))
        and (list.state is null
          or case when t.behind is null then (select state_name(s.state) from slot s where s.seq = t.seq) else 'blocked' end
            = list.state)
      order by t.seq + 0 limit least(list.most, 1000));
  end if;
  return query select l.* from unnest(page) with ordinality p(seq, place)
    cross join lateral (select v.* from live v where v.seq = p.seq offset 0) l order by p.place;
end $$;

-- What a task left at its last success (N27); null: nothing, or no longer known.
create or replace function result(id text) returns bytea language plpgsql as $$
begin
  perform check_name('id', result.id);
  return (last_of(result.id)).result;
end $$;

-- How many ready tasks of the same queue and kind come before a record, at most 10,000.
create or replace function rank_of(s slot, n bigint) returns bigint language plpgsql as $$
begin
  return (select count(*) from (
    select 1 from class mine join class c on c.queue = mine.queue and c.kind = mine.kind
      cross join generate_series(1, 5) priority cross join generate_series(0, 15) rest cross join lateral (
        select 1 from slot o where o.line = ((c.class << 8) | (priority << 4) | rest) and o.state = 0 and o.last_run <=
          n - div((s.line >> 4 & 15)::numeric * (n - s.last_run), priority)::bigint
        and (priority::numeric * (n - o.last_run), priority, -o.seq)
          > ((s.line >> 4 & 15)::numeric * (n - s.last_run), s.line >> 4 & 15, -s.seq)
        limit 10000) before
    where mine.class = s.line >> 8 limit 10000) counted);
end $$;

-- Every reason why a live task does not run now, in words, with the instant at which it may change (C15).
create or replace function reasons(t task, s slot, n bigint) returns table (reason text, detail text, until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare c class; q queue;
begin
  if t.behind is not null then
    return query select 'blocked'::text, 'it waits behind the live task of its id', null::timestamptz;
    return;
  end if;
  select * into c from class where class = t.class;
  select * into q from queue where queue = c.queue;
  if s.state = 4 then
    return query select 'running'::text, 'claimed as run ' || s.run || ' by '
      || coalesce((select w.name from worker w where w.worker = s.worker), 'a node that is gone') || ', attempt ' || s.attempts,
      null::timestamptz;
    return;
  end if;
  if s.state = 2 then
    return query select 'held'::text, 'the limit of its queue is reached', null::timestamptz;
  end if;
  if s.state = 5 then
    return query select 'still_running'::text, 'the run of the record before it has not come back',
      (select instant(min(st.until)) from stray st where st.id = t.id);
  end if;
  if s.due > n then
    return query select 'not_due'::text, case when s.stop = 7 and s.line & 1 = 1 then 'its node ended while it ran; it waits'
        when s.attempts > 0 then 'attempt ' || s.attempts || ' failed' || coalesce(': ' || s.failure, '') || '; it waits'
        else 'it waits' end, instant(s.due);
  end if;
  if q.paused_until > n then
    return query select 'queue_paused'::text, 'queue ' || quote_literal(q.name) || ' is paused',
      case when q.paused_until < 9223372036854775807 then instant(q.paused_until) end;
  end if;
  if not exists (select 1 from worker w where c.class = any(w.serves) and w.expires >= n) then
    return query select 'no_node'::text, lacking(c.handler, c.labels, c.constraints)
      || coalesce('; last ' || c.served_by || ', ' || span_words(n - c.served) || ' ago', ''), null::timestamptz;
    return;
  end if;
  if s.line & 1 = 1 then
    return query select 'suspect'::text, 'its node ended while it ran; '
      || case when s.quarantined then 'a node runs one such task at a time' else 'it runs alone' end, null::timestamptz;
  end if;
  if s.state <= 1 and s.due <= n then
    return query select 'ready'::text, 'for ' || span_words(n - greatest(s.due, s.last_run)), null::timestamptz;
  end if;
end $$;

-- For whom nothing is claimed after a crash or a failover (N34), in words; null: for nobody.
create or replace function unheard() returns text language plpgsql as $$
begin
  return 'the server crashed: nothing is claimed until these nodes have said what they run, or are taken for dead: '
    || some_of(array(select w.name from worker w, fleet f where w.relaxed and w.first_run < f.first_run order by w.name
      limit 4));
end $$;

-- Which nodes take nothing, since no window for any task that is known was opened there yet, in words; null: none.
create or replace function idle() returns text language plpgsql as $$
begin
  return some_of(array(select d.name from nodes d where d.alive and cardinality(d.serves) = 0 and not d.draining order by d.name
    limit 4)) || ': no window was opened there yet, or no handler for any task is there';
end $$;

-- The same of an id, with its rank; of one that has ended, how.
create or replace function explain(id text) returns table (reason text, detail text, until timestamptz) language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); t task; s slot; h history; rank bigint;
begin
  perform check_name('id', explain.id);
  select * into t from task where id = explain.id and behind is null;
  if not found then
    h := last_of(explain.id);
    if h.seq is null then perform refuse(21, 'id', quote_literal(explain.id) || ' is not registered'); end if;
    return query select end_name(h.state), 'it ended at ' || instant(h.ended) || ' after ' || h.attempts
      || case h.attempts when 1 then ' attempt' else ' attempts' end || coalesce(': ' || h.failure, ''), null::timestamptz;
    return;
  end if;
  select * into s from slot where seq = t.seq;
  for reason, detail, until in select r.reason, r.detail, r.until from reasons(t, s, n) r loop
    if reason = 'ready' then
      rank := rank_of(s, n);
      detail := detail || ', ' || rank || case when rank >= 10000 then ' or more' else '' end || ' before it'
        || coalesce('; ' || unheard(), '');
    end if;
    if reason = 'no_node' then detail := detail || coalesce('; ' || idle(), ''); end if;
    return next;
  end loop;
end $$;

-- What people want to know of a fleet; `alarm` is true where somebody should look (N35).
create or replace function status() returns table (item text, value text, alarm boolean) language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); count bigint; age interval;
begin
  return query select 'protocol'::text, f.protocol::text, false from fleet f;
  return query select 'timeline'::text, coalesce(f.timeline, server_timeline(), 'hidden')
      || coalesce(', a failover since ' || instant(f.failed_over) || ': what was committed last may be lost', ''),
    coalesce(f.failed_over > n - 86400000000000, false) from fleet f;
  select count(*) into count from nodes d where d.alive and d.relaxed;
  return query select 'durability'::text, 'synchronous_commit is ' || current_setting('synchronous_commit')
      || case when count > 0 then ', turns of ' || count || ' relaxed nodes wait for no disk' else '' end,
    current_setting('synchronous_commit') = 'off';
  return query
    select 'nodes'::text, count(*) filter (where d.alive) || ' alive, ' || count(*) filter (where not d.alive) || ' gone', false
    from nodes d;
  return query select 'clock of ' || d.name, d.jumps || ' jumps', true from nodes d where d.jumps > 2 and d.alive;
  return query select 'crash'::text, u, true from unheard() u where u is not null;
  -- Each state as a constant, since only that is in an index.
  for item, count in
    select 'ready', (select count(*) from (select 1 from slot s where s.state = 0 limit 10000) c)
    union all select 'waiting', (select count(*) from (select 1 from slot s where s.state = 1 limit 10000) c)
    union all select 'held', (select count(*) from (select 1 from slot s where s.state = 2 limit 10000) c)
    -- Of what a worker has claimed it alone knows which has begun.
    union all select 'claimed', (select count(*) from (select 1 from slot s where s.state = 4 limit 10000) c)
  loop
    value := case when count >= 10000 then '10000+' else count::text end;
    alarm := false;
    return next;
  end loop;
  return query select 'queue ' || q.name, 'oldest ready for ' || span_words(n - o.since), n - o.since > 3600000000000
    from queue q cross join lateral (
      select min(h.last_run) as since from class c cross join lateral unnest(lines_of(array[c.class])) l(line)
        cross join lateral (select s.last_run from slot s where s.line = l.line and s.state = 0 order by s.last_run limit 1) h
      where c.queue = q.queue) o
    where o.since is not null and q.paused_until <= n;
  return query select 'queue ' || q.name, 'paused', false from queue q where q.paused_until > n;
  return query select 'queue ' || q.name || ', ' || (array['refresh', 'processing'])[c.kind],
      lacking(c.handler, c.labels, c.constraints), true
    from class c join queue q on q.queue = any(array[c.queue])
    where cardinality(lines_of(array[c.class])) > 0 and not exists (
      select 1 from worker w where c.class = any(w.serves) and w.expires >= n);
  if found then return query select 'idle nodes'::text, i, true from idle() i where i is not null; end if;
  select count(*) into count from (select 1 from slot s where s.line & 1 = 1 and s.state in (0, 1, 4) and s.stop = 7 limit 100) c;
  return query select 'suspects'::text, case when count >= 100 then '100+' else count::text end, count > 0;
  select count(*) into count from (select 1 from history h where h.state = 5 limit 10000) c;
  return query select 'failed'::text, case when count >= 10000 then '10000+' else count::text end, false;
  -- When the transactions of others began only a member of pg_read_all_stats is told, but how many came after them anybody.
  select max(clock_timestamp() - a.xact_start), max(age(a.backend_xmin)) filter (where a.xact_start is null)
    into age, count from pg_stat_activity a where a.backend_xmin is not null;
  return query select 'oldest snapshot'::text, span_words(coalesce(span_ns(age), 0))
      || coalesce(', that of others ' || count || ' transactions: grant pg_read_all_stats to ' || quote_ident(current_user)
        || ' tells since when', ''),
    coalesce(age > interval '10 minutes', false) or coalesce(count > 1000000, false);
  select n_dead_tup into count from pg_stat_all_tables where relid = 'slot'::regclass;
  return query select 'dead rows of slot'::text, count::text, count > 100000;
  -- Beats look after the history; a fleet that nobody works for needs none.
  return query select 'history'::text,
      coalesce('last looked after ' || span_words(n - nullif(f.kept_whole, 0)) || ' ago', 'not looked after yet')
        || coalesce(': ' || f.keeping_fault, ''),
      f.keeping_fault is not null and f.kept_whole < n - 3600000000000
    from fleet f;
  return query select 'housekeeping'::text, coalesce(f.fault || ', ' || span_words(n - f.fault_at) || ' ago', 'as it should be'),
      coalesce(f.fault_at > n - 7200000000000, false)
    from fleet f;
  -- Who has beaten for three leases without a gap has taken back what the dead ran, with each beat, unless it may not.
  return query select 'housekeeping'::text, 'runs of dead nodes were '
      || coalesce('last taken back ' || span_words(n - nullif(k.reaped, 0)) || ' ago', 'never taken back')
      || ', though nodes beat: a transaction keeps the row of keeper', true
    from keeper k where k.reaped not between n - (select max(w.ttl) from worker w) * 3 and n and exists (
      select 1 from worker w where w.expires >= n and w.steady <= n - 3 * w.ttl);
  return query select 'roles'::text, f.roles || '_enqueue, _work, _look, _manage'
      || coalesce(', which other databases grant rights, too: ' || some_of(databases_of(f.roles)), ''),
    false from fleet f where f.roles is not null;
  return query select 'partitions'::text, 'partition of ' || (timestamp 'epoch' + day * interval '1 day')::date
      || ' is missing: partitions(), or pyselene fleet prune, makes it', true
    from generate_series(n / 86400000000000, n / 86400000000000 + 1) day where to_regclass(quote_ident(partition_name(day))) is null
      and exists (select 1 from nodes d where d.alive);
end $$;
