-- Classes: what the same nodes can run, interned (N4).

create or replace function constraint_names() returns text[] language sql immutable as $$
  select array['network', 'external_power', 'unmetered', 'battery_not_low', 'idle', 'storage_not_low', 'display_off',
               'not_roaming'] $$;

-- Keeps a class from being forgotten until the caller's transaction is over; all null: it is gone. It is used again from now on.
-- Nobody waits for another but for who is just forgetting it: of several who take the mark away one is enough.
create or replace function keep_class(p_class int) returns class language plpgsql as $$
declare c class;
begin
  select * into c from class where class = p_class for key share;
  if c.idle_since is not null then
    update class set idle_since = null where class = any(array(
      select o.class from class o where o.class = p_class and o.idle_since is not null for no key update skip locked));
  end if;
  return c;
end $$;

-- A number for a new class, above all that were ever given, which is spent only if the caller's transaction commits (N64). Of those
-- that open transactions have none is waited for.
create or replace function class_number() returns int language plpgsql as $$
declare
  key constant int := hashtext('selene class ' || current_schema()); n bigint; floor bigint;
  given constant int := coalesce(nullif(current_setting('selene.classes', true), ''), '0')::int;
begin
  select greatest(case when s.is_called then s.last_value else s.last_value - 1 end,
      (select c.class from class c order by c.class desc limit 1)) into floor from class_class_seq s;
  if given < 100 then
    for n in floor + 1..least(floor + 100, 8388607) loop
      if pg_try_advisory_xact_lock(key, n::int) then
        -- In a statement of its own: its snapshot includes the commit of the last holder of the lock.
        if not exists (select 1 from class c where c.class = n) then
          perform set_config('selene.classes', (given + 1)::text, true);
          return n;
        end if;
      end if;
    end loop;
  end if;
  -- Very many at once: a lock of each would be too many.
  perform setval('class_class_seq', least(greatest(floor, 1), 8388607), floor > 0);
  loop
    n := nextval('class_class_seq');
    if pg_try_advisory_lock(key, n::int) then
      perform pg_advisory_unlock(key, n::int);
      if not exists (select 1 from class c where c.class = n) then return n; end if;
    end if;
  end loop;
exception when sequence_generator_limit_exceeded then return null;
end $$;

create or replace function class_of(p_queue int, p_kind int, p_constraints int, p_labels text[], p_handler text) returns class
language plpgsql as $$
declare c class;
begin
  -- Where two transactions have made it at once, either does.
  for tries in 1..3 loop
    select * into c from class
      where queue = p_queue and kind = p_kind and constraints = p_constraints and labels = p_labels and handler = p_handler
      order by queue, kind, constraints, labels, handler, class limit 1;
    exit when not found;
    if c.idle_since is null then return c; end if;
    c := keep_class(c.class);
    if c.class is not null then return c; end if;
  end loop;
  c.class := class_number();
  if c.class is null then
    perform refuse(29, 'handler', quote_literal(p_handler) || ' would need a new class, and the fleet has had 8388607, which '
      'is the most that it can number; what is registered with the classes that are there goes on');
  end if;
  insert into class (class, queue, kind, constraints, labels, handler) overriding system value
    values (c.class, p_queue, p_kind, p_constraints, p_labels, p_handler) returning * into c;
  return c;
end $$;

-- The classes of some queues, or of all: a node picks those that it can serve.
create or replace function classes(queues text[] default null)
returns table (class int, queue text, kind smallint, constraints int, labels text[], handler text, mean bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query select c.class, q.name, c.kind, c.constraints, c.labels, c.handler, c.mean
    from class c join queue q on q.queue = c.queue where queues is null or q.name = any(queues) order by c.class;
end $$;

create or replace function is_idle(p_class int) returns boolean language plpgsql as $$
begin
  return (select t.seq from task t where t.class > 0 and t.class >= p_class and t.class <= p_class
    order by t.class, t.seq limit 1) is null;
end $$;

-- Classes that no task is of, one piece after the other for as long as it may take: they are marked, and forgotten once the
-- history has forgotten all that was of them, those that have learnt what runs take (N23) after 90 days. A registration takes
-- the mark away. Returns how many were forgotten.
create or replace function prune_classes(n bigint, takes bigint) returns bigint language plpgsql as $$
declare
  ends constant timestamptz := clock_timestamp() + span(takes); day_ns constant bigint := 86400000000000;
  remembered constant bigint := n - (select max(q.retention) from queue q) - 2 * day_ns;
  seen int := (select f.classes_seen from fleet f); piece int[]; idle int[]; gone bigint; total bigint := 0;
begin
  loop
    piece := array(select c.class from class c where c.class > seen order by c.class limit 500);
    idle := array(select p.class from unnest(piece) p(class) where is_idle(p.class));
    -- No number is given again.
    perform setval('class_class_seq', m.class) from (select c.class from class c order by c.class desc limit 1) m, class_class_seq s
      where m.class > s.last_value and m.class = any(idle);
    delete from class where class = any(array(
      select c.class from class c
      where c.class = any(idle) and c.idle_since < remembered and (c.samples < 10 or c.idle_since < n - 90 * day_ns)
        and is_idle(c.class)
      for update skip locked));
    get diagnostics gone = row_count;
    total := total + gone;
    update class set idle_since = case when class = any(idle) then n end
      where class = any(array(
        select c.class from class c
        where c.class = any(piece) and (c.idle_since is null) = (c.class = any(idle)) for update skip locked));
    seen := case when cardinality(piece) = 500 then piece[500] else 0 end;
    exit when seen = 0 or clock_timestamp() > ends;
  end loop;
  update fleet set classes_seen = seen where classes_seen <> seen;
  return total;
end $$;
