-- Nodes: leases, who may judge whom, and what becomes of the runs of the dead (N10 to N15, N30, N33, N34).

-- A new incarnation; `lease` in nanoseconds. Protocols are those that the node speaks; `protocol` is the newest that the fleet
-- speaks, too. Without any it is refused (SE019), and told which side is newer (N33). The turns of one that is `relaxed` are
-- committed without waiting for the disk: a crash of the server may lose the last of them (N34).
drop function if exists hello(text, bigint, text, int[], int[]);  -- as it was before
create or replace function hello(
  name text, lease bigint default 30000000000, version text default '', protocols int[] default '{1}', serves int[] default '{}',
  relaxed boolean default false)
returns table (worker bigint, protocol int, now bigint)
language plpgsql as $$
#variable_conflict use_column
declare f fleet; common int; n bigint; given bigint;
begin
  perform durable();
  perform check_name('name', hello.name);
  perform check_range('lease', hello.lease, 100000000, 3600000000000, ' ns');
  if num_nulls(hello.version, hello.serves, hello.relaxed) > 0 then
    perform refuse(16, case when hello.version is null then 'version' when hello.serves is null then 'serves' else 'relaxed' end,
      'null is not allowed');
  end if;
  select * into f from fleet;
  select max(p) into common from unnest(protocols) p where p between f.oldest and f.protocol;
  if common is null then
    perform refuse(19, 'protocols', 'the fleet speaks ' || f.oldest
      || case when f.oldest < f.protocol then ' to ' || f.protocol else '' end || ', the node '
      || coalesce(nullif(array_to_string(protocols, ', '), ''), 'none') || ': '
      || case when f.oldest > all(protocols) then 'the fleet is newer' else 'the fleet is older' end);
  end if;
  f := follow_server();
  if hello.relaxed and not f.relaxed then
    update fleet set relaxed = true where not fleet.relaxed;
    insert into crash_mark default values on conflict do nothing;
  end if;
  n := now_ns();
  -- A fleet that nobody worked for has no partition of today.
  if may_keep() then
    perform keep_history(n, hello.lease, false);
  end if;
  insert into worker (name, version, started, beaten, expires, ttl, steady, serves, relaxed, first_run)
    values (hello.name, hello.version, n, n, n + hello.lease, hello.lease, n, hello.serves, hello.relaxed, f.first_run)
    returning worker into given;
  perform serve(given, hello.serves, n);
  return query select given, common, n;
end $$;

create or replace function serve(p_worker bigint, p_serves int[], n bigint) returns void language plpgsql as $$
begin
  update worker set serves = p_serves where worker = p_worker and serves <> p_serves;
  update class c set served = n, served_by = w.name from worker w
    where w.worker = p_worker and c.class = any(array(
      select old.class from class old
      where old.class = any(p_serves) and (old.served is null or old.served < n - 30000000000) for no key update skip locked));
end $$;

-- The lease begins anew; `elapsed` is what the node's own clock ran since it sent its last beat, null if one was not answered
-- since, which may yet be made: then it judges nobody for a lease. `held` are all runs whose end the database may not know;
-- null says nothing of them. Rows of `what`: 0 the lease holds until `number`; 1 run `number` of `held` is no longer the node's,
-- for the stop reason `value`; 2 the clocks differ by `number`; 3 `number` runs were taken back from the dead; 4 the node is to
-- leave (N37). No row 0: the incarnation is over, say hello anew. One that `holds_all` takes nothing more: what it has here and
-- does not hold, since a claim was executed whose answer it never got, is as before the run (N14).
-- Who judges has beaten for a whole lease without a gap, and judges by the instant of its own beat (N11, N12). A gap is half a
-- lease: after an outage that was shorter everybody comes back before his lease is over.
drop function if exists beat(bigint, bigint, bigint[], int[], int[], bigint[], bigint[]);  -- as it was before
create or replace function beat(
  worker bigint, elapsed bigint, held bigint[] default null, serves int[] default null, mean_classes int[] default '{}',
  mean_counts bigint[] default '{}', mean_totals bigint[] default '{}', holds_all boolean default false)
returns table (what int, number bigint, value bigint)
language plpgsql as $$
#variable_conflict use_column
declare w worker; n bigint; gap bigint; taken bigint;
begin
  if beat.elapsed is not null then
    perform check_range('elapsed', beat.elapsed, -315360000000000000, 315360000000000000, ' ns');
  end if;
  select * into w from worker me where me.worker = beat.worker for update;
  if not found then return; end if;
  n := now_ns();
  gap := n - w.beaten;
  if abs(gap - beat.elapsed) > w.ttl / 10 then
    w.steady := n;
    w.jumps := w.jumps + 1;
    return query select 2, gap - beat.elapsed, null::bigint;
  elsif beat.elapsed is null or gap > w.ttl / 2 then
    w.steady := n;
  end if;
  update worker me set beaten = n, expires = n + w.ttl, steady = w.steady, jumps = w.jumps, blamed = null where me.worker = beat.worker;
  return query select 0, n + w.ttl, w.ttl;
  if w.draining then return query select 4, 1::bigint, null::bigint; end if;
  if w.first_run < (follow_server()).first_run then perform keep_only(w, beat.held); end if;
  if beat.holds_all then
    perform give_back(array_agg(s.seq), array_agg(s.run)) from slot s
      where s.worker = beat.worker and s.state = 4 and s.run <> all(beat.held) having count(*) > 0;
  end if;
  if cardinality(beat.held) > 0 then
    return query select 1, l.run, l.stop::bigint from lost_runs(beat.worker, beat.held) l;
  end if;
  if may_keep() then
    -- Before a record is locked: who waits for one may have the history.
    perform keep_history(n, w.ttl, w.steady <= n - w.ttl);
    -- What somebody's transaction keeps is for whoever beats later; this beat counts all the same.
    perform set_config('lock_timeout', '100ms', true);
    begin
      perform bring_back(n);
      if w.steady <= n - w.ttl then taken := reap(n); end if;
    exception when others then
      perform note_fault(sqlstate, sqlerrm, 'runs of the dead');
    end;
    begin
      perform settle_queues();
      perform promote();
      perform settle_places();
      perform keep_places();
    exception when others then
      perform note_fault(sqlstate, sqlerrm, 'what is due or held');
    end;
    begin
      perform come_back(array(select run from stray where until <= n));
      perform free_ids();
    exception when others then
      perform note_fault(sqlstate, sqlerrm, 'ids of runs that have come back');
    end;
    update keeper k set kept = n, reaped = case when w.steady <= n - w.ttl then n else k.reaped end where k.is_here;
    if taken > 0 then return query select 3, taken, null::bigint; end if;
  end if;
  -- At the end, since a class is of many nodes; whatever somebody's transaction is at is left, which loses a sample at most.
  if beat.serves is not null then perform serve(beat.worker, beat.serves, n); end if;
  update class c set samples = least(c.samples, 1000) + m.count,
      -- No run that counts took longer than a day, whatever a node says (N64).
      mean = div(c.mean::numeric * least(c.samples, 1000) + least(m.total, m.count * 86400000000000::numeric),
        least(c.samples, 1000) + m.count)::bigint
    from unnest(mean_classes, mean_counts, mean_totals) m(class, count, total)
    where c.class = m.class and m.count between 1 and 1000000000 and m.total >= 0
      and c.class = any(array(select o.class from class o where o.class = any(mean_classes) for no key update skip locked));
end $$;

-- What was committed last may be lost (N34): of the runs from before that a worker has here it keeps those that it says it
-- holds. Of the others it has told the end, or was never told; they are as before the run. It is done with once it holds none
-- that it has not: until then it may believe in runs that nobody here knows of.
create or replace function keep_only(w worker, held bigint[]) returns void language plpgsql as $$
declare seqs bigint[]; runs bigint[]; first constant bigint := (select f.first_run from fleet f);
begin
  select array_agg(s.seq), array_agg(s.run) into seqs, runs from slot s
    where s.worker = w.worker and s.state = 4 and s.run <= first and s.run <> all(held);
  perform set_config('lock_timeout', '100ms', true);
  if seqs is not null then perform release(seqs, runs); end if;
  update worker me set first_run = first
    where me.worker = w.worker and not exists (select 1 from lost_runs(w.worker, held));
exception when lock_not_available then return;  -- the next beat says so again
end $$;

-- Who has a beat from the future has had it before the clock was set back: its lease counts from now, which is never shorter
-- than it was (N12). Whoever beats just now brings himself back.
create or replace function bring_back(n bigint) returns void language plpgsql as $$
begin
  update worker w set beaten = n, expires = n + w.ttl
    from (select a.worker from worker a where a.beaten > n + a.ttl / 10 for update skip locked) ahead
    where w.worker = ahead.worker;
end $$;

-- Held records that a place was missed for (somebody was at them). What is held stays so where its queue holds no more.
create or replace function keep_places() returns void language plpgsql as $$
declare short record;
begin
  perform 1 from slot s where s.state = 2 and (s.line >> 4, s.seq) > (0, 0::bigint) order by s.line >> 4, s.seq limit 1;
  if not found then return; end if;
  for short in
    select p.queue, p.kind from pending p join queue q on q.queue = p.queue
    where p.pending < case p.kind when 1 then q.limit_refresh else q.limit_processing end order by p.queue, p.kind
    for update of p skip locked
  loop
    perform fill_places(short.queue, short.kind);
  end loop;
end $$;

-- Whether somebody is dead at n to one who is steady: no row, or a lease that is over (N10).
create or replace function is_dead(p_worker bigint, n bigint) returns boolean language plpgsql as $$
begin
  return not exists (select 1 from worker w where w.worker = p_worker and w.expires >= n);
end $$;

-- What housekeeping could not do, for `status`. A lock that somebody keeps is nothing to tell of: the next beat tries again.
create or replace function note_fault(state text, words text, what text) returns void language plpgsql as $$
begin
  if state in ('55P03', '40P01', '40001') then return; end if;
  update fleet set fault = what || ': ' || words, fault_at = now_ns()
    where is_here = any(array(select f.is_here from fleet f for no key update skip locked));
end $$;

-- Takes back what the dead ran, at most 1,000 of each (D3). Called by `beat` alone. One that cannot be taken back hides no other.
create or replace function reap(n bigint) returns bigint language plpgsql as $$
declare dead bigint; lost slot; count bigint := 0; kept int[] := '{}'; blamed bigint;
begin
  for dead in
    with recursive w (worker) as (
      (select s.worker from slot s where s.state = 4 order by s.worker limit 1)
      union all
      select (select s.worker from slot s where s.state = 4 and s.worker > w.worker order by s.worker limit 1)
      from w where w.worker is not null)
    select w.worker from w where w.worker is not null and is_dead(w.worker, n)
  loop
    blamed := blame(dead, n);
    for lost in
      select * from slot where worker = dead and state = 4 order by seq limit 1000 for update skip locked
    loop
      -- Of a class whose place somebody keeps the others have to wait for it, too.
      continue when lost.line >> 8 = any(kept);
      begin
        perform interrupt(lost, n, blamed);
        count := count + 1;
      exception when lock_not_available then
        kept := kept || (lost.line >> 8);
        perform set_config('lock_timeout', '1ms', true);
      when others then
        perform note_fault(sqlstate, sqlerrm, 'run ' || lost.run || ' of '
          || coalesce((select quote_literal(t.id) from task t where t.seq = lost.seq), 'a task'));
      end;
    end loop;
  end loop;
  perform come_back(array(select st.run from stray st where is_dead(st.worker, n) order by st.worker));
  delete from worker w where is_dead(w.worker, n) and not exists (select 1 from slot s where s.worker = w.worker and s.state = 4);
  return count;
end $$;

-- Which record is to blame that a node is dead: a suspect that ran there, or what alone ran there; 0 for none. Judged once, by all
-- that ran there then (V7).
create or replace function blame(dead bigint, n bigint) returns bigint language plpgsql as $$
declare judged bigint; runs bigint; suspect bigint; last bigint;
begin
  select w.blamed into judged from worker w where w.worker = dead;
  if judged is not null then return judged; end if;
  select count(*), max(s.seq) filter (where s.line & 1 = 1), max(s.seq) into runs, suspect, last
    from slot s where s.worker = dead and s.state = 4 and s.begun is not null;
  -- A run whose record was cancelled or replaced may have done it as well.
  runs := runs + (select count(*) from stray st where st.worker = dead);
  judged := coalesce(suspect, case when runs = 1 then last end, 0);
  if runs = 0 then
    -- It may have died before it could say what had begun. The first that it claimed is taken for that: it becomes suspect, and is
    -- to blame if it was.
    update slot s set begun = n
      where s.seq = any(array(select o.seq from slot o where o.worker = dead and o.state = 4 order by o.run limit 1
        for update skip locked))
      returning case when s.line & 1 = 1 then s.seq end into suspect;
    judged := coalesce(suspect, 0);
  end if;
  update worker w set blamed = judged where w.worker = dead;
  return judged;
end $$;

-- Its node is dead. What had not begun is as before the run. What is not to blame is as well, but suspect: no attempt counts, and
-- of such a node runs one at a time. What is to blame has failed an attempt, and runs alone from now on. The first death costs no
-- pause, from the second on it is that of its queue, doubling, or its own backoff if that is longer (D3, V7, V8).
drop function if exists interrupt(slot, bigint);  -- as it was before
create or replace function interrupt(s slot, n bigint, blamed bigint) returns void language plpgsql as $$
declare
  t task; q queue; words constant text := failure_of(5, null); begins bigint;
  is_over constant boolean := s.schedule <> 0 and is_over(5, s.attempts, s.max_attempts);
begin
  if s.begun is null or s.seq <> blamed then
    update slot set state = 0, run = 0, worker = 0, attempts = s.attempts - 1, begun = null,
        stop = case when s.begun is null then s.stop else 7 end, deaths = s.deaths + (s.begun is not null)::int,
        failed_at = case when s.begun is null then s.failed_at else n end,
        failure = case when s.begun is null then s.failure else words end, line = s.line | (s.begun is not null)::int,
        quarantined = s.quarantined or s.begun is not null
      where seq = s.seq;
    return;
  end if;
  select * into t from task where seq = s.seq;
  select own.* into q from class c join queue own on own.queue = c.queue where c.class = t.class;
  if is_over and s.schedule = 1 then
    update slot set last_run = n, failed_at = n, failure = words where seq = s.seq;
    perform finish(s.seq, 5, 7, n);
    update history h set taken_back = true where h.id = t.id and h.ended = n and h.seq = s.seq;
    return;
  end if;
  if is_over then update task set period_base = n where seq = s.seq; end if;
  begins := case when is_over then next_period(t.recurrence, t.period, t.anchor, n)
    else n + greatest(case when s.schedule = 0 then q.pace else 0 end, case when s.deaths > 0 then greatest(
      backoff(t.backoff, t.backoff_delay, s.attempts, q.backoff_max, q.jitter, s.run),
      backoff(2, q.crash_pause, s.deaths, greatest(q.backoff_max, q.crash_pause), 0, 0)) else 0 end) end;
  update slot set state = case when begins > n then 1 else 0 end, run = 0, worker = 0, last_run = n, stop = 7, failed_at = n,
      failure = words, line = s.line | 1, quarantined = false, deaths = least(s.deaths, 32000) + 1, begun = null,
      attempts = case when is_over then 0 else s.attempts end, due = begins
    where seq = s.seq;
end $$;

-- The incarnation ends in order: what it still has is given back as before the run (N14). Returns how many.
create or replace function bye(worker bigint) returns bigint language plpgsql as $$
#variable_conflict use_column
declare seqs bigint[]; runs bigint[]; given bigint := 0;
begin
  select array_agg(s.seq), array_agg(s.run) into seqs, runs from slot s where s.worker = bye.worker and s.state = 4;
  if seqs is not null then given := release(seqs, runs); end if;
  perform come_back(array(select run from stray st where st.worker = bye.worker));
  delete from worker w where w.worker = bye.worker;
  return given;
end $$;
