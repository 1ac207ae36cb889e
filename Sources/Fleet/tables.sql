-- What a fleet keeps. Instants are nanoseconds since the epoch, spans are nanoseconds: bigint is exact and cheap. Names are
-- in the order of their bytes, whatever the collation of the database: exact and cheap, too.

-- Numbers of runs: never reused, and ever-growing for a task (N9).
create sequence if not exists run_number;

-- One row: which protocol the functions speak, and on which timeline of the server they last ran (N33, N34).
create table if not exists fleet (
  is_here   boolean primary key default true check (is_here),
  protocol  int     not null,
  timeline  text,
  installed bigint  not null);

create table if not exists queue (
  queue        int generated always as identity primary key,
  name         text    collate "C" not null,
  pace         bigint  not null default 900000000000,      -- a standing task waits so long after a run (N20)
  paused_until bigint  not null default 0,
  backoff_min  bigint  not null default 10000000000,
  backoff_max  bigint  not null default 18000000000000,
  jitter       int     not null default 0,                 -- per mille of a backoff (C10)
  retention    bigint  not null default 86400000000000,    -- of ended records; 0 keeps none
  max_input    int     not null default 10240,
  limit_refresh    int,                                    -- pending requests (T6); null: any number
  limit_processing int,
  holds        boolean not null default false);            -- what finds no place waits for one

-- How many places are taken. Only queues with a limit have rows, so no other registration waits here (N24).
create table if not exists pending (
  queue   int      not null,
  kind    smallint not null,
  pending bigint   not null,
  primary key (queue, kind)) with (fillfactor = 10);

-- Places that a transaction takes or gives back: they count when it commits, so that nobody waits for it meanwhile (N55). `seq` has
-- one that was taken; where the limit is reached by the commit it is held then, or the transaction is refused.
create table if not exists placed (
  place  bigint generated always as identity primary key,
  queue  int      not null,
  kind   smallint not null,
  seq    bigint,
  change smallint not null,
  xact   xid8     not null default pg_current_xact_id());

-- Tasks that the same nodes can run (N4).
create table if not exists class (
  class       int generated always as identity (maxvalue 8388607) primary key,  -- as many as a line has room for
  queue       int      not null,
  kind        smallint not null,                           -- 1 refresh, 2 processing
  constraints int      not null,                           -- bits, as in the header
  labels      text[]   collate "C" not null,               -- sorted
  handler     text     collate "C" not null,
  mean        bigint   not null default 5000000000,        -- of the runs that nodes have reported (N23)
  samples     bigint   not null default 0,
  served      bigint,                                      -- when a node last said that it serves it, and which
  served_by   text);
-- A node's incarnation, whose number is never reused (N10).
create table if not exists worker (
  worker  bigint generated always as identity primary key,
  name    text   collate "C" not null,
  version text   not null,
  started bigint not null,
  beaten  bigint not null,
  expires bigint not null,
  ttl     bigint not null,
  steady  bigint not null,                                 -- it has beaten without a gap since then (N11)
  suspect bigint not null default 0,                       -- the last suspect that it claimed, which runs alone (N15)
  jumps   int    not null default 0,
  serves  int[]  not null default '{}') with (fillfactor = 50);

-- What a task is: written at registration, by updates, at the end of a period.
create table if not exists task (
  seq             bigint generated always as identity primary key,
  id              text     collate "C" not null,
  class           int      not null,
  schedule        smallint not null,                       -- 0 standing, 1 once, 2 periodic
  priority        smallint not null,
  backoff         smallint not null,                       -- 0 none, 1 linear, 2 exponential
  recurrence      smallint not null,                       -- 0 after completion, 1 anchored
  response_window smallint not null,
  existing        smallint not null,                       -- 0 keep, 1 replace, 2 update, 3 append, 4 append or replace
  max_attempts    int      not null,
  generation      int      not null default 0,
  expected        bigint   not null,
  learns          boolean  not null,                       -- expected was not said: the mean of its class
  delay           bigint   not null,
  period          bigint   not null,
  flex            bigint   not null,
  backoff_delay   bigint   not null,
  registered      bigint   not null,
  anchor          bigint   not null,                       -- its first earliest begin
  period_base     bigint,                                  -- when its last period ended; null: none has
  behind          bigint,                                  -- the record that it waits for (N26)
  tags            text[],
  input           bytea    not null);

-- Where a record stands: narrow, the only row that a run writes. Its lock stands for the record; whoever takes several
-- takes them in order of number, slots before tasks before places.
create table if not exists slot (
  seq          bigint   primary key,
  run          bigint   not null default 0,
  decided      bigint   not null default 0,                -- the last run that was decided
  worker       bigint   not null default 0,
  last_run     bigint   not null,
  due          bigint   not null,
  est          bigint   not null,
  line         int      not null,                          -- class << 8 | priority << 4 | cost << 1 | suspect
  attempts     int      not null default 0,
  max_attempts int      not null,
  schedule     smallint not null,
  state        smallint not null,                          -- 0 ready, 1 waits until due, 2 held, 4 runs, 5 its id is taken (C4)
  stop         smallint not null default 0,
  has_next     boolean  not null default false,            -- others wait behind it (N26)
  failed_at    bigint,
  failure      text,
  response     bigint[])
  with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.2);

-- Runs in flight whose record is gone: their ids stay taken until they have come back (C4, N25).
create table if not exists stray (
  run    bigint   primary key,
  worker bigint   not null,
  id     text     collate "C" not null,
  stop   smallint not null,
  until  bigint   not null);

-- Records that have ended, a partition a day.
create table if not exists history (
  ended      bigint   not null,
  seq        bigint   not null,
  id         text     collate "C" not null,
  class      int      not null,
  state      smallint not null,                            -- 4 succeeded, 5 failed, 6 cancelled
  schedule   smallint not null,
  priority   smallint not null,
  stop       smallint not null,
  attempts   int      not null,
  generation int      not null,
  run        bigint   not null,
  registered bigint   not null,
  last_run   bigint   not null,
  due        bigint   not null,
  est        bigint   not null,
  tags       text[],
  response   bigint[],
  failure    text,
  result     bytea) partition by range (ended);
create table if not exists history_rest partition of history default;

-- Who does the housekeeping has this row locked, so that one does it at a time, and none of another role keeps it from being
-- done; when it was last done, and when what dead nodes ran was last taken back (N30, N61).
create table if not exists keeper (
  is_here boolean primary key default true check (is_here),
  kept    bigint  not null default 0,
  reaped  bigint  not null default 0);
insert into keeper default values on conflict do nothing;

-- Has its row unless the server crashed, or a replica took over: what is not logged is gone then (N34).
create unlogged table if not exists crash_mark (is_here boolean primary key default true check (is_here));

-- What the tables have besides, and what came after their first form. A fleet in use has locks on them in many an order: so
-- what is there is only looked at, and what is missing is made with all locks taken before, none of which is waited for while
-- another is held for longer than 20 ms. Nobody's deadlock is found that early (N60).
do $$
declare
  -- In the order in which the most of those who write have them.
  tables constant text[] := '{worker,fleet,queue,class,slot,task,stray,pending,placed,history}';
  others text[] := '{}'; statements text[] := '{}'; missing record; relation text; awaited text;
  ends constant timestamptz := clock_timestamp() + interval '10 s'; own constant text := current_setting('lock_timeout');
begin
  for missing in
    select l.* from (values
      -- The oldest protocol that the functions speak, too; the release that they are of (N33).
      ('fleet', 'oldest', 'int not null default 1'),
      ('fleet', 'release', 'int not null default 0'),
      -- When its history was last looked after, when with success, and what the last attempt failed with (N30).
      ('fleet', 'kept', 'bigint not null default 0'),
      ('fleet', 'kept_whole', 'bigint not null default 0'),
      ('fleet', 'keeping_fault', 'text'),
      -- When the timeline last changed; whether a worker has ever decided relaxed, so that a crash may lose runs; the number from
      -- which runs are of the server as it is since then (N34).
      ('fleet', 'failed_over', 'bigint'),
      ('fleet', 'relaxed', 'boolean not null default false'),
      ('fleet', 'first_run', 'bigint not null default 0'),
      -- What else housekeeping last could not do, and when.
      ('fleet', 'fault', 'text'),
      ('fleet', 'fault_at', 'bigint not null default 0'),
      -- How far the classes have been looked through for those that no task is of.
      ('fleet', 'classes_seen', 'int not null default 0'),
      -- What ended up to then is gone, where the retention is not the longest of all queues (N30).
      ('queue', 'pruned', 'bigint not null default 0'),
      -- No task was of it then, nor since: it is forgotten when nothing remembers it (N4, N30).
      ('class', 'idle_since', 'bigint'),
      -- It is to leave, and hears so (N37).
      ('worker', 'draining', 'boolean not null default false'),
      -- Its turns need not outlive a crash of the server; the `first_run` for which it has said what it holds (N34).
      ('worker', 'relaxed', 'boolean not null default false'),
      ('worker', 'first_run', 'bigint not null default 0'),
      -- When its run began, or was claimed where a node does not say that; null: it is claimed and waits for a lane (N58).
      ('slot', 'begun', 'bigint'),
      -- Of what failed: its task, to try it again (R7).
      ('history', 'terms', 'jsonb'),
      -- Its last run was never decided: its worker was dead (N14).
      ('history', 'taken_back', 'boolean'),
      -- How often its process has ended in a run of it since one was decided, and of a suspect whether it was never to blame, so
      -- that others may run beside it (V7).
      ('slot', 'deaths', 'smallint not null default 0'),
      ('slot', 'quarantined', 'boolean not null default false'),
      -- Of a dead one the record that is to blame, 0 for none; null where nobody has judged it.
      ('worker', 'blamed', 'bigint'),
      -- An open transaction may have made another one of its name, which housekeeping makes one with it (N55).
      ('queue', 'is_new', 'boolean not null default true'),
      -- What a task waits after the second death in a row (V8).
      ('queue', 'crash_pause', 'bigint not null default 30000000000'),
      -- The channel that its nodes listen on; only the fleet's roles learn the name (N63).
      ('fleet', 'channel', 'text not null default ''selene_'' || replace(gen_random_uuid()::text, ''-'', '''')'),
      -- The roles that it is granted to begin so, if not with the schema's name (N62).
      ('fleet', 'roles', 'text')) l(relation, name, type)
    where not exists (select 1 from pg_attribute a where a.attrelid = l.relation::regclass and a.attname = l.name)
  loop
    others := others || missing.relation;
    statements := statements || format('alter table %I add column %I %s', missing.relation, missing.name, missing.type);
  end loop;
  for missing in
    select c.relname as relation, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = quote_ident(current_schema())::regnamespace
      and (c.relname, a.attname) in (('queue', 'name'), ('class', 'labels'), ('class', 'handler'), ('worker', 'name'),
        ('task', 'id'), ('stray', 'id'), ('history', 'id')) and a.attcollation <> '"C"'::regcollation
  loop
    others := others || missing.relation::text;
    statements := statements || 'drop view if exists live, ended, nodes cascade'::text
      || format('alter table %I alter column %I type %s collate "C"', missing.relation, missing.name, missing.type);
  end loop;
  for missing in
    select l.* from (values
      ('task_id', 'task', 'unique', '(id) where behind is null'),
      ('task_behind', 'task', '', '(id, seq) where behind is not null'),
      ('task_blocked', 'task', '', '(seq) where behind is not null'),
      -- Of all, but only for statements that say so: of tables that a plan saw empty it else looks for a number here (N31).
      ('task_of_class', 'task', '', '(class, seq) where class > 0'),
      ('task_tags', 'task', '', 'using gin (tags) where tags is not null'),
      ('slot_ready', 'slot', '', '(line, last_run, seq) where state = 0'),
      ('slot_due', 'slot', '', '(due) where state = 1'),
      ('slot_held', 'slot', '', '((line >> 4), seq) where state = 2'),
      -- Said otherwise than in the one above, so that no plan takes the one for the other (N31).
      ('slot_held_list', 'slot', '', '(seq) where state + 0 = 2'),
      ('slot_runs', 'slot', '', '(worker) where state = 4'),
      ('slot_taken', 'slot', '', '(seq) where state = 5'),
      ('slot_suspect', 'slot', '', '(seq) where line & 1 = 1'),
      ('stray_id', 'stray', '', '(id)'),
      ('stray_worker', 'stray', '', '(worker)'),
      ('stray_until', 'stray', '', '(until)'),
      ('history_id', 'history', '', '(id, ended)'),
      ('history_ended', 'history', '', '(ended)'),
      ('history_state', 'history', '', '(state, ended, seq)'),
      ('queue_paused', 'queue', '', '(paused_until) where paused_until > 0'),
      ('placed_queue', 'placed', '', '(queue, kind)'),
      ('queue_of_name', 'queue', '', '(name, queue)'),
      ('queue_new', 'queue', '', '(queue) where is_new'),
      ('class_of_terms', 'class', '', '(queue, kind, constraints, labels, handler)')) l(name, relation, kind, terms)
    where to_regclass(l.name) is null
  loop
    others := others || missing.relation;
    statements := statements || format('create %s index %I on %I %s', missing.kind, missing.name, missing.relation, missing.terms);
  end loop;
  for missing in
    select l.* from (values ('task_class', 'task'), ('slot_held_seq', 'slot')) l(name, relation) where to_regclass(l.name) is not null
  loop
    others := others || missing.relation;
    statements := statements || format('drop index %I', missing.name);
  end loop;
  -- What two open transactions make at once neither waits for (N55).
  for missing in
    select r.relname as relation, c.conname as name from pg_constraint c join pg_class r on r.oid = c.conrelid
    where r.relnamespace = quote_ident(current_schema())::regnamespace and r.relname in ('queue', 'class') and c.contype = 'u'
  loop
    others := others || missing.relation::text;
    statements := statements || format('alter table %I drop constraint %I', missing.relation, missing.name);
  end loop;
  -- Its row is written by the script, too.
  others := others || 'fleet'::text;
  while statements <> '{}' loop
    begin
      if awaited is not null then
        -- Held alone it is waited for in patience.
        perform set_config('lock_timeout', '2s', true);
        execute format('lock table %I in access exclusive mode', awaited);
      end if;
      perform set_config('lock_timeout', '20ms', true);
      foreach relation in array tables loop
        continue when relation <> all(others);
        awaited := relation;
        execute format('lock table %I in access exclusive mode', relation);
      end loop;
      exit;
    exception when lock_not_available then
      if clock_timestamp() > ends then
        raise exception using errcode = 'lock_not_available', message = 'a transaction keeps the table ' || quote_ident(awaited)
          || ' of the fleet, so that it cannot be changed; nothing was changed, try again when it has ended';
      end if;
    end;
    perform pg_sleep(random() * 0.05);
  end loop;
  perform set_config('lock_timeout', own, true);
  foreach relation in array statements loop execute relation; end loop;
  -- The sequence alone: an altered table would keep readers out. Where there have been more it stays as it is.
  if exists (select 1 from pg_sequence n where n.seqrelid = 'class_class_seq'::regclass and n.seqmax > 8388607)
    and (select last_value from class_class_seq) <= 8388607
  then
    alter sequence class_class_seq maxvalue 8388607;
  end if;
end $$;
