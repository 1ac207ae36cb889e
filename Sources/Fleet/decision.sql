-- How runs end: decided, given back, or asked about after a lost answer (C6, C8, C9, N8, N9, N14).

-- The stop reason of an outcome that the window or the process's end gave it (C6, D3).
create or replace function stop_of(outcome int) returns int language sql immutable parallel safe as $$
  select case outcome when 4 then 1 when 5 then 7 else 0 end $$;

-- What a record says of a failure; null of any other outcome.
create or replace function failure_of(outcome int, words text) returns text language sql immutable parallel safe as $$
  select case when outcome <= 1 then null when words is not null then left(words, 1024) when outcome = 4 then 'the window ended'
    when outcome = 5 then 'the process ended' end $$;

-- Whether a once task, or the period of a periodic one, is over with a run (C9, C10).
create or replace function is_over(outcome int, attempts int, max_attempts int) returns boolean
language sql immutable parallel safe as $$
  select outcome in (0, 1, 3) or (max_attempts > 0 and attempts >= max_attempts) $$;

-- Decides runs, as `complete` tells. Without `waits` nothing is done, and no row told, of a record that somebody else's
-- transaction is at.
create or replace function decide(
  seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[], failures text[], results bytea[],
  waits boolean)
returns table (run bigint, counts boolean, state smallint, due bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  n bigint; mine bigint[]; places int[]; limited int[]; forgets int[]; ends bigint[]; ended record;
  done_run bigint[]; done_state smallint[]; done_due bigint[]; more_run bigint[]; more_state smallint[]; more_due bigint[];
begin
  perform durable();
  -- Nobody counts places from here on (N24): what is read of limits below holds until the commit.
  lock table slot in row exclusive mode;
  -- By position, wherever they begin.
  if 1 <> any(array[array_lower(outcomes, 1), array_ndims(outcomes), array_lower(responses, 1), array_ndims(responses),
      array_lower(delays, 1), array_ndims(delays), array_lower(failures, 1), array_ndims(failures), array_lower(results, 1),
      array_ndims(results)]) then
    outcomes := array(select unnest(outcomes));
    responses := array(select unnest(responses));
    delays := array(select unnest(delays));
    failures := array(select unnest(failures));
    results := array(select unnest(results));
  end if;
  if (0 <= all(outcomes) and 5 >= all(outcomes)) is not true or cardinality(outcomes) < cardinality(runs) then
    perform refuse(16, 'outcomes', 'allowed are 0 to 5, one for each run');
  end if;
  if cardinality(results) > 0 and exists (select 1 from unnest(results) r where octet_length(r) > 65536) then
    perform refuse(20, 'results', 'allowed are 0 to 65536 bytes each');
  end if;
  if (0 <= all(responses)) is not true or cardinality(responses) < cardinality(runs)
    or (0 <= all(delays) and 315360000000000000 >= all(delays)) is false then
    perform refuse(16, 'responses', 'response times and delays are out of range');
  end if;
  -- What a run took longer than a day teaches nothing (N64).
  if 86400000000000 < any(responses) then responses := array(select least(x, 86400000000000) from unnest(responses) x); end if;
  -- In order of number, as everybody takes several; the clock is read when all are held.
  if waits then
    select array_agg(l.place), array_agg(l.seq) into places, mine from (
      select u.place, s.seq from unnest(seqs, runs) with ordinality u(seq, run, place)
        join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
      order by u.seq for update of s) l;
  else
    select array_agg(l.place), array_agg(l.seq) into places, mine from (
      select u.place, s.seq from unnest(seqs, runs) with ordinality u(seq, run, place)
        join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
      order by u.seq for update of s skip locked) l;
  end if;
  n := now_ns();
  if mine is not null then
    select array_agg(c.class) filter (where case c.kind when 1 then q.limit_refresh else q.limit_processing end is not null),
        array_agg(c.class) filter (where q.retention = 0)
      into limited, forgets
      from (select distinct s.line >> 8 as class from unnest(mine) g(seq) join slot s on s.seq = any(array[g.seq])) l
        join class c on c.class = any(array[l.class]) join queue q on q.queue = any(array[c.queue]);
    -- Those that end and have nothing after them: what most runs are.
    with gone as (
      delete from slot s using unnest(mine, places) g(seq, place)
        where s.seq = any(array[g.seq]) and s.schedule = 1 and not s.has_next and (limited is null or s.line >> 8 <> all(limited))
          and is_over(outcomes[g.place], s.attempts, s.max_attempts)
        returning s.seq, s.run, s.attempts, s.due, s.response, outcomes[g.place] as outcome, responses[g.place] as response_time,
          failures[g.place] as failure, results[g.place] as result,
          case when outcomes[g.place] <= 1 then 4 else 5 end::smallint as state
    ), old as (
      delete from task t using gone g where t.seq = any(array[g.seq])
        returning t.seq, t.id, t.class, t.priority, t.generation, t.registered, t.tags, t.expected, t.response_window,
          g.state, g.attempts, g.run, g.due, g.outcome, g.failure, g.result,
          case when g.outcome = 5 then g.response else with_response(g.response, g.response_time, t.response_window) end
            as response,
          case when g.state = 5 then to_jsonb(t) end as terms
    ), remembered as (
      insert into history (ended, seq, id, class, state, schedule, priority, stop, attempts, generation, run, registered,
          last_run, due, est, tags, response, failure, result, terms)
        select n, o.seq, o.id, o.class, o.state, 1, o.priority, stop_of(o.outcome), o.attempts, o.generation, o.run,
          o.registered, n, o.due, estimate(o.response, o.response_window, o.expected), o.tags, o.response,
          failure_of(o.outcome, o.failure), o.result, o.terms
        from old o where forgets is null or o.class <> all(forgets))
    select array_agg(g.run), array_agg(g.state), array_agg(g.due) into done_run, done_state, done_due from gone g;
  end if;
  -- The others: they go on, or end and leave a place or their id to somebody.
  if coalesce(cardinality(done_run), 0) < cardinality(mine) then
    with read as materialized (
      select distinct on (g.seq) g.seq, s.run, g.place, s.line, s.attempts, s.worker, s.schedule, s.last_run, s.due,
        outcomes[g.place] as outcome, outcomes[g.place] <= 1 as is_good, delays[g.place] as delay,
        failure_of(outcomes[g.place], failures[g.place]) as why,
        case when outcomes[g.place] = 5 then s.response
          else with_response(s.response, responses[g.place], t.response_window) end as response,
        t.response_window, t.expected, t.recurrence, t.period, t.anchor, t.backoff, t.backoff_delay, q.pace, q.backoff_max, q.jitter,
        s.schedule <> 0 and is_over(outcomes[g.place], s.attempts, s.max_attempts) as is_over
      from unnest(mine, places) g(seq, place) join slot s on s.seq = any(array[g.seq]) join task t on t.seq = any(array[s.seq])
        join class c on c.class = any(array[t.class]) join queue q on q.queue = any(array[c.queue])
      order by g.seq
    ), decided as materialized (
      select r.*, estimate(r.response, r.response_window, r.expected) as est, r.schedule = 1 and r.is_over as is_end,
        case when r.schedule = 1 and r.is_over then r.due
          when r.schedule = 2 and r.is_over then next_period(r.recurrence, r.period, r.anchor, n)
          else n + greatest(case when r.schedule = 0 then r.pace else 0 end,
            case when r.is_good or r.outcome = 3 then 0
              else greatest(coalesce(r.delay, backoff(r.backoff, r.backoff_delay, r.attempts, r.backoff_max, r.jitter, r.run)),
                case when r.outcome = 5 then backoff(2, 30000000000, r.attempts, greatest(r.backoff_max, 30000000000), 0, 0)
                  else 0 end) end) end
          as next_due,
        case when r.schedule = 1 and r.is_over then case when r.is_good then 4 else 5 end else 1 end::smallint as next_state
      from read r
    ), slots_go_on as (
      update slot s set state = case when d.is_end then 4 else 1 end, run = case when d.is_end then d.run else 0 end,
          decided = d.run, worker = case when d.is_end then d.worker else 0 end, last_run = n, due = d.next_due, est = d.est,
          line = (d.line & ~15) | (cost_class(d.est) << 1),
          attempts = case when d.is_end then d.attempts
            when d.is_over or (d.schedule = 0 and (d.is_good or d.outcome = 3)) then 0 else d.attempts end,
          stop = stop_of(d.outcome), failed_at = case when not d.is_good then n end, failure = d.why, response = d.response,
          deaths = 0, quarantined = false
        from decided d where s.seq = any(array[d.seq])
    ), periods as (
      update task t set period_base = n from decided d where t.seq = any(array[d.seq]) and d.schedule = 2 and d.is_over
    )
    select array_agg(d.run), array_agg(d.next_state), array_agg(d.next_due), array_agg(d.seq order by d.seq) filter (where d.is_end)
      into more_run, more_state, more_due, ends from decided d;
    done_run := done_run || more_run;
    done_state := done_state || more_state;
    done_due := done_due || more_due;
  end if;
  if ends is not null then
    for ended in
      select u.* from unnest(seqs, runs, outcomes, results) as u(seq, run, outcome, result)
      where u.seq = any(ends) and u.run = any(done_run) order by u.seq
    loop
      perform finish(ended.seq, case when ended.outcome <= 1 then 4 else 5 end, stop_of(ended.outcome), n, ended.result);
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
declare own constant text := wait_briefly();
begin
  return query select d.run, d.counts, d.state, d.due
    from decide(seqs, runs, outcomes, responses, delays, failures, results, true) d;
  perform wait_as(own);
end $$;

-- Runs whose record is gone are over: their ids are free again (C4).
create or replace function come_back(runs bigint[]) returns void language plpgsql as $$
declare ids text[];
begin
  with gone as (delete from stray s where s.run = any(runs) returning s.id) select array_agg(id) into ids from gone;
  if ids is null then return; end if;
  -- What somebody is at is free with the next beat.
  update slot set state = 1
    where seq = any(array(
      select s.seq from task t join slot s on s.seq = any(array[t.seq])
      where t.id = any(ids) and t.behind is null and s.state = 5 and not exists (select 1 from stray st where st.id = t.id)
      order by s.seq for update of s skip locked));
end $$;

-- Ids that were taken by a run that came back just while their records were registered are free, too.
create or replace function free_ids() returns void language plpgsql as $$
begin
  update slot set state = 1
    where seq = any(array(
      select s.seq from slot s join task t on t.seq = any(array[s.seq])
      where s.state = 5 and not exists (select 1 from stray st where st.id = t.id)
      order by s.seq limit 1000 for update of s skip locked));
end $$;

-- Gives runs back as they were before, without a sample: preempted, not begun, shut down (C8). Returns how many.
create or replace function release(seqs bigint[], runs bigint[]) returns bigint language plpgsql as $$
begin
  -- In order, so that two who do this wait for each other and not in a circle.
  perform 1 from slot s where s.seq = any(seqs) and s.run = any(runs) order by s.seq for update;
  return give_back(seqs, runs);
end $$;

-- The same, but of those that somebody else's transaction is at: they stay as they are.
create or replace function give_back(seqs bigint[], runs bigint[]) returns bigint language plpgsql as $$
declare given bigint;
begin
  perform durable();
  with mine as materialized (
    select s.seq from unnest(seqs, runs) u(seq, run)
      join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
    order by u.seq for update of s skip locked)
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
      when exists (select 1 from history h where h.id = any(array[u.id]) and h.run = u.run and h.state <> 6
        and h.taken_back is null) then 1 else 2 end
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
-- again from the beginning of lines waits twenty times as long (N7), 5 a run that was not given back, since somebody else's
-- transaction is at its record: say it again later. A row 1 has state 1 if its task is a suspect beside which
-- others may run (V7). `started` are runs
-- of earlier claims that have begun meanwhile; of those that are claimed now the first `lanes` begin at once, null: all (N58).
drop function if exists turn(
  bigint, bigint[], bigint[], int[], bigint[], bigint[], text[], bytea[], bigint[], bigint[], bigint[], int[], int[], bigint[],
  int, bigint, bigint, boolean, bigint);  -- as it was before
create or replace function turn(
  worker bigint, seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[] default '{}',
  failures text[] default '{}', results bytea[] default '{}', back_seqs bigint[] default '{}', back_runs bigint[] default '{}',
  held bigint[] default '{}', classes int[] default '{}', lines int[] default '{}', since bigint[] default '{}',
  most int default 0, room bigint default 86400000000000, total bigint default 9223372036854775807,
  first boolean default false, due_since bigint default 0, lanes int default null, started bigint[] default '{}')
returns table (
  what int, run bigint, state int, at bigint, seq bigint, id text, handler text, class int, input bytea, est bigint,
  attempts int, generation int, line int, last_run bigint)
language plpgsql as $$
declare began timestamptz; took bigint;
begin
  if cardinality(started) > 0 then
    update slot s set begun = now_ns()
      where s.seq = any(array(
        select o.seq from slot o where o.worker = turn.worker and o.state = 4 and o.run = any(started) and o.begun is null
        order by o.seq for no key update skip locked));
  end if;
  if cardinality(runs) > 0 then
    return query select 0, c.run, c.state::int, c.due, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from decide(seqs, runs, outcomes, responses, delays, failures, results, false) c;
    -- What has a place now may be claimed with this.
    perform settle_places();
  end if;
  if cardinality(back_runs) > 0 then
    perform give_back(back_seqs, back_runs);
    return query select 5, s.run, null::int, null::bigint, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from unnest(back_seqs, back_runs) b(seq, run) join slot s on s.seq = any(array[b.seq]) and s.run = b.run
      where s.state + 0 = 4;
  end if;
  if cardinality(held) > 0 then
    return query select 2, l.run, l.stop::int, null::bigint, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from lost_runs(turn.worker, held) l;
  end if;
  if most > 0 then
    began := clock_timestamp();
    return query select 1, c.run, case when c.beside then 1 end, null::bigint, c.seq, c.id, c.handler, c.class, c.input, c.est, c.attempts,
        c.generation, c.line, c.last_run
      from claim(turn.worker, turn.classes, turn.lines, turn.since, most, room, total, first, due_since, turn.lanes) c;
    return query select 3, null::bigint, null::int, d, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from next_due(due_since) d where d is not null;
    took := span_ns(clock_timestamp() - began);
    if took >= 10000000 then
      return query select 4, null::bigint, null::int, took, null::bigint, null::text, null::text, null::int, null::bytea,
          null::bigint, null::int, null::int, null::int, null::bigint;
    end if;
  end if;
  -- After all that asked for a durable commit, which one that has moved numbers on has to be.
  if (select w.relaxed and w.first_run = f.first_run from worker w, fleet f where w.worker = turn.worker) then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $$;
