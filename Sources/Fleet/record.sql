-- How a record ends, and what then comes after it (T5, T6, N26). The caller has the lock of its slot.

-- The end of a record that is in `slot`: into the history, its place to the next one.
-- With `keeps_place` the caller takes over the place.
create or replace function finish(
  p_seq bigint, p_state int, p_stop int, n bigint, p_result bytea default null, keeps_place boolean default false)
returns void language plpgsql as $$
declare s slot; t task; c class; q queue;
begin
  delete from slot where seq = p_seq returning * into s;
  delete from task where seq = p_seq returning * into t;
  select * into c from class where class = t.class;
  select * into q from queue where queue = c.queue;
  perform remember(t, s, p_state, p_stop, n, p_result);
  -- A run in flight comes back to no record; its id is taken until then, at most 10 minutes (C4).
  if s.state = 4 and p_state = 6 then
    insert into stray values (s.run, s.worker, t.id, p_stop, n + 600000000000);
    -- Its worker hears of it when this commits, and need not wait for its next beat (N28).
    perform tell();
  end if;
  if s.has_next then
    perform settle(t.id, p_state, n, c.queue, c.kind, s.state <> 2 and not keeps_place);
  elsif s.schedule <> 0 and s.state <> 2 and not keeps_place then
    perform free_place(c.queue, c.kind);
  end if;
end $$;

-- What is kept of the last record of an id that has ended; all null: nothing.
create or replace function last_of(p_id text) returns history language plpgsql as $$
declare last history;
begin
  select * into last from history h where h.id = any(array[p_id]) order by h.id desc, h.ended desc, h.seq desc limit 1;
  return last;
end $$;

create or replace function remember(t task, s slot, p_state int, p_stop int, n bigint, p_result bytea default null)
returns void language plpgsql as $$
begin
  insert into history (ended, seq, id, class, state, schedule, priority, stop, attempts, generation, run, registered, last_run,
      due, est, tags, response, failure, result, terms)
    select n, t.seq, t.id, t.class, p_state, t.schedule, t.priority, p_stop, coalesce(s.attempts, 0), t.generation,
      coalesce(nullif(s.run, 0), s.decided, 0), t.registered, coalesce(s.last_run, t.registered), coalesce(s.due, t.anchor),
      coalesce(s.est, t.expected), t.tags, s.response, s.failure, p_result, case when p_state = 5 then to_jsonb(t) end
    from class c join queue q on q.queue = c.queue where c.class = t.class and q.retention > 0;
end $$;

-- What waits behind a record that ended starts as if registered now, or fails with it, each by its own policy (T5).
create or replace function settle(p_id text, ended int, n bigint, p_queue int, p_kind int, has_place boolean)
returns void language plpgsql as $$
declare t task; s slot; state int := ended;
begin
  loop
    select * into t from task where id = p_id and behind is not null order by seq limit 1 for update;
    if not found then
      if has_place then perform free_place(p_queue, p_kind); end if;
      return;
    end if;
    if state <> 4 and t.existing = 3 then
      delete from task where seq = t.seq;
      t.registered := n;
      t.anchor := n + t.delay;
      perform remember(t, null, 5, 0, n);
      state := 5;
    else
      if t.learns then select mean into t.expected from class where class = t.class; end if;
      update task set behind = null, registered = n, anchor = n + t.delay, expected = t.expected where seq = t.seq;
      insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state, has_next)
        values (t.seq, n, n + t.delay, t.expected, line_of(t.class, t.priority, t.expected), t.max_attempts, t.schedule,
                case when has_place then 1 else take_place_or_wait(p_queue, p_kind, t.seq) end,
                exists (select 1 from task where id = p_id and behind is not null));
      return;
    end if;
  end loop;
end $$;

drop function if exists take_place_or_wait(int, int);  -- as it was before
-- A successor whose predecessor had no place is held where there is none.
create or replace function take_place_or_wait(p_queue int, p_kind int, p_seq bigint) returns smallint language plpgsql as $$
declare q queue;
begin
  select * into q from queue where queue = p_queue;
  q.holds := true;
  return take_place(q, p_kind, p_seq);
end $$;

-- Cancels those that wait behind a record, from number `first` on; returns how many.
create or replace function cancel_waiting(p_id text, first bigint, n bigint) returns bigint language plpgsql as $$
declare t task; count bigint := 0;
begin
  for t in delete from task where id = p_id and behind is not null and seq >= first returning * loop
    perform remember(t, null, 6, 5, n);
    count := count + 1;
  end loop;
  return count;
end $$;
