-- How runs end: decided, given back, or asked about after a lost answer (C6, C8, C9, N8, N9, N14).

-- Decides runs, as `complete` tells. Without `waits` nothing is done, and no row told, of a record that somebody else's
-- transaction is at, or whose place (N24).
create or replace function decide(
  seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[], failures text[], results bytea[],
  waits boolean)
returns table (run bigint, counts boolean, state smallint, due bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  n bigint; mine bigint[]; ends bigint[]; ended record; done_run bigint[]; done_state smallint[]; done_due bigint[];
begin
  perform durable();
  if exists (select 1 from unnest(outcomes) o where o is null or o not between 0 and 5) then
    perform refuse(16, 'outcomes', 'allowed are 0 to 5');
  end if;
  if exists (select 1 from unnest(results) r where octet_length(r) > 65536) then
    perform refuse(20, 'results', 'allowed are 0 to 65536 bytes each');
  end if;
  if exists (select 1 from unnest(responses, delays) u(r, d) where r is null or r < 0 or d not between 0 and 315360000000000000) then
    perform refuse(16, 'responses', 'response times and delays are out of range');
  end if;
  -- In order of number, as everybody takes several; the clock is read when all are held.
  if waits then
    perform 1 from slot s
      where s.seq = any(seqs) and s.run = any(runs) and s.state + 0 = 4 order by s.seq for update;
    mine := runs;
  else
    select array_agg(l.run) into mine from (
      select s.run from slot s
      where s.seq = any(seqs) and s.run = any(runs) and s.state + 0 = 4 order by s.seq for update skip locked) l;
    if exists (select 1 from pending) then
      -- Nor of those whose place somebody's transaction keeps.
      with own as materialized (
        select s.run, c.queue, c.kind from slot s join task t on t.seq = any(array[s.seq])
          join class c on c.class = any(array[t.class])
        where s.seq = any(seqs) and s.run = any(mine)
      ), place as materialized (
        select p.queue, p.kind from pending p where (p.queue, p.kind) in (select o.queue, o.kind from own o)
        order by p.queue, p.kind for update skip locked)
      select array_agg(o.run) into mine from own o
        where exists (select 1 from place l where l.queue = o.queue and l.kind = o.kind)
          or not exists (select 1 from pending p where p.queue = o.queue and p.kind = o.kind);
    end if;
  end if;
  n := now_ns();
  with given as materialized (
    select distinct on (u.seq) u.*
    from unnest(seqs, runs, outcomes, responses, delays, failures, results)
      as u(seq, run, outcome, response_time, delay, failure, result)
      join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
    where u.run = any(mine)
    order by u.seq
  ), read as materialized (
    select g.*, g.outcome <= 1 as is_good, s.line, s.attempts, s.has_next, s.schedule, s.last_run, s.due,
      case when g.outcome = 5 then s.response
        else with_response(s.response, g.response_time, t.response_window) end as response,
      t.response_window, t.expected, t.recurrence, t.period, t.anchor, t.id, t.class, t.priority, t.registered, t.generation,
      t.tags, t.backoff, t.backoff_delay, q.pace, q.retention, q.backoff_max, q.jitter,
      s.schedule <> 0 and (g.outcome <= 1 or g.outcome = 3 or (s.max_attempts > 0 and s.attempts >= s.max_attempts)) as is_over,
      s.has_next or case c.kind when 1 then q.limit_refresh else q.limit_processing end is not null as has_after
    from given g join slot s on s.seq = any(array[g.seq]) join task t on t.seq = any(array[g.seq])
      join class c on c.class = any(array[t.class]) join queue q on q.queue = any(array[c.queue])
  ), decided as materialized (
    select r.*, estimate(r.response, r.response_window, r.expected) as est,
      r.schedule = 1 and r.is_over as is_end, r.schedule = 1 and r.is_over and not r.has_after as is_plain,
      case when r.schedule = 1 and r.is_over then r.due
        when r.schedule = 2 and r.is_over then next_period(r.recurrence, r.period, r.anchor, n)
        else n + greatest(case when r.schedule = 0 then r.pace else 0 end,
          case when r.is_good or r.outcome = 3 then 0
            else greatest(coalesce(r.delay, backoff(r.backoff, r.backoff_delay, r.attempts, r.backoff_max, r.jitter, r.run)),
              case when r.outcome = 5 then backoff(2, 30000000000, r.attempts, greatest(r.backoff_max, 30000000000), 0, 0)
                else 0 end) end) end
        as next_due,
      case when r.schedule = 1 and r.is_over then case when r.is_good then 4 else 5 end else 1 end::smallint as next_state,
      case when r.is_good then null when r.failure is null and r.outcome = 4 then 'the window ended'
        when r.failure is null and r.outcome = 5 then 'the process ended' else left(r.failure, 1024) end as why,
      case r.outcome when 4 then 1 when 5 then 7 else 0 end as stop
    from read r
  ), slots_gone as (
    delete from slot s using decided d where s.seq = any(array[d.seq]) and d.is_plain
  ), tasks_gone as (
    delete from task t using decided d where t.seq = any(array[d.seq]) and d.is_plain
  ), remembered as (
    insert into history
      select n, d.seq, d.id, d.class, d.next_state, d.schedule, d.priority, d.stop,
        d.attempts, d.generation, d.run, d.registered, n, d.due, d.est, d.tags, d.response, d.why, d.result,
        case when d.next_state = 5 then (select to_jsonb(t) from task t where t.seq = d.seq) end
      from decided d where d.is_plain and d.retention > 0
  ), slots_go_on as (
    update slot s set state = case when d.is_end then 4 else 1 end, run = case when d.is_end then s.run else 0 end,
        decided = d.run, worker = case when d.is_end then s.worker else 0 end, last_run = n, due = d.next_due, est = d.est,
        line = (d.line & ~15) | (cost_class(d.est) << 1),
        attempts = case when d.is_end then d.attempts
          when d.is_over or (d.schedule = 0 and (d.is_good or d.outcome = 3)) then 0 else d.attempts end,
        stop = d.stop, failed_at = case when not d.is_good then n end, failure = d.why,
        response = d.response
      from decided d where s.seq = any(array[d.seq]) and not d.is_plain
  ), periods as (
    update task t set period_base = n from decided d where t.seq = any(array[d.seq]) and d.schedule = 2 and d.is_over
  )
  select array_agg(d.run), array_agg(d.next_state), array_agg(d.next_due),
      array_agg(d.seq order by d.seq) filter (where d.is_end and not d.is_plain)
    into done_run, done_state, done_due, ends from decided d;
  if ends is not null then
    for ended in
      select u.* from unnest(seqs, runs, outcomes, results) as u(seq, run, outcome, result)
      where u.seq = any(ends) and u.run = any(done_run) order by u.seq
    loop
      perform finish(ended.seq, case when ended.outcome <= 1 then 4 else 5 end,
        case ended.outcome when 4 then 1 when 5 then 7 else 0 end, n, ended.result);
    end loop;
  end if;
  return query select u.run, true, u.state, u.due from unnest(done_run, done_state, done_due) u(run, state, due);
  if coalesce(cardinality(done_run), 0) < cardinality(runs) then
    perform come_back(runs);
    return query select u.run, false, null::smallint, null::bigint from unnest(seqs, runs) u(seq, run)
      where (done_run is null or u.run <> all(done_run)) and (waits or not exists (
        select 1 from slot s where s.seq = u.seq and s.run = u.run and s.state + 0 = 4));
  end if;
end $$;

-- Decides runs. Only one under which its task still runs counts; any other changes nothing (N9). Outcomes: 0 new data,
-- 1 no data, 2 failed, 3 abandoned, 4 expired, 5 interrupted: the process that a living node had given it to ended, as D3 has
-- it without a suspicion, since its node lives. A failure may bring its own delay, in nanoseconds, and say why; a success may
-- leave up to 64 kB (N27). Commits with the transaction that it is called in (N16).
create or replace function complete(
  seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[] default '{}', failures text[] default '{}',
  results bytea[] default '{}')
returns table (run bigint, counts boolean, state smallint, due bigint)
language plpgsql as $$
begin
  return query select d.run, d.counts, d.state, d.due
    from decide(seqs, runs, outcomes, responses, delays, failures, results, true) d;
end $$;

-- Runs whose record is gone are over: their ids are free again (C4).
create or replace function come_back(runs bigint[]) returns void language plpgsql as $$
declare ids text[];
begin
  with gone as (delete from stray s where s.run = any(runs) returning s.id) select array_agg(id) into ids from gone;
  if ids is null then return; end if;
  update slot set state = 1
    where state = 5 and seq = any(array(select t.seq from task t where t.id = any(ids) and t.behind is null
      and not exists (select 1 from stray s where s.id = t.id)));
end $$;

-- Gives runs back as they were before, without a sample: preempted, not begun, shut down (C8). Returns how many.
create or replace function release(seqs bigint[], runs bigint[]) returns bigint language plpgsql as $$
declare given bigint;
begin
  perform durable();
  with mine as materialized (
    select s.seq from unnest(seqs, runs) u(seq, run)
      join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
    order by u.seq for update of s)
  update slot s set state = 0, run = 0, worker = 0, attempts = s.attempts - 1, stop = 2, begun = null
    from mine m where s.seq = any(array[m.seq]);
  get diagnostics given = row_count;
  if given < cardinality(runs) then perform come_back(runs); end if;
  return given;
end $$;

-- What became of runs whose decision was not answered: 0 open, still yours; 1 decided; 2 not yours any more (N14).
create or replace function fate(seqs bigint[], runs bigint[], ids text[]) returns table (run bigint, fate int)
language plpgsql as $$
#variable_conflict use_column
begin
  return query select u.run, case when s.state = 4 and s.run = u.run then 0 when s.decided = u.run then 1
      when exists (select 1 from history h where h.id = u.id and h.run = u.run and h.state <> 6) then 1 else 2 end
    from unnest(seqs, runs, ids) u(seq, run, id) left join slot s on s.seq = any(array[u.seq]);
end $$;

-- Which of these runs a worker has no longer, and why: the stop reason of the header.
create or replace function lost_runs(p_worker bigint, held bigint[]) returns table (run bigint, stop smallint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query select h.run, coalesce(st.stop, 7::smallint)
    from unnest(held) h(run) left join stray st on st.run = h.run
    where not exists (select 1 from slot s where s.worker = p_worker and s.state = 4 and s.run = h.run);
end $$;

-- One commit for what is over, what is given back and what comes next (N8). Rows of `what`: 0 a decision (state, and in `at`
-- when it is due again; without a state it was stale; no row: somebody else's transaction is at its record, ask `fate` and
-- say it again later), 1 a run, 2 a run of `held` that is no longer the worker's (its stop reason in state), 3 when the next
-- task is due (at), of those from `due_since` on, 4 how long the claim took (at), if that was 10 ms or more: then whoever looks
-- again from the beginning of lines waits twenty times as long (N7).
create or replace function turn(
  worker bigint, seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[] default '{}',
  failures text[] default '{}', results bytea[] default '{}', back_seqs bigint[] default '{}', back_runs bigint[] default '{}',
  held bigint[] default '{}', classes int[] default '{}', lines int[] default '{}', since bigint[] default '{}',
  most int default 0, room bigint default 86400000000000, total bigint default 9223372036854775807,
  first boolean default false, due_since bigint default 0)
returns table (
  what int, run bigint, state int, at bigint, seq bigint, id text, handler text, class int, input bytea, est bigint,
  attempts int, generation int, line int, last_run bigint)
language plpgsql as $$
declare began timestamptz; took bigint;
begin
  if cardinality(runs) > 0 then
    return query select 0, c.run, c.state::int, c.due, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from decide(seqs, runs, outcomes, responses, delays, failures, results, false) c;
  end if;
  if cardinality(back_runs) > 0 then perform release(back_seqs, back_runs); end if;
  if cardinality(held) > 0 then
    return query select 2, l.run, l.stop::int, null::bigint, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from lost_runs(turn.worker, held) l;
  end if;
  if most > 0 then
    began := clock_timestamp();
    return query select 1, c.run, null::int, null::bigint, c.seq, c.id, c.handler, c.class, c.input, c.est, c.attempts,
        c.generation, c.line, c.last_run
      from claim(turn.worker, turn.classes, turn.lines, turn.since, most, room, total, first, due_since) c;
    return query select 3, null::bigint, null::int, d, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from next_due(due_since) d where d is not null;
    took := span_ns(clock_timestamp() - began);
    if took >= 10000000 then
      return query select 4, null::bigint, null::int, took, null::bigint, null::text, null::text, null::int, null::bytea,
          null::bigint, null::int, null::int, null::int, null::bigint;
    end if;
  end if;
end $$;
