-- Running once more, or sooner than planned, because somebody says so (R7, W7).

-- Registers what has failed again: due at once, with the same terms, no attempts, its response times and its failure.
-- Answers `added`, or `held` where the queue has no place. Who waited behind it has ended with it, and stays so.
create or replace function retry(id text) returns text language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); h history; t task; c class; q queue; state int; line int; est bigint;
  own constant text := wait_briefly();
begin
  perform check_name('id', retry.id);
  perform durable();
  lock table slot in row exclusive mode;  -- so that nobody counts places (N24)
  h := last_of(retry.id);
  if h.seq is null and is_free(retry.id) then
    perform refuse(21, 'id', quote_literal(retry.id) || ' is not registered');
  end if;
  if not is_free(retry.id) then
    perform refuse(16, 'id', quote_literal(retry.id) || ' is live; only what has failed can be tried again');
  end if;
  if h.state <> 5 then
    perform refuse(16, 'id', quote_literal(retry.id) || ' has ' || case h.state when 4 then 'succeeded' else 'been cancelled' end
      || '; only what has failed can be tried again');
  end if;
  if h.terms is null then
    perform refuse(16, 'id', quote_literal(retry.id)
      || ' failed before its terms were kept; register it again');
  end if;
  t := jsonb_populate_record(null::task, h.terms);
  c := keep_class(t.class);
  if c.class is null then
    perform refuse(16, 'id', quote_literal(retry.id)
      || ' failed so long ago that its handler is forgotten; register it again');
  end if;
  select * into q from queue where queue = c.queue;
  if t.learns then t.expected := c.mean; end if;
  t.seq := nextval('task_seq_seq');
  t.registered := n;
  t.anchor := n;
  t.behind := null;
  insert into task overriding system value select t.* on conflict (id) where behind is null do nothing;
  if not found then
    perform refuse(16, 'id', quote_literal(retry.id) || ' is live; only what has failed can be tried again');
  end if;
  state := take_place(q, c.kind, t.seq);
  est := estimate(h.response, t.response_window, t.expected);
  insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state, failed_at, failure, response)
    values (t.seq, n, n, est, line_of(t.class, t.priority, est), t.max_attempts, t.schedule,
      case when state = 1 and exists (select 1 from stray where stray.id = t.id and stray.until > n) then 5
           when state = 1 then 0 else state end,
      h.ended, h.failure, h.response);
  perform wait_as(own);
  return case state when 2 then 'held' else 'added' end;
end $$;

-- A live task is due now, whatever it waited for by time; its periods stay where they are. Answers what it still waits for:
-- `ready` a node, `held` a place of its queue, `still_running` the run of the record before it.
create or replace function run_now(id text) returns text language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); s slot; own constant text := wait_briefly();
begin
  perform check_name('id', run_now.id);
  perform durable();
  lock table slot in row exclusive mode;
  select s.* into s from task t join slot s on s.seq = any(array[t.seq])
    where t.id = run_now.id and t.behind is null for update of s;
  if not found then perform refuse(21, 'id', quote_literal(run_now.id) || ' has no live task'); end if;
  if s.state = 4 then perform refuse(16, 'id', quote_literal(run_now.id) || ' runs already'); end if;
  update slot set due = least(s.due, n), state = case when s.state = 1 then 0 else s.state end where seq = s.seq;
  perform wait_as(own);
  return case s.state when 2 then 'held' when 5 then 'still_running' else 'ready' end;
end $$;
