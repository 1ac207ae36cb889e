-- Cancelling by id, by tag, by queue; and what waits behind (T8). A run in flight becomes stale (N25). The table is locked first,
-- as by all that write records: who sets a limit waits for that, before he has any record that they need (N24).

-- Cancels a record whose slot the caller has locked, and all behind it.
create or replace function cancel_record(p_seq bigint, n bigint) returns bigint language plpgsql as $$
declare s slot; count bigint := 0;
begin
  select * into s from slot where seq = p_seq;
  if s.has_next then
    count := cancel_waiting((select id from task where seq = p_seq), 0, n);
    update slot set has_next = false where seq = p_seq;
  end if;
  perform finish(p_seq, 6, 5, n);
  return count + 1;
end $$;

-- How many became cancelled; 0 if it had ended.
create or replace function cancel(id text) returns bigint language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); locked bigint; count bigint; own constant text := wait_briefly();
begin
  perform check_name('id', cancel.id);
  perform durable();
  lock table slot in row exclusive mode;
  loop
    select s.seq into locked from task t join slot s on s.seq = any(array[t.seq])
      where t.id = cancel.id and t.behind is null for update of s;
    if found then
      count := cancel_record(locked, n);
      perform wait_as(own);
      return count;
    end if;
    -- Its successor may have taken its place meanwhile.
    exit when is_free(cancel.id);
  end loop;
  if not exists (select 1 from history h where h.id = cancel.id) then
    perform refuse(21, 'id', quote_literal(cancel.id) || ' is not registered');
  end if;
  perform wait_as(own);
  return 0;
end $$;

create or replace function cancel_tag(tag text) returns bigint language plpgsql as $$
declare n constant bigint := now_ns(); t task; head bigint; first bigint; count bigint := 0; part bigint;
  own constant text := wait_briefly();
begin
  perform check_name('tag', cancel_tag.tag);
  perform durable();
  lock table slot in row exclusive mode;
  for t in
    select h.* from task h
    where h.id = any(array(select w.id from task w where w.tags @> array[tag])) and h.behind is null order by h.seq + 0
  loop
    select seq into head from slot where seq = t.seq for update;
    continue when not found;
    if t.tags @> array[tag] then
      count := count + cancel_record(head, n);
    else
      select min(seq) into first from task where id = t.id and behind is not null and tags @> array[tag];
      continue when first is null;
      part := cancel_waiting(t.id, first, n);
      count := count + part;
      update slot set has_next = exists (select 1 from task where id = t.id and behind is not null) where seq = head;
    end if;
  end loop;
  perform wait_as(own);
  return count;
end $$;

-- Every live task of a queue, or of all.
create or replace function cancel_all(queue text default null) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
  n constant bigint := now_ns(); head bigint; count bigint := 0; mine constant int[] := classes_of(cancel_all.queue);
  own constant text := wait_briefly();
begin
  perform durable();
  lock table slot in row exclusive mode;
  for head in
    select s.seq from slot s where mine is null or s.line >> 8 = any(mine) order by s.seq for update
  loop
    count := count + cancel_record(head, n);
  end loop;
  perform wait_as(own);
  return count;
end $$;
