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
  name         text    collate "C" not null unique,
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
  served_by   text,
  unique (queue, kind, constraints, labels, handler));


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
create unique index if not exists task_id on task (id) where behind is null;
create index if not exists task_behind on task (id, seq) where behind is not null;
create index if not exists task_blocked on task (seq) where behind is not null;
-- Of all, but only for who says so: of tables that a plan saw empty it else looks for a number in here (N31).
create index if not exists task_of_class on task (class, seq) where class > 0;
drop index if exists task_class;
create index if not exists task_tags on task using gin (tags) where tags is not null;

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
create index if not exists slot_ready on slot (line, last_run, seq) where state = 0;
create index if not exists slot_due on slot (due) where state = 1;
create index if not exists slot_held on slot ((line >> 4), seq) where state = 2;
-- Said otherwise than in the one above, so that no plan takes the one for the other (N31).
create index if not exists slot_held_list on slot (seq) where state + 0 = 2;
drop index if exists slot_held_seq;
create index if not exists slot_runs on slot (worker) where state = 4;
create index if not exists slot_taken on slot (seq) where state = 5;
create index if not exists slot_suspect on slot (seq) where line & 1 = 1;

-- Runs in flight whose record is gone: their ids stay taken until they have come back (C4, N25).
create table if not exists stray (
  run    bigint   primary key,
  worker bigint   not null,
  id     text     collate "C" not null,
  stop   smallint not null,
  until  bigint   not null);
create index if not exists stray_id on stray (id);
create index if not exists stray_worker on stray (worker);
create index if not exists stray_until on stray (until);

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
create index if not exists history_id on history (id, ended);
create index if not exists history_ended on history (ended);
create index if not exists history_state on history (state, ended, seq);
create table if not exists history_rest partition of history default;
create index if not exists queue_paused on queue (paused_until) where paused_until > 0;

-- Has its row unless the server crashed, or a replica took over: what is not logged is gone then (N34).
create unlogged table if not exists crash_mark (is_here boolean primary key default true check (is_here));

-- What came after the first form of these tables. A column is looked for before it is added: adding keeps readers out, even
-- where there is nothing to add, and so stands behind the indexes, which may take time to be made.
do $$
declare missing record; other record;
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
      -- When it was last claimed.
      ('slot', 'begun', 'bigint'),
      -- Of what failed: its task, to try it again (R7).
      ('history', 'terms', 'jsonb'),
      -- Its last run was never decided: its worker was dead (N14).
      ('history', 'taken_back', 'boolean')) l(relation, name, type)
    where not exists (select 1 from pg_attribute a where a.attrelid = l.relation::regclass and a.attname = l.name)
  loop
    execute format('alter table %I add column %I %s', missing.relation, missing.name, missing.type);
  end loop;
  -- The sequence alone: an altered table would keep readers out. Where there have been more it stays as it is.
  if exists (select 1 from pg_sequence n where n.seqrelid = 'class_class_seq'::regclass and n.seqmax > 8388607)
    and (select last_value from class_class_seq) <= 8388607
  then
    alter sequence class_class_seq maxvalue 8388607;
  end if;
  for other in
    select c.relname as relation, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where (c.oid::regclass::text, a.attname) in (('queue', 'name'), ('class', 'labels'), ('class', 'handler'), ('worker', 'name'),
      ('task', 'id'), ('stray', 'id'), ('history', 'id')) and a.attcollation <> '"C"'::regcollation
  loop
    drop view if exists live, ended, nodes cascade;
    execute format('alter table %I alter column %I type %s collate "C"', other.relation, other.name, other.type);
  end loop;
end $$;
