-- Claiming: what is worth most and fits, for one node (N5 to N7, N15, N18, N22).

-- Lets what became due since `since` join its line; at most so many, none that somebody else is at (N18).
create or replace function promote(most int default 1000, since bigint default 0) returns bigint language plpgsql as $$
declare moved bigint; n constant bigint := now_ns();
begin
  with due as (
    select s.seq from slot s where s.state = 1 and s.due >= since and s.due <= n order by s.due limit most
    for update skip locked)
  update slot s set state = 0 from due where s.seq = any(array[due.seq]) and s.state + 0 = 1;
  get diagnostics moved = row_count;
  return moved;
end $$;

-- When the next task is due that waits for it, of those from `since` on; null: none does.
create or replace function next_due(since bigint) returns bigint language plpgsql as $$
begin
  return (select s.due from slot s where s.state = 1 and s.due >= since order by s.due limit 1);
end $$;

-- The lines of some classes in which anything is ready, looked for from their beginnings.
create or replace function lines_of(classes int[]) returns int[] language plpgsql as $$
begin
  return (
    with recursive found (line) as (
      select (select s.line from slot s where s.line >= class << 8 and s.line <= class << 8 | 255 and s.state = 0
              order by s.line limit 1)
      from unnest(classes) class
      union all
      select (select s.line from slot s where s.line > found.line and s.line <= found.line | 255 and s.state = 0
              order by s.line limit 1)
      from found where found.line is not null)
    select coalesce(array_agg(line), '{}') from found where line is not null);
end $$;

-- Takes tasks for a worker: of `classes` from the beginning of each line; of `lines`, which earlier claims told, from the
-- last runs `since` on, which passes what was claimed and cannot be vacuumed yet (N7). At most `most`, none that is expected
-- to take longer than `room`, all together no more than `total`, but the first. With `first` only the best, whatever it takes
-- (C3). Of these as many as there are `lanes` begin at once, null: all; `turn` is told when others have begun (N58). The order
-- of the rows is that of the claim.
drop function if exists claim(bigint, int[], int[], bigint[], int, bigint, bigint, boolean, bigint);  -- as it was before
create or replace function claim(
  worker bigint, classes int[], lines int[] default '{}', since bigint[] default '{}', most int default 1,
  room bigint default 86400000000000, total bigint default 9223372036854775807, first boolean default false,
  due_since bigint default 0, lanes int default null)
returns table (
  run bigint, seq bigint, id text, handler text, class int, input bytea, est bigint, attempts int, generation int, line int,
  last_run bigint, beside boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  n bigint; f fleet; me worker; paused int[]; v_lines int[]; v_since bigint[]; v_take int[]; v_tid tid[]; own slot;
  suspect slot; is_free boolean; forced constant bigint := 30000000000;
begin
  perform check_range('most', claim.most, 0, 2147483647);
  perform durable();
  -- A pooler, or a session that was there before a promotion, lets nobody notice that the server is another one (N34).
  f := follow_server();
  n := now_ns();
  if next_due(claim.due_since) <= n then
    perform promote(1000, claim.due_since);
    n := now_ns();
  end if;
  select * into me from worker w where w.worker = claim.worker;
  if not found then
    perform refuse(17, 'worker', coalesce(claim.worker::text, 'null') || ' is not a worker, or was taken for dead');
  end if;
  -- After a crash nothing is given that somebody may be running whose claim is lost: all say first what they hold. A lease that
  -- is over says nothing here, by a clock that may just have jumped: who is dead is for those to say who may judge (N11, N12).
  if f.relaxed and exists (select 1 from worker w where w.relaxed and w.first_run < f.first_run) then return; end if;
  -- Who looks at a class serves it, and that is known before its next beat (N35).
  if claim.classes <> me.serves and not claim.classes <@ me.serves then
    update worker w set serves = array(select u.one from unnest(w.serves || claim.classes) u(one) group by 1)
      where w.worker = me.worker;
  end if;
  -- Of suspects a node runs one at a time, and beside one that was to blame nothing else (V7).
  if me.suspect <> 0 then
    select * into own from slot s where s.seq = me.suspect and s.worker = me.worker and s.state + 0 = 4 and s.line & 1 = 1;
    if not own.quarantined then return; end if;
  end if;
  v_lines := coalesce(claim.lines, '{}');
  v_since := claim.since;
  if cardinality(claim.classes) > 0 then
    select array_agg(l.line), array_agg(l.since) into v_lines, v_since from (
      select f.line, -9223372036854775808 as since from unnest(lines_of(claim.classes)) f(line)
      union all
      select g.line, g.since from unnest(claim.lines, claim.since) g(line, since) where g.line >> 8 <> all(claim.classes)) l;
  end if;
  select array_agg(c.class) into paused from queue q join class c on c.queue = any(array[q.queue]) where q.paused_until > n;
  if paused is not null then
    select array_agg(l.line), array_agg(l.since) into v_lines, v_since
      from unnest(v_lines, v_since) l(line, since) where l.line >> 8 <> all(paused);
  end if;
  if coalesce(cardinality(v_lines), 0) = 0 then return; end if;
  most := least(most, 500);
  if claim.first then
    most := 1;
    room := 9223372036854775807;
  else
    -- A line of a later cost class has only what takes longer: it would be read to its end for nothing.
    select array_agg(l.line), array_agg(l.since) into v_lines, v_since
      from unnest(v_lines, v_since) l(line, since) where (l.line >> 1) & 7 <= cost_class(claim.room);
    if v_lines is null then return; end if;
  end if;

  -- The best suspect: of those that were to blame only where nothing runs here, but after 30 s of waiting they come first.
  if own.seq is null and 1 = any(array(select l.line & 1 from unnest(v_lines) l(line))) then
    is_free := not exists (select 1 from slot s where s.worker = claim.worker and s.state = 4);
    select h.* into suspect
      from unnest(v_lines, v_since) l(line, since) cross join lateral (
        select * from slot s
        where s.line = l.line and s.last_run >= l.since and s.state = 0 and least(s.est, 86400000000000) <= claim.room
          and (is_free or s.quarantined or n - greatest(s.due, s.last_run) > forced)
        order by s.last_run, s.seq limit 1) h
      where l.line & 1 = 1
      order by ((h.line >> 4) & 15) * least(greatest(n - h.last_run, 0), 1800000000000000000) desc, h.line >> 4 & 15 desc, h.seq
      limit 1;
  end if;
  select array_agg(l.line), array_agg(l.since) into v_lines, v_since
    from unnest(v_lines, v_since) l(line, since) where l.line & 1 = 0;
  if not suspect.quarantined and exists (
    select 1 from unnest(v_lines, v_since) l(line, since) cross join lateral (
      select s.line, s.last_run, s.seq from slot s
      where s.line = l.line and s.last_run >= l.since and s.state = 0 and least(s.est, 86400000000000) <= claim.room
      order by s.last_run, s.seq limit 1) h
    where (((h.line >> 4) & 15) * least(greatest(n - h.last_run, 0), 1800000000000000000)::numeric, h.line >> 4 & 15, -h.seq)
      > (((suspect.line >> 4) & 15) * least(greatest(n - suspect.last_run, 0), 1800000000000000000)::numeric,
        suspect.line >> 4 & 15, -suspect.seq))
  then
    suspect := null;
  end if;
  if not suspect.quarantined then
    -- What was claimed before ends first, and meanwhile others may take this.
    if not is_free then return; end if;
    v_lines := null;
    v_since := null;
  end if;

  -- How many of each line, by the heads as they are seen now.
  with head as (
    select suspect.line, null::bigint as since, (suspect.line >> 4) & 15 as priority, suspect.last_run, suspect.est, suspect.seq
    where suspect.seq is not null
    union all
    select l.line, l.since, (l.line >> 4) & 15 as priority, h.last_run, h.est, h.seq
    from unnest(v_lines, v_since) l(line, since) cross join lateral (
      select s.last_run, s.est, s.seq from slot s
      where s.line = l.line and s.last_run >= l.since and s.state = 0 and least(s.est, 86400000000000) <= claim.room
      order by s.last_run, s.seq limit claim.most) h
  ), ranked as (
    select line, since, row_number() over by_score as place, sum(head.est::numeric) over by_score as upto
    from head window by_score as (
      order by priority * least(greatest(n - last_run, 0), 1800000000000000000) desc, priority desc, head.seq
      rows unbounded preceding)
  ), taken as (
    select line, since, count(*)::int as count from ranked
    where place <= claim.most and (upto <= claim.total or place = 1) group by line, since)
  select array_agg(line), array_agg(since), array_agg(count) into v_lines, v_since, v_take from taken;
  if v_lines is null then return; end if;
  if suspect.line <> all(v_lines) then suspect := null; end if;

  -- So many of each, that nobody else is just taking, the best ones first.
  select array_agg(g.tid order by g.priority * least(greatest(n - g.last_run, 0), 1800000000000000000) desc, g.priority desc, g.seq)
    into v_tid from (
      select p.* from unnest(v_lines, v_since, v_take) t(line, since, count) cross join lateral (
        select s.ctid as tid, s.line >> 4 & 15 as priority, s.last_run, s.seq from slot s
        where s.line = t.line and s.last_run >= t.since and s.state = 0 and least(s.est, 86400000000000) <= claim.room
        order by s.last_run, s.seq limit t.count for update skip locked) p
      where t.line & 1 = 0
      union all
      select p.* from (
        select s.ctid as tid, s.line >> 4 & 15 as priority, s.last_run, s.seq from slot s
        where s.seq = any(array[suspect.seq]) and s.state + 0 = 0 for update skip locked) p) g;
  return query
    with u as (
      update slot s set state = 4, worker = claim.worker, run = nextval('run_number'), attempts = s.attempts + 1,
        begun = case when claim.lanes is null or s.ctid = any(v_tid[:claim.lanes]) then n end
      where s.ctid = any(v_tid) and s.state + 0 = 0
      returning s.run, s.seq, s.est, s.attempts, s.line, s.last_run, s.line & 1 = 1 and s.quarantined as beside
    )
    select u.run, u.seq, t.id, c.handler, t.class, t.input, u.est, u.attempts, t.generation, u.line, u.last_run, u.beside
    from u join task t on t.seq = any(array[u.seq]) join class c on c.class = any(array[t.class])
    order by ((u.line >> 4) & 15) * least(greatest(n - u.last_run, 0), 1800000000000000000) desc, u.line >> 4 & 15 desc, u.seq;
  if suspect.seq is not null then
    update worker w set suspect = s.seq from slot s
      where w.worker = claim.worker and s.seq = any(array[suspect.seq]) and s.worker = claim.worker and s.state + 0 = 4;
  end if;
end $$;
