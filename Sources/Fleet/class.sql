-- Classes: what the same nodes can run, interned (N4).

create or replace function constraint_names() returns text[] language sql immutable as $$
  select array['network', 'external_power', 'unmetered', 'battery_not_low', 'idle', 'storage_not_low', 'display_off',
               'not_roaming'] $$;

create or replace function class_of(p_queue int, p_kind int, p_constraints int, p_labels text[], p_handler text) returns class
language plpgsql as $$
declare c class;
begin
  for tries in 1..2 loop
    select * into c from class
      where queue = p_queue and kind = p_kind and constraints = p_constraints and labels = p_labels and handler = p_handler;
    exit when found;
    insert into class (queue, kind, constraints, labels, handler)
      values (p_queue, p_kind, p_constraints, p_labels, p_handler) on conflict do nothing;
  end loop;
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
