-- Emptying a machine: a node takes nothing more, ends what it runs, and is gone (N37).

-- Asks the nodes of a name, which hear it with their next beat. How many there are; who says hello later is not meant.
create or replace function drain(node text) returns bigint language plpgsql as $$
#variable_conflict use_column
declare count bigint;
begin
  perform check_name('node', drain.node);
  perform durable();
  perform 1 from worker w where w.name = drain.node order by w.worker for update;
  update worker w set draining = true where w.name = drain.node;
  get diagnostics count = row_count;
  if count = 0 then perform refuse(21, 'node', quote_literal(drain.node) || ' is not there'); end if;
  return count;
end $$;
