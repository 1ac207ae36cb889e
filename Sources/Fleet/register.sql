-- Registering: what happens when an id is new, ended, or live (T2, T4 to T6). Called inside a transaction of the
-- application it stands or falls with it (N16).

create or replace function register(
  id text,
  handler text default null,                   -- its id
  queue text default 'default',
  kind text default 'refresh',                 -- refresh, processing
  schedule text default null,                  -- once, or periodic if `every` is said; standing
  priority int default 3,                      -- 1 very low … 5 very high
  expected interval default null,              -- what a run takes; null: what its handler's runs take
  delay interval default '0',
  every interval default null,
  flex interval default '0',
  anchored boolean default false,
  backoff text default null,                   -- none, linear, exponential; standing: none, else exponential
  backoff_delay interval default '30 s',
  max_attempts int default 0,                  -- 0: any number
  response_window int default 3,
  tags text[] default '{}',
  labels text[] default '{}',                  -- what a node must carry, as gpu
  requires text[] default '{}',                -- constraints of its machine, as network
  existing text default null,                  -- keep, replace, update, append, append_or_replace; once: keep, else update
  input bytea default '')
returns text language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); q queue; t task; kind_number int; did text; own constant text := wait_briefly();
begin
  perform durable();
  -- Nobody counts places from here on (N24).
  lock table slot in row exclusive mode;
  id := check_name('id', register.id);
  handler := check_name('handler', coalesce(register.handler, register.id));
  q := queue_of(register.queue);
  kind_number := 1 + word_number('kind', register.kind, array['refresh', 'processing']);
  t := define(register.schedule, register.priority, register.expected, register.delay, register.every, register.flex,
    register.anchored, register.backoff, register.backoff_delay, register.max_attempts, register.response_window,
    register.tags, register.existing, register.input, q);
  t.id := register.id;
  t.class := (class_of(q.queue, kind_number, constraint_bits(register.requires), sorted_names('labels', register.labels),
    register.handler)).class;
  if t.learns then select mean into t.expected from class where class = t.class; end if;
  did := enter(t, q, kind_number, n);
  perform wait_as(own);
  return did;
end $$;

-- The same as one of many that share a commit: in place of an error the number of the status and its words, so that the others
-- stand.
create or replace function try_register(
  id text, handler text default null, queue text default 'default', kind text default 'refresh', schedule text default null,
  priority int default 3, expected interval default null, delay interval default '0', every interval default null,
  flex interval default '0', anchored boolean default false, backoff text default null, backoff_delay interval default '30 s',
  max_attempts int default 0, response_window int default 3, tags text[] default '{}', labels text[] default '{}',
  requires text[] default '{}', existing text default null, input bytea default '')
returns table (disposition text, status int, detail text) language plpgsql as $$
begin
  begin
    disposition := register(try_register.id, handler, queue, kind, schedule, priority, expected, delay, every, flex, anchored,
      backoff, backoff_delay, max_attempts, response_window, tags, labels, requires, existing, input);
    status := 0;
  exception when others then
    if sqlstate !~ '^SE[0-9]{3}$' then raise; end if;
    disposition := null;
    status := substr(sqlstate, 3)::int;
    detail := sqlerrm;
  end;
  return next;
end $$;

-- Many of one queue that share a commit, each of which is judged by itself as `try_register` does: place i of each array is of
-- task i, as is row i of the answer. Spans are microseconds; tags, labels and requires are arrays as texts. What is merely new
-- goes into the tables as a set, all that stands between two others; those go one by one.
create or replace function register_batch(
  queue text, ids text[], handlers text[], kinds text[], schedules text[], priorities int[], expected bigint[], delays bigint[],
  every bigint[], flex bigint[], anchored boolean[], backoffs text[], backoff_delays bigint[], max_attempts int[],
  response_windows int[], tags text[], labels text[], requires text[], existing text[], inputs bytea[])
returns table (disposition text, status int, detail text) language plpgsql as $$
#variable_conflict use_column
declare
  n bigint; q queue; c class; key record; us constant interval := interval '1 microsecond';
  most constant int := coalesce(cardinality(ids), 0); one int; first int := 1; last int;
  plain boolean[]; seqs bigint[]; added bigint[]; met int; own constant text := wait_briefly();
  v_classes int[] := array_fill(null::int, array[most]); v_means bigint[] := array_fill(null::bigint, array[most]);
begin
  perform durable();
  lock table slot in row exclusive mode;
  if octet_length(register_batch.queue) between 1 and 255 then q := queue_of(register_batch.queue); end if;
  plain := array(
    select q.queue is not null and coalesce(
        octet_length(u.id) between 1 and 255 and octet_length(coalesce(u.handler, u.id)) between 1 and 255
        and case u.kind when 'refresh' then q.limit_refresh is null when 'processing' then q.limit_processing is null end
        and case schedule_word(u.schedule, u.every) when 'periodic' then
            u.every between 1 and 315360000000000 and u.flex between 0 and u.every
          else coalesce(u.every, 0) = 0 and u.flex = 0 end and coalesce(u.schedule, 'once') in ('standing', 'once', 'periodic')
        and u.priority between 1 and 5 and coalesce(u.expected, 0) between 0 and 86400000000
        and u.delay between 0 and 315360000000000 and coalesce(u.backoff, 'none') in ('none', 'linear', 'exponential')
        and u.backoff_delay between 0 and 315360000000000 and u.max_attempts >= 0 and u.response_window between 0 and 30
        and octet_length(u.input) <= q.max_input
        and case coalesce(u.existing, existing_word(schedule_word(u.schedule, u.every))) when 'keep' then true
          when 'replace' then is_free(u.id) when 'update' then is_free(u.id) end
        and (coalesce(u.tags, '{}') = '{}' or are_names(u.tags)) and (coalesce(u.labels, '{}') = '{}' or are_names(u.labels))
        and (coalesce(u.requires, '{}') = '{}' or u.requires::text[] <@ constraint_names()), false)
    from unnest(ids, handlers, kinds, schedules, priorities, expected, delays, every, flex, backoffs, backoff_delays,
        max_attempts, response_windows, tags, labels, requires, existing, inputs) with ordinality
      as u(id, handler, kind, schedule, priority, expected, delay, every, flex, backoff, backoff_delay, max_attempts,
        response_window, tags, labels, requires, existing, input, place)
    order by u.place);
  -- Those of one id meet each other in their order.
  for key in
    select array_agg(u.place) as places from unnest(ids) with ordinality u(id, place) group by u.id having count(*) > 1
  loop
    foreach one in array key.places loop plain[one] := false; end loop;
  end loop;
  for key in
    select coalesce(u.handler, u.id) as handler, u.kind, u.labels, u.requires, array_agg(u.place) as places
    from unnest(ids, handlers, kinds, labels, requires, plain) with ordinality
      as u(id, handler, kind, labels, requires, is_plain, place)
    where u.is_plain group by 1, 2, 3, 4 order by 1, 2, 3, 4
  loop
    c := class_of(q.queue, case key.kind when 'refresh' then 1 else 2 end, constraint_bits(key.requires::text[]),
      sorted_names('labels', key.labels::text[]), key.handler);
    foreach one in array key.places loop
      v_classes[one] := c.class;
      v_means[one] := c.mean;
    end loop;
  end loop;
  while first <= most loop
    last := first;
    added := null;
    if plain[first] then
      while plain[last + 1] loop last := last + 1; end loop;
      seqs := array(select nextval('task_seq_seq') from generate_series(first, last));
      n := now_ns();
      with entered as (
        insert into task (seq, id, class, schedule, priority, backoff, recurrence, response_window, existing, max_attempts,
            expected, learns, delay, period, flex, backoff_delay, registered, anchor, tags, input) overriding system value
          select u.seq, u.id, u.class, u.schedule, u.priority,
            case when u.backoff = 'none' or u.backoff is null and u.schedule = 0 then 0 when u.backoff = 'linear' then 1
              else 2 end,
            coalesce(u.anchored, false)::int, u.response_window,
            case when u.existing = 'replace' then 1 when u.existing = 'update' or u.existing is null and u.schedule <> 1 then 2
              else 0 end,
            u.max_attempts, coalesce(u.expected * 1000, u.mean), u.expected is null, u.delay * 1000, u.period, u.flex,
            least(greatest(u.backoff_delay * 1000, q.backoff_min), q.backoff_max), n,
            n + u.delay * 1000 + first_wait(u.period, u.flex),
            case when u.tags <> '{}' then nullif(sorted_names('tags', u.tags::text[]), '{}') end, u.input
          from (
            select a.seq, a.id, a.class, a.mean, a.priority, a.expected, a.delay, a.anchored, a.backoff, a.backoff_delay,
              a.max_attempts, a.response_window, a.tags, a.existing, a.input, a.place,
              case schedule_word(a.schedule, a.every) when 'standing' then 0 when 'once' then 1 else 2 end as schedule,
              coalesce(a.every * 1000, 0) as period, a.flex * 1000 as flex
            from unnest(seqs, ids[first:last], v_classes[first:last], v_means[first:last], schedules[first:last],
                priorities[first:last], expected[first:last], delays[first:last], every[first:last], flex[first:last],
                anchored[first:last], backoffs[first:last], backoff_delays[first:last], max_attempts[first:last],
                response_windows[first:last], tags[first:last], existing[first:last], inputs[first:last]) with ordinality
              as a(seq, id, class, mean, schedule, priority, expected, delay, every, flex, anchored, backoff, backoff_delay,
                max_attempts, response_window, tags, existing, input, place)) u
          order by u.id  -- as everybody's batch does who brings the same ones
          on conflict (id) where behind is null do nothing
          returning seq, id, class, schedule, priority, expected, max_attempts, anchor),
      placed as (
        insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state)
          select e.seq, n, e.anchor, e.expected, line_of(e.class, e.priority, e.expected), e.max_attempts, e.schedule,
            case when exists (select 1 from stray st where st.id = any(array[e.id]) and st.until > n) then 5
              when e.anchor <= n then 0 else 1 end
          from entered e)
      select array_agg(e.seq order by e.seq) into added from entered e;
    end if;
    met := 1;
    for one in first..last loop
      status := 0;
      detail := null;
      if seqs[one - first + 1] = added[met] then
        met := met + 1;
        disposition := 'added';
        return next;
      elsif plain[one]
        and coalesce(existing[one], existing_word(schedule_word(schedules[one], every[one]))) = 'keep' then
        disposition := 'kept';
        return next;
      else
        return query select r.disposition, r.status, r.detail from try_register(
          ids[one], handlers[one], register_batch.queue, kinds[one], schedules[one], priorities[one], expected[one] * us,
          delays[one] * us, every[one] * us, flex[one] * us, anchored[one], backoffs[one], backoff_delays[one] * us,
          max_attempts[one], response_windows[one], tags[one]::text[], labels[one]::text[], requires[one]::text[],
          existing[one], inputs[one]) r;
      end if;
    end loop;
    first := last + 1;
  end loop;
  perform wait_as(own);
end $$;

-- Whether no live record has an id.
create or replace function is_free(p_id text) returns boolean language plpgsql as $$
begin
  return not exists (select 1 from task t where t.id = any(array[p_id]) and t.behind is null);
end $$;

-- Whether `sorted_names` takes an array as text. Who has none need not ask: a call costs more than all else that is looked at.
create or replace function are_names(names text) returns boolean language sql immutable parallel safe as $$
  select cardinality(names::text[]) <= 16 and not exists (
    select 1 from unnest(names::text[]) name where name is null or octet_length(name) not between 1 and 255) $$;

create or replace function constraint_bits(requires text[]) returns int language plpgsql as $$
declare word text; bits int := 0;
begin
  foreach word in array coalesce(requires, '{}') loop
    bits := bits | (1 << word_number('requires', word, constraint_names()));
  end loop;
  return bits;
end $$;

create or replace function sorted_names(field text, names text[]) returns text[] language plpgsql as $$
declare name text;
begin
  if coalesce(cardinality(names), 0) = 0 then return '{}'; end if;
  perform check_range(field, cardinality(names), 0, 16, ' names');
  foreach name in array names loop perform check_name(field, name); end loop;
  return (select array_agg(distinct u.one collate "C" order by u.one collate "C") from unnest(names) u(one));
end $$;

-- The defaults of schedule and existing policy (T2).
create or replace function schedule_word(schedule text, every bigint) returns text language sql immutable parallel safe as $$
  select coalesce(schedule, case when every is null then 'once' else 'periodic' end) $$;

create or replace function existing_word(schedule text) returns text language sql immutable parallel safe as $$
  select case schedule when 'once' then 'keep' else 'update' end $$;

-- A checked definition; without id, class and times.
create or replace function define(
  schedule text, priority int, expected interval, delay interval, every interval, flex interval, anchored boolean,
  backoff text, backoff_delay interval, max_attempts int, response_window int, tags text[], existing text, input bytea,
  q queue) returns task language plpgsql as $$
declare t task; ten_years constant bigint := 315360000000000000; word constant text := schedule_word(schedule, span_ns(every));
begin
  t.schedule := word_number('schedule', word, array['standing', 'once', 'periodic']);
  t.priority := check_range('priority', priority, 1, 5);
  t.learns := expected is null;
  if not t.learns then t.expected := check_span('expected', expected, 0, 86400000000000); end if;
  t.delay := check_span('delay', delay, 0, ten_years);
  t.period := case when t.schedule = 2 then check_span('every', every, 1, ten_years) else 0 end;
  t.flex := case when t.schedule = 2 then check_span('flex', flex, 0, t.period) else 0 end;
  if t.schedule <> 2 and coalesce(span_ns(every), 0) <> 0 then perform refuse(16, 'every', 'is for periodic tasks only'); end if;
  if t.schedule <> 2 and coalesce(span_ns(flex), 0) <> 0 then perform refuse(16, 'flex', 'is for periodic tasks only'); end if;
  t.recurrence := coalesce(anchored, false)::int;
  t.backoff := word_number('backoff', coalesce(backoff, case when t.schedule = 0 then 'none' else 'exponential' end),
    array['none', 'linear', 'exponential']);
  t.backoff_delay := check_span('backoff_delay', backoff_delay, 0, 9223372036854775807);
  t.backoff_delay := least(greatest(t.backoff_delay, q.backoff_min), q.backoff_max);
  t.max_attempts := check_range('max_attempts', max_attempts, 0, 2147483647);
  t.response_window := check_range('response_window', response_window, 0, 30);
  t.tags := nullif(sorted_names('tags', tags), '{}');
  t.existing := word_number('existing', coalesce(existing, existing_word(word)),
    array['keep', 'replace', 'update', 'append', 'append_or_replace']);
  if t.existing > 2 and t.schedule <> 1 then
    perform refuse(16, 'existing', 'only once tasks can be appended');
  end if;
  if input is null then perform refuse(16, 'input', 'null is not bytes'); end if;
  if octet_length(input) > q.max_input then
    perform refuse(20, 'input', octet_length(input) || ' bytes is out of range, allowed are 0 to ' || q.max_input || ' bytes');
  end if;
  t.input := input;
  t.generation := 0;
  return t;
end $$;

-- What the first begin waits for the first period's flexible part, and that begin, counted from an instant (T4).
create or replace function first_wait(period bigint, flex bigint) returns bigint language sql immutable parallel safe as $$
  select case when flex > 0 and flex < period then period - flex else 0 end $$;

create or replace function first_begin(t task, from_instant bigint) returns bigint language sql immutable as $$
  select from_instant + t.delay + first_wait(t.period, t.flex) $$;

-- A definition meets what is there. Everything else may change until the slot is locked, so it is looked at again.
create or replace function enter(t task, q queue, p_kind int, n bigint) returns text language plpgsql as $$
declare old task; s slot; c class; last history; state int; found_seq bigint; keeps boolean;
begin
  loop
    select seq into found_seq from task where id = t.id and behind is null;
    if not found then
      if t.existing = 3 then
        last := last_of(t.id);
        if last.state > 4 then
          t.seq := nextval('task_seq_seq');
          t.registered := n;
          t.anchor := first_begin(t, n);
          perform remember(t, null, last.state, 0, n);
          return 'added';
        end if;
      end if;
      t.seq := add_task(t, n);
      continue when t.seq is null;  -- somebody was faster
      state := case when t.schedule = 0 then 1 else take_place(q, p_kind, t.seq) end;
      perform add_slot(t, state, n);
      return case state when 2 then 'held' else 'added' end;
    end if;
    if t.existing = 0 then return 'kept'; end if;
    select * into s from slot where seq = found_seq for update;
    continue when not found;
    select * into old from task where seq = found_seq;
    select * into c from class where class = old.class;
    case t.existing
      when 1 then
        keeps := s.schedule <> 0 and s.state <> 2 and t.schedule <> 0 and is_same_queue(c.queue, q.queue)
          and c.kind = p_kind;
        if s.has_next then
          perform cancel_waiting(t.id, 0, n);
          update slot set has_next = false where seq = s.seq;
        end if;
        perform finish(s.seq, 6, 4, n, null, keeps);
        t.seq := add_task(t, n);
        continue when t.seq is null;
        state := case when t.schedule = 0 or keeps then 1 else take_place(q, p_kind, t.seq) end;
        perform add_slot(t, state, n);
        return 'replaced';
      when 2 then
        if c.kind <> p_kind then perform refuse(16, 'kind', 'cannot change in an update; replace the task'); end if;
        if not is_same_queue(c.queue, q.queue) then perform refuse(16, 'queue', 'cannot change in an update; replace the task'); end if;
        if old.schedule <> t.schedule then
          perform refuse(16, 'schedule', 'cannot change in an update; replace the task');
        end if;
        perform revise(t, old, s, n);
        return 'updated';
      else
        if old.schedule <> 1 then
          perform refuse(16, 'existing', 'the live task of this id is not a once task and has no successors');
        end if;
        if c.kind <> p_kind or not is_same_queue(c.queue, q.queue) then
          perform refuse(16, 'kind', 'a successor has the kind and the queue of the live task of its id');
        end if;
        if (select count(*) from task where id = t.id and behind is not null) >= 1000 then
          perform refuse(2, 'id', 'successors of one task are too many, at most 1000 can wait');
        end if;
        t.registered := n;
        t.anchor := n + t.delay;
        t.behind := coalesce((select max(seq) from task where id = t.id and behind is not null), s.seq);
        t.seq := nextval('task_seq_seq');
        insert into task overriding system value select t.*;
        update slot set has_next = true where seq = s.seq;
        return 'appended';
    end case;
  end loop;
end $$;

-- The new record's number; null where a live record has the id.
create or replace function add_task(t task, n bigint) returns bigint language plpgsql as $$
begin
  t.seq := nextval('task_seq_seq');
  t.registered := n;
  t.anchor := first_begin(t, n);
  insert into task overriding system value select t.* on conflict (id) where behind is null do nothing;
  return case when found then t.seq end;
end $$;

create or replace function add_slot(t task, state int, n bigint) returns void language plpgsql as $$
#variable_conflict use_variable
declare begins constant bigint := first_begin(t, n);
begin
  insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state)
    values (t.seq, n, begins, t.expected, line_of(t.class, t.priority, t.expected), t.max_attempts, t.schedule,
      case when state = 1 and exists (select 1 from stray where stray.id = t.id and stray.until > n) then 5
           when state = 1 and begins <= n then 0 else state end);
end $$;

-- Gives a live record another definition; what it has done stays (T5). `old` and `s` are as they are now.
create or replace function revise(t task, old task, s slot, n bigint) returns void language plpgsql as $$
declare new_due bigint := s.due; new_est bigint;
begin
  t.seq := old.seq;
  t.registered := old.registered;
  t.anchor := old.anchor;
  t.period_base := old.period_base;
  t.generation := old.generation + 1;
  if s.attempts = 0 and not (t.schedule = 0 and s.decided <> 0) then
    if t.period_base is not null then
      new_due := next_period(t.recurrence, t.period, t.anchor, t.period_base);
    else
      t.anchor := first_begin(t, t.registered);
      new_due := t.anchor;
    end if;
  end if;
  s.response := case when t.response_window > 0
    then s.response[greatest(1, cardinality(s.response) + 1 - t.response_window):] end;
  new_est := estimate(s.response, t.response_window, t.expected);
  update task set class = t.class, priority = t.priority, backoff = t.backoff, recurrence = t.recurrence,
      response_window = t.response_window, existing = t.existing, max_attempts = t.max_attempts, generation = t.generation,
      expected = t.expected, learns = t.learns, delay = t.delay, period = t.period, flex = t.flex,
      backoff_delay = t.backoff_delay, anchor = t.anchor, tags = t.tags, input = t.input
    where seq = t.seq;
  update slot set due = new_due, est = new_est, response = s.response, max_attempts = t.max_attempts,
      line = line_of(t.class, t.priority, new_est) | (s.line & 1),
      state = case when s.state <= 1 then case when new_due <= n then 0 else 1 end else s.state end
    where seq = t.seq;
end $$;

-- Changes a live task; what is null stays. Its run in flight keeps its own copy.
create or replace function update_task(
  id text, handler text default null, priority int default null, expected interval default null, delay interval default null,
  every interval default null, flex interval default null, backoff text default null, backoff_delay interval default null,
  max_attempts int default null, tags text[] default null, labels text[] default null, requires text[] default null,
  input bytea default null) returns void language plpgsql as $$
#variable_conflict use_column
declare
  n constant bigint := now_ns(); old task; t task; s slot; c class; q queue; own constant text := wait_briefly();
begin
  perform check_name('id', update_task.id);
  perform durable();
  lock table slot in row exclusive mode;
  select s.* into s from task t join slot s on s.seq = any(array[t.seq])
    where t.id = update_task.id and t.behind is null for update of s;
  if not found then perform refuse(21, 'id', quote_literal(update_task.id) || ' has no live task'); end if;
  select * into old from task where seq = s.seq;
  select * into c from class where class = old.class;
  select * into q from queue where queue = c.queue;
  t := define((array['standing', 'once', 'periodic'])[old.schedule + 1], coalesce(update_task.priority, old.priority),
    coalesce(update_task.expected, case when not old.learns then span(old.expected) end),
    coalesce(update_task.delay, span(old.delay)), coalesce(update_task.every, span(old.period)),
    coalesce(update_task.flex, span(old.flex)), old.recurrence = 1,
    coalesce(update_task.backoff, (array['none', 'linear', 'exponential'])[old.backoff + 1]),
    coalesce(update_task.backoff_delay, span(old.backoff_delay)), coalesce(update_task.max_attempts, old.max_attempts),
    old.response_window, coalesce(update_task.tags, old.tags, '{}'),
    (array['keep', 'replace', 'update', 'append', 'append_or_replace'])[old.existing + 1],
    coalesce(update_task.input, old.input), q);
  perform check_name('handler', coalesce(update_task.handler, c.handler));
  t.id := old.id;
  t.class := (class_of(c.queue, c.kind,
    case when update_task.requires is null then c.constraints else constraint_bits(update_task.requires) end,
    case when update_task.labels is null then c.labels else sorted_names('labels', update_task.labels) end,
    coalesce(update_task.handler, c.handler))).class;
  if t.learns then t.expected := old.expected; end if;
  perform revise(t, old, s, n);
  perform wait_as(own);
end $$;
