-- Installs a fleet, or brings it to this release: psql -v schema=selene -f install.sql. What is there stays.
-- The order is that in which one file needs another.
\set ON_ERROR_STOP on
begin;
set local lock_timeout = '2s';
select pg_advisory_xact_lock(hashtext('selene ' || :'schema'));
create schema if not exists :"schema";
-- Who may make nothing here is to make nothing temporary either.
set local search_path = :"schema";
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

set local search_path = :"schema", pg_temp;
-- What is refused, and how it is told: SQLSTATE SE and the number of the header's status, a sentence, the field.

create or replace function refuse(status int, field text, problem text) returns void language plpgsql as $$
begin
  raise exception using errcode = 'SE' || lpad(status::text, 3, '0'), message = field || ': ' || problem, column = field;
end $$;

-- A name has 1 to 255 bytes (T1). This and `check_range` give back what they were given: an assignment costs less than `perform`.
do $$
begin
  if exists (select 1 from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace
    and p.proname = 'check_name' and p.prorettype = 'void'::regtype) then
    drop function check_name(text, text), check_range(text, bigint, bigint, bigint, text);
  end if;
end $$;
create or replace function check_name(field text, name text) returns text language plpgsql as $$
begin
  if name is null or octet_length(name) not between 1 and 255 then
    perform refuse(16, field, coalesce(octet_length(name)::text || ' bytes', 'null')
      || ' is out of range, allowed are 1 to 255 bytes');
  end if;
  return name;
end $$;

create or replace function check_range(field text, value bigint, lowest bigint, most bigint, unit text default '')
returns bigint language plpgsql as $$
begin
  if value is null or value not between lowest and most then
    perform refuse(16, field, coalesce(value::text, 'null') || unit || ' is out of range, allowed are ' || lowest || ' to '
      || most || unit);
  end if;
  return value;
end $$;

-- The place of a word in a list that begins at 0; refuses any other.
create or replace function word_number(field text, word text, words text[]) returns smallint language plpgsql as $$
begin
  if array_position(words, word) is null then
    perform refuse(16, field, coalesce(quote_literal(word), 'null') || ' is not known, allowed are '
      || array_to_string(words, ', '));
  end if;
  return array_position(words, word) - 1;
end $$;

-- Arithmetic of the rules: costs, estimates, backoff, periods. Nothing here reads a table.

-- The database's time is the fleet's (N2).
create or replace function now_ns() returns bigint language sql volatile as $$
  select (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 $$;

-- What is longer than numbers go is the greatest number.
create or replace function span_ns(span interval) returns bigint language sql immutable as $$
  select case when span is not null then
    greatest(least(extract(epoch from span) * 1000000000, 9223372036854775807), -9223372036854775807)::bigint end $$;

create or replace function instant(ns bigint) returns timestamptz language sql immutable as $$
  select timestamptz 'epoch' + make_interval(secs => 0) + (ns / 1000) * interval '1 microsecond' $$;

create or replace function span(ns bigint) returns interval language sql immutable as $$
  select (ns / 1000) * interval '1 microsecond' $$;

-- Three digits, without zeros at their end.
create or replace function three_digits(x numeric) returns text language sql immutable as $$
  select trim_scale(round(x, case when x < 9.995 then 2 when x < 99.95 then 1 else 0 end))::text $$;

-- A length of time for readers, as the command lines show it: 340 ms, 6.47 s, 2 min 5 s, 3 h 20 min, 4 d 2 h.
create or replace function span_words(ns bigint) returns text language sql immutable as $$
  select case
    when ns < 999500000 then three_digits(greatest(ns, 0) / 1000000.0) || ' ms'
    when ns < 60000000000 then three_digits(ns / 1000000000.0) || ' s'
    when ns < 3600000000000 then ns / 60000000000 || ' min' || coalesce(' ' || nullif(ns / 1000000000 % 60, 0) || ' s', '')
    when ns < 86400000000000 then ns / 3600000000000 || ' h' || coalesce(' ' || nullif(ns / 60000000000 % 60, 0) || ' min', '')
    else ns / 86400000000000 || ' d' || coalesce(' ' || nullif(ns / 3600000000000 % 24, 0) || ' h', '') end $$;

-- Cost classes end at 10 ms, 100 ms, 1 s, 10 s, 1 min, 10 min, 1 h (N4).
create or replace function cost_class(ns bigint) returns int language sql immutable parallel safe as $$
  select case when ns <= 10000000 then 0 when ns <= 100000000 then 1 when ns <= 1000000000 then 2
              when ns <= 10000000000 then 3 when ns <= 60000000000 then 4 when ns <= 600000000000 then 5
              when ns <= 3600000000000 then 6 else 7 end $$;

create or replace function line_of(class int, priority int, est bigint) returns int language sql immutable parallel safe as $$
  select (class << 8) | (priority << 4) | (cost_class(est) << 1) $$;

-- The mean of the last numbers, rounded down. Apart from `estimate`, which so is put into the statement that asks for it.
create or replace function mean_of_last(most int, numbers bigint[]) returns bigint
language plpgsql immutable parallel safe as $$
begin
  return (select div(sum(x), count(*))::bigint from unnest(numbers[greatest(1, cardinality(numbers) + 1 - most):]) x);
end $$;

-- The mean of the last n response times, rounded down; expected while there are none (S5).
create or replace function estimate(response bigint[], response_window int, expected bigint) returns bigint
language sql immutable parallel safe as $$
  select case when response_window = 0 or coalesce(cardinality(response), 0) = 0 then expected
    when cardinality(response) = 1 then response[1] else mean_of_last(response_window, response) end $$;


-- The response times with one more, of which as many are kept as the estimate looks at.
create or replace function with_response(response bigint[], one bigint, response_window int) returns bigint[]
language sql immutable parallel safe as $$
  select case when response_window = 0 then null
    else (coalesce(response, '{}') || one)[greatest(1, coalesce(cardinality(response), 0) + 2 - response_window):] end $$;

-- x * y modulo 2^64, of numbers without a sign that are kept in bigint.
create or replace function multiply_64(x bigint, y numeric) returns bigint language sql immutable parallel safe as $$
  select (case when p >= 9223372036854775808 then p - 18446744073709551616 else p end)::bigint
  from (select (case when x < 0 then x + 18446744073709551616 else x end * y) % 18446744073709551616 as p) product $$;

-- The first number of SplitMix64 with this seed, in 0 … most, as the engine's Generator gives it (C10, N17).
create or replace function chance(seed bigint, most int) returns int language plpgsql immutable parallel safe as $$
declare
  sum numeric := (seed::numeric + 11400714819323198485) % 18446744073709551616;
  z bigint := (case when sum >= 9223372036854775808 then sum - 18446744073709551616 else sum end)::bigint;
begin
  z := multiply_64(z # ((z >> 30) & 17179869183), 13787848793156543929);
  z := multiply_64(z # ((z >> 27) & 137438953471), 10723151780598845931);
  z := z # ((z >> 31) & 8589934591);
  return div((case when z < 0 then z + 18446744073709551616 else z end) * (most + 1), 18446744073709551616)::int;
end $$;

-- The delay after attempt n (C10): none 0, linear d·n, exponential d·2^(n−1), at most `most`, less a part by chance.
create or replace function backoff(policy int, base bigint, attempt int, most bigint, jitter int, run bigint) returns bigint
language plpgsql immutable parallel safe as $$
declare
  delay bigint := case policy when 0 then 0 when 1 then least(base::numeric * attempt, most)
    else least(base * power(2::numeric, least(greatest(attempt, 1) - 1, 62)), most) end;
begin
  if jitter = 0 or delay = 0 then return delay; end if;
  return delay - div(delay::numeric * jitter * chance(run, 1000), 1000000)::bigint;
end $$;

-- now + period, or the first instant after now on the anchor's grid (C9).
create or replace function next_period(recurrence int, period bigint, anchor bigint, n bigint) returns bigint
language sql immutable parallel safe as $$
  select case when recurrence = 0 then n + period when n < anchor then anchor
    else n + period - (n - anchor) % period end $$;

-- The fleet itself: its protocol, the server's timeline, what makes a commit last.

create or replace function release_name(number int) returns text language sql immutable as $$
  select number / 1000000 || '.' || number / 1000 % 1000 || '.' || number % 1000 $$;

-- Functions of an earlier release are not put in the place of later ones, which may need what these do (N33).
do $$
declare
  my_protocol constant int := 1;
  my_release constant int := 2000;  -- as SELENE_VERSION_NUMBER
  here fleet;
begin
  select * into here from fleet;
  if here.protocol > my_protocol then
    perform refuse(19, 'protocol',
      'the fleet speaks ' || here.protocol || ', these functions ' || my_protocol || ': the fleet is newer');
  end if;
  if here.release > my_release then
    perform refuse(19, 'release', 'the fleet is of ' || release_name(here.release) || ', these functions are of '
      || release_name(my_release) || ': the fleet is newer');
  end if;
  insert into fleet (protocol, release, installed) values (my_protocol, my_release, now_ns())
    on conflict (is_here) do update set protocol = my_protocol, release = my_release;
end $$;

-- What registers or decides, and what gives a number that is never used again, is as durable as the server can make it,
-- whatever its default is (N9, N10, N34).
create or replace function durable() returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true); end if;
end $$;

-- The server's timeline; null where it is hidden.
create or replace function server_timeline() returns text language plpgsql as $$
begin
  return left(pg_walfile_name(pg_current_wal_lsn()), 8);
exception when insufficient_privilege or undefined_function or object_not_in_prerequisite_state or feature_not_supported then
  return null;
end $$;

-- Whether commits may be lost that somebody was told of: a failover, or a crash of a server that relaxed workers use.
create or replace function has_lost(f fleet, timeline text) returns boolean language plpgsql as $$
begin
  if timeline <> f.timeline then return true; end if;
  -- A replica has nothing that is not logged.
  if not f.relaxed or pg_is_in_recovery() then return false; end if;
  return not exists (select 1 from crash_mark);
end $$;

-- The fleet on the server as it is. Where commits may be lost the last numbers of runs and workers may not be known here: they
-- go on far behind them, before anything is claimed (N34).
create or replace function follow_server() returns fleet language plpgsql as $$
declare
  here constant text := server_timeline(); f fleet;
  numbers constant regclass := pg_get_serial_sequence('worker', 'worker');
begin
  select * into f from fleet;
  if not has_lost(f, here) and (here is null or f.timeline is not null) then return f; end if;
  select * into f from fleet for update;
  if has_lost(f, here) then
    -- Lost by another crash, the same numbers would be given once more.
    perform durable();
    f.first_run := (select last_value from run_number) + 4294967296;
    perform setval('run_number', f.first_run);
    perform setval(numbers, nextval(numbers) + 4294967296);
    if here <> f.timeline then f.failed_over := now_ns(); end if;
  end if;
  insert into crash_mark default values on conflict do nothing;
  f.timeline := coalesce(here, f.timeline);
  update fleet set timeline = f.timeline, first_run = f.first_run, failed_over = f.failed_over;
  return f;
end $$;

-- Queues: made by the first task that names one; pace, limits, pauses.

create or replace function queue_of(name text) returns queue language plpgsql as $$
#variable_conflict use_column
declare q queue;
begin
  select * into q from queue where name = queue_of.name;
  if found then return q; end if;
  perform check_name('queue', queue_of.name);
  insert into queue (name) values (queue_of.name) on conflict do nothing;
  select * into q from queue where name = queue_of.name;
  return q;
end $$;

-- Changes what is not null. A limit below 0 takes it away. Waits no longer than two seconds for a lock (N24).
create or replace function set_queue(
  name text, pace interval default null, backoff_min interval default null, backoff_max interval default null,
  jitter int default null, retention interval default null, max_input int default null, limit_refresh int default null,
  limit_processing int default null, holds boolean default null) returns void language plpgsql as $$
#variable_conflict use_column
declare q queue := queue_of(set_queue.name); own constant text := current_setting('lock_timeout');
begin
  if own = '0' or own::interval > '2s' then perform set_config('lock_timeout', '2s', true); end if;
  select * into q from queue where queue = q.queue for update;
  q.pace := coalesce(span_ns(set_queue.pace), q.pace);
  q.backoff_min := coalesce(span_ns(set_queue.backoff_min), q.backoff_min);
  q.backoff_max := coalesce(span_ns(set_queue.backoff_max), q.backoff_max);
  q.jitter := coalesce(set_queue.jitter, q.jitter);
  q.retention := coalesce(span_ns(set_queue.retention), q.retention);
  q.max_input := coalesce(set_queue.max_input, q.max_input);
  perform check_range('pace', q.pace, 0, 315360000000000000, ' ns');
  perform check_range('backoff_min', q.backoff_min, 0, q.backoff_max, ' ns');
  perform check_range('backoff_max', q.backoff_max, 0, 315360000000000000, ' ns');
  perform check_range('jitter', q.jitter, 0, 1000);
  perform check_range('retention', q.retention, 0, 315360000000000000, ' ns');
  perform check_range('max_input', q.max_input, 0, 1073741823);
  q.limit_refresh := nullif(greatest(coalesce(set_queue.limit_refresh, q.limit_refresh), -1), -1);
  q.limit_processing := nullif(greatest(coalesce(set_queue.limit_processing, q.limit_processing), -1), -1);
  q.holds := coalesce(set_queue.holds, q.holds);
  update queue set pace = q.pace, backoff_min = q.backoff_min, backoff_max = q.backoff_max, jitter = q.jitter,
      retention = q.retention, max_input = q.max_input, limit_refresh = q.limit_refresh,
      limit_processing = q.limit_processing, holds = q.holds
    where queue = q.queue;
  if set_queue.limit_refresh is not null then perform count_places(q.queue, 1, q.limit_refresh); end if;
  if set_queue.limit_processing is not null then perform count_places(q.queue, 2, q.limit_processing); end if;
  if set_queue.holds is not null then
    perform fill_places(q.queue, 1);
    perform fill_places(q.queue, 2);
  end if;
  perform set_config('lock_timeout', own, true);
exception when lock_not_available then
  raise exception using errcode = 'lock_not_available', message = 'queue: ' || quote_literal(q.name)
    || ' cannot be set while a transaction is open that has set it, or has registered, cancelled or completed tasks; '
    'nothing was changed, try again when it has ended';
end $$;

create or replace function pause(queue text, span interval default null) returns void language plpgsql as $$
#variable_conflict use_column
declare q constant queue := queue_of(pause.queue);
begin
  update queue set paused_until = coalesce(now_ns() + span_ns(pause.span), 9223372036854775807) where queue = q.queue;
end $$;

create or replace function resume(queue text) returns void language plpgsql as $$
#variable_conflict use_column
declare q constant queue := queue_of(resume.queue);
begin
  update queue set paused_until = 0 where queue = q.queue;
end $$;

-- Nobody registers or decides until the caller's transaction is over. Whoever comes later waits for who waits for this: so it
-- is waited for in pieces, each shorter than what a worker waits for a lock (N29), lock_timeout in all.
create or replace function lock_places() returns void language plpgsql as $$
declare
  own constant text := current_setting('lock_timeout'); patience constant interval := own::interval;
  ends constant timestamptz := clock_timestamp() + patience;
begin
  perform set_config('lock_timeout', least(extract(epoch from patience) * 1000, 250)::int::text, true);
  loop
    begin
      lock table slot in share row exclusive mode;
      exit;
    exception when lock_not_available then
      if clock_timestamp() >= ends then raise; end if;
    end;
    perform pg_sleep(0.05);
  end loop;
  perform set_config('lock_timeout', own, true);
end $$;

-- Places (T6, N24). Each time that a queue is given a limit its places are counted, while nobody registers or decides.
create or replace function count_places(p_queue int, p_kind int, p_limit int) returns void language plpgsql as $$
begin
  perform lock_places();
  if p_limit is null then
    delete from pending where queue = p_queue and kind = p_kind;
    -- What was held needs no place any more.
    update slot set state = state_with_place(seq)
      where seq = any(array(
        select h.seq from class c cross join generate_series(1, 5) priority cross join lateral (
          select s.seq from slot s where s.line >> 4 = (c.class << 4 | priority) and s.state = 2) h
        where c.queue = p_queue and c.kind = p_kind));
  else
    insert into pending
      select p_queue, p_kind, count(*) from slot s join task t on t.seq = s.seq join class c on c.class = t.class
      where c.queue = p_queue and c.kind = p_kind and s.schedule <> 0 and s.state <> 2
      on conflict (queue, kind) do update set pending = excluded.pending;
    perform fill_places(p_queue, p_kind);
  end if;
end $$;

-- Takes a place; gives the state that a record has with it (1) or without (2), or refuses.
create or replace function take_place(q queue, p_kind int) returns smallint language plpgsql as $$
declare most constant int := case p_kind when 1 then q.limit_refresh else q.limit_processing end;
begin
  if most is null then return 1; end if;
  update pending set pending = pending + 1 where queue = q.queue and kind = p_kind and pending < most;
  if found then return 1; end if;
  if not q.holds then
    perform refuse(2, 'queue', 'pending requests of ' || quote_literal(q.name) || ' exceed its limit, which is ' || most);
  end if;
  return 2;
end $$;

-- The state of a held record once it has a place: it waits until it is due, or for the run that its id is taken by (C4).
create or replace function state_with_place(p_seq bigint) returns smallint language plpgsql as $$
begin
  return case when exists (
    select 1 from stray where id = (select t.id from task t where t.seq = p_seq) and until > now_ns()) then 5 else 1 end;
end $$;

-- Places that are free go to those that are held: higher priority first, then lower number (T6). What somebody is at is passed,
-- up to a hundred of them; housekeeping looks again.
create or replace function fill_places(p_queue int, p_kind int) returns void language plpgsql as $$
declare most int; taken bigint; best bigint; passed bigint[] := '{}';
begin
  select case p_kind when 1 then limit_refresh else limit_processing end into most from queue where queue = p_queue;
  if most is null then return; end if;
  select pending into taken from pending where queue = p_queue and kind = p_kind for update;
  while taken < most loop
    select h.seq into best
      from class c cross join generate_series(1, 5) priority cross join lateral (
        -- In an order that only its own index has: of tables that it saw empty the planner else looks along their numbers.
        select s.seq from slot s
        where (s.line >> 4, s.seq) > (c.class << 4 | priority, 0::bigint) and s.line >> 4 <= (c.class << 4 | priority)
          and s.state = 2 and s.seq <> all(passed)
        order by s.line >> 4, s.seq limit 1) h
      where c.queue = p_queue and c.kind = p_kind order by priority desc, h.seq limit 1;
    exit when best is null;
    perform 1 from slot where seq = best and state = 2 for update skip locked;
    if not found then
      passed := passed || best;
      exit when cardinality(passed) > 100;
      continue;
    end if;
    update slot set state = state_with_place(best) where seq = best;
    taken := taken + 1;
  end loop;
  update pending set pending = taken where queue = p_queue and kind = p_kind and pending <> taken;
end $$;

-- Gives a place back.
create or replace function free_place(p_queue int, p_kind int) returns void language plpgsql as $$
begin
  update pending set pending = pending - 1 where queue = p_queue and kind = p_kind;
  if found then perform fill_places(p_queue, p_kind); end if;
end $$;

-- Tells nodes that listen that something may be due (N28). To be called alone, after the commit of what it is about.
create or replace function wake(queue text default 'default') returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform pg_notify(current_schema(), wake.queue);
end $$;

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

create or replace function class_of(p_queue int, p_kind int, p_constraints int, p_labels text[], p_handler text) returns class
language plpgsql as $$
declare c class;
begin
  for tries in 1..3 loop
    select * into c from class
      where queue = p_queue and kind = p_kind and constraints = p_constraints and labels = p_labels and handler = p_handler;
    if found then
      exit when c.idle_since is null;
      c := keep_class(c.class);
      exit when c.class is not null;
    end if;
    begin
      insert into class (queue, kind, constraints, labels, handler)
        values (p_queue, p_kind, p_constraints, p_labels, p_handler) on conflict do nothing;
    exception when sequence_generator_limit_exceeded then
      perform refuse(29, 'handler', quote_literal(p_handler) || ' would need a new class, and the fleet has had 8388607, which '
        'is the most that it can number; what is registered with the classes that are there goes on');
    end;
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

-- Records that have ended: a partition a day, kept for the retention of their queue (T9, N3). Beats look after it (N30).

create or replace function partition_name(day bigint) returns text language sql immutable as $$
  select 'history_' || to_char(timestamp 'epoch' + day * interval '1 day', 'YYYYMMDD') $$;

-- Makes the partitions of today and of the two days that follow. What ended on such a day and found none moves there, if it is
-- no more than a piece. Returns how many it made.
create or replace function make_partitions(n bigint) returns int language plpgsql as $$
declare
  day_ns constant bigint := 86400000000000; day bigint; name text; begins bigint; most bigint; found_none bigint; made int := 0;
begin
  for day in select generate_series(n / day_ns, n / day_ns + 2) loop
    name := partition_name(day);
    continue when to_regclass(quote_ident(name)) is not null;
    begins := day * day_ns;
    most := begins + day_ns - 1;
    select count(*) into found_none from (select 1 from history_rest where ended between begins and most limit 1001) few;
    continue when found_none > 1000;
    execute format('create table %I (like history including defaults including constraints)', name);
    if found_none > 0 then
      lock table history_rest in access exclusive mode;
      execute format('with moved as (delete from history_rest where ended between %s and %s returning *)
        insert into %I select * from moved', begins, most, name);
    end if;
    execute format('alter table history attach partition %I for values from (%s) to (%s)', name, begins, most + 1);
    made := made + 1;
  end loop;
  return made;
end $$;

-- The first day of which some record may be younger than its retention.
create or replace function oldest_day(n bigint) returns bigint language plpgsql as $$
begin
  return (n - coalesce((select max(q.retention) from queue q), 86400000000000)) / 86400000000000;
end $$;

-- Drops the partitions whose records are all older than every retention. Returns how many.
create or replace function drop_partitions(n bigint) returns int language plpgsql as $$
declare oldest constant text := partition_name(oldest_day(n)); name text; dropped int := 0;
begin
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'history'::regclass and c.relname ~ '^history_[0-9]{8}$' and c.relname < oldest
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- Both at once, for who does not want to wait for a beat. Returns how many partitions it made or dropped. Waits at most 2 s for
-- a lock.
create or replace function partitions() returns int language plpgsql set lock_timeout = '2s' as $$
declare n constant bigint := now_ns();
begin
  if not pg_try_advisory_xact_lock(hashtext('selene keeping ' || current_schema())) then return 0; end if;
  return make_partitions(n) + drop_partitions(n);
end $$;

-- Deletes what ended in these queues after `since`, up to `upto`, of so many records that it looks at, and those that ended at
-- the same instant as the last of them. `reached` is how far it came.
create or replace function prune_piece(queues int[], since bigint, upto bigint, most int, out gone bigint, out reached bigint)
language plpgsql as $$
begin
  select h.ended into reached from history h where h.ended > since and h.ended <= upto order by h.ended offset most - 1 limit 1;
  reached := coalesce(reached, upto);
  delete from history h
    where h.ended > since and h.ended <= reached and (select c.queue from class c where c.class = h.class) = any(queues);
  get diagnostics gone = row_count;
end $$;

-- Deletes records that ended longer ago than `age`, or than the retention of their queue, in pieces. Returns how many.
create or replace function prune(age interval default null, most int default 1000) returns bigint language plpgsql as $$
declare n constant bigint := now_ns(); kept record; piece record; since bigint; total bigint := 0;
begin
  for kept in
    select coalesce(span_ns(prune.age), q.retention) as span, array_agg(q.queue) as queues from queue q group by 1 order by 1
  loop
    since := -9223372036854775808;
    while since < n - kept.span loop
      select * into piece from prune_piece(kept.queues, since, n - kept.span, greatest(prune.most, 1));
      total := total + piece.gone;
      since := piece.reached;
    end loop;
  end loop;
  return total;
end $$;

-- The same for as long as it may take, where no partition can be dropped: of queues whose retention is not the longest one, and
-- what found no partition. Whether that is all.
create or replace function prune_some(n bigint, takes bigint) returns boolean language plpgsql as $$
declare
  day_ns constant bigint := 86400000000000; ends constant timestamptz := clock_timestamp() + span(takes); old bigint;
  kept record; piece record; upto bigint; so_far bigint;
begin
  old := oldest_day(n) * day_ns;
  loop
    delete from history_rest where ctid = any(array(
      select r.ctid from history_rest r where r.ended < old order by r.ended limit 1000));
    exit when not found;
    if clock_timestamp() > ends then return false; end if;
  end loop;
  for kept in
    select q.retention, min(q.pruned) as since, array_agg(q.queue) as queues from queue q
    where q.retention < (select max(retention) from queue) group by q.retention
  loop
    upto := n - kept.retention;
    -- A clock that was set back has not seen what is later.
    so_far := least(kept.since, upto);
    while so_far < upto loop
      select * into piece from prune_piece(kept.queues, so_far, upto, 1000);
      so_far := piece.reached;
      exit when clock_timestamp() > ends;
    end loop;
    update queue q set pruned = so_far where q.queue = any(kept.queues) and q.pruned <> so_far;
    if so_far < upto then return false; end if;
  end loop;
  return true;
end $$;

-- What hello and beats do for the history, once a minute. Who `removes` is steady, so that a clock that was set far ahead costs
-- nothing at once. Nobody waits long: a part of a lease for a lock, and a part for work. What fails is told by `status`, and
-- fails nobody's beat.
create or replace function keep_history(n bigint, lease bigint, removes boolean) returns void language plpgsql
set lock_timeout = '100ms' as $$
declare is_done boolean := true;
begin
  if exists (select 1 from fleet where kept between n - 60000000000 and n) then return; end if;
  perform set_config('lock_timeout', least(100, greatest(1, lease / 50000000)) || 'ms', true);
  begin
    perform make_partitions(n);
    if not removes then return; end if;
    perform drop_partitions(n);
    is_done := prune_some(n, least(lease / 100, 300000000));
    -- What is of a class may be remembered as long as the history is not pruned.
    if is_done then perform prune_classes(n, least(lease / 100, 300000000)); end if;
    update fleet set kept = case when is_done then n else 0 end, kept_whole = n, keeping_fault = null;
  exception when others then
    update fleet set kept = n, keeping_fault = sqlerrm
      where is_here = any(array(select f.is_here from fleet f for no key update skip locked));
  end;
end $$;

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
    perform pg_notify(current_schema(), '');
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
                case when has_place then 1 else take_place_or_wait(p_queue, p_kind) end,
                exists (select 1 from task where id = p_id and behind is not null));
      return;
    end if;
  end loop;
end $$;

-- A successor whose predecessor had no place is held where there is none.
create or replace function take_place_or_wait(p_queue int, p_kind int) returns smallint language plpgsql as $$
declare q queue;
begin
  select * into q from queue where queue = p_queue;
  q.holds := true;
  return take_place(q, p_kind);
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
  existing text default null,                  -- keep, replace, update, append, append_or_replace; standing: update, else keep
  input bytea default '')
returns text language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); q queue; t task; kind_number int;
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
  return enter(t, q, kind_number, n);
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
  plain boolean[]; seqs bigint[]; added bigint[]; met int;
  v_classes int[] := array_fill(null::int, array[most]); v_means bigint[] := array_fill(null::bigint, array[most]);
begin
  perform durable();
  lock table slot in row exclusive mode;
  if octet_length(register_batch.queue) between 1 and 255 then q := queue_of(register_batch.queue); end if;
  plain := array(
    select q.queue is not null and coalesce(
        octet_length(u.id) between 1 and 255 and octet_length(coalesce(u.handler, u.id)) between 1 and 255
        and case u.kind when 'refresh' then q.limit_refresh is null when 'processing' then q.limit_processing is null end
        and case coalesce(u.schedule, case when u.every is null then 'once' else 'periodic' end) when 'standing' then true
          when 'once' then true when 'periodic' then u.every between 1 and 315360000000000 and u.flex between 0 and u.every end
        and u.priority between 1 and 5 and coalesce(u.expected, 0) between 0 and 86400000000
        and u.delay between 0 and 315360000000000 and coalesce(u.backoff, 'none') in ('none', 'linear', 'exponential')
        and u.backoff_delay between 0 and 315360000000000 and u.max_attempts >= 0 and u.response_window between 0 and 30
        and octet_length(u.input) <= q.max_input
        and case coalesce(u.existing, case u.schedule when 'standing' then 'update' else 'keep' end) when 'keep' then true
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
            case when u.existing = 'replace' then 1 when u.existing = 'update' or u.existing is null and u.schedule = 0 then 2
              else 0 end,
            u.max_attempts, coalesce(u.expected * 1000, u.mean), u.expected is null, u.delay * 1000, u.period, u.flex,
            least(greatest(u.backoff_delay * 1000, q.backoff_min), q.backoff_max), n,
            n + u.delay * 1000 + first_wait(u.period, u.flex),
            case when u.tags <> '{}' then nullif(sorted_names('tags', u.tags::text[]), '{}') end, u.input
          from (
            select a.seq, a.id, a.class, a.mean, a.priority, a.expected, a.delay, a.anchored, a.backoff, a.backoff_delay,
              a.max_attempts, a.response_window, a.tags, a.existing, a.input, a.place,
              case when a.schedule = 'standing' then 0 when a.schedule = 'once' or a.schedule is null and a.every is null then 1
                else 2 end as schedule,
              case when a.schedule = 'periodic' or a.schedule is null then coalesce(a.every * 1000, 0) else 0 end as period,
              case when a.schedule = 'periodic' or a.schedule is null and a.every is not null then a.flex * 1000
                else 0 end as flex
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
        and coalesce(existing[one], case schedules[one] when 'standing' then 'update' else 'keep' end) = 'keep' then
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

-- A checked definition; without id, class and times.
create or replace function define(
  schedule text, priority int, expected interval, delay interval, every interval, flex interval, anchored boolean,
  backoff text, backoff_delay interval, max_attempts int, response_window int, tags text[], existing text, input bytea,
  q queue) returns task language plpgsql as $$
declare t task; ten_years constant bigint := 315360000000000000; default_word text;
begin
  t.schedule := word_number('schedule', coalesce(schedule, case when every is null then 'once' else 'periodic' end),
    array['standing', 'once', 'periodic']);
  t.priority := check_range('priority', priority, 1, 5);
  t.learns := expected is null;
  if not t.learns then t.expected := check_range('expected', span_ns(expected), 0, 86400000000000, ' ns'); end if;
  t.delay := check_range('delay', span_ns(delay), 0, ten_years, ' ns');
  t.period := case when t.schedule = 2 then check_range('every', span_ns(every), 1, ten_years, ' ns') else 0 end;
  t.flex := case when t.schedule = 2 then check_range('flex', span_ns(flex), 0, t.period, ' ns') else 0 end;
  t.recurrence := coalesce(anchored, false)::int;
  t.backoff := word_number('backoff', coalesce(backoff, case when t.schedule = 0 then 'none' else 'exponential' end),
    array['none', 'linear', 'exponential']);
  t.backoff_delay := check_range('backoff_delay', span_ns(backoff_delay), 0, 9223372036854775807, ' ns');
  t.backoff_delay := least(greatest(t.backoff_delay, q.backoff_min), q.backoff_max);
  t.max_attempts := check_range('max_attempts', max_attempts, 0, 2147483647);
  t.response_window := check_range('response_window', response_window, 0, 30);
  t.tags := nullif(sorted_names('tags', tags), '{}');
  t.existing := word_number('existing', coalesce(existing, case when t.schedule = 0 then 'update' else 'keep' end),
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
      state := case when t.schedule = 0 then 1 else take_place(q, p_kind) end;
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
        keeps := s.schedule <> 0 and s.state <> 2 and t.schedule <> 0 and c.queue = q.queue and c.kind = p_kind;
        if s.has_next then
          perform cancel_waiting(t.id, 0, n);
          update slot set has_next = false where seq = s.seq;
        end if;
        perform finish(s.seq, 6, 4, n, null, keeps);
        t.seq := add_task(t, n);
        continue when t.seq is null;
        state := case when t.schedule = 0 or keeps then 1 else take_place(q, p_kind) end;
        perform add_slot(t, state, n);
        return 'replaced';
      when 2 then
        if c.kind <> p_kind then perform refuse(16, 'kind', 'cannot change in an update; replace the task'); end if;
        if c.queue <> q.queue then perform refuse(16, 'queue', 'cannot change in an update; replace the task'); end if;
        if old.schedule <> t.schedule then
          perform refuse(16, 'schedule', 'cannot change in an update; replace the task');
        end if;
        perform revise(t, old, s, n);
        return 'updated';
      else
        if old.schedule <> 1 then
          perform refuse(16, 'existing', 'the live task of this id is not a once task and has no successors');
        end if;
        if c.kind <> p_kind or c.queue <> q.queue then
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
declare n constant bigint := now_ns(); old task; t task; s slot; c class; q queue;
begin
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
end $$;

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
declare n constant bigint := now_ns(); locked bigint;
begin
  perform durable();
  lock table slot in row exclusive mode;
  loop
    select s.seq into locked from task t join slot s on s.seq = any(array[t.seq])
      where t.id = cancel.id and t.behind is null for update of s;
    if found then return cancel_record(locked, n); end if;
    -- Its successor may have taken its place meanwhile.
    exit when is_free(cancel.id);
  end loop;
  if not exists (select 1 from history h where h.id = cancel.id) then
    perform refuse(21, 'id', quote_literal(cancel.id) || ' is not registered');
  end if;
  return 0;
end $$;

create or replace function cancel_tag(tag text) returns bigint language plpgsql as $$
declare n constant bigint := now_ns(); t task; head bigint; first bigint; count bigint := 0; part bigint;
begin
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
  return count;
end $$;

-- Every live task of a queue, or of all.
create or replace function cancel_all(queue text default null) returns bigint language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); head bigint; count bigint := 0; mine constant int[] := classes_of(cancel_all.queue);
begin
  perform durable();
  lock table slot in row exclusive mode;
  for head in
    select s.seq from slot s where mine is null or s.line >> 8 = any(mine) order by s.seq for update
  loop
    count := count + cancel_record(head, n);
  end loop;
  return count;
end $$;

-- Running once more, or sooner than planned, because somebody says so (R7, W7).

-- Registers what has failed again: due at once, with the same terms, no attempts, its response times and its failure.
-- Answers `added`, or `held` where the queue has no place. Who waited behind it has ended with it, and stays so.
create or replace function retry(id text) returns text language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); h history; t task; c class; q queue; state int; line int; est bigint;
begin
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
  state := take_place(q, c.kind);
  est := estimate(h.response, t.response_window, t.expected);
  insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state, failed_at, failure, response)
    values (t.seq, n, n, est, line_of(t.class, t.priority, est), t.max_attempts, t.schedule,
      case when state = 1 and exists (select 1 from stray where stray.id = t.id and stray.until > n) then 5
           when state = 1 then 0 else state end,
      h.ended, h.failure, h.response);
  return case state when 2 then 'held' else 'added' end;
end $$;

-- A live task is due now, whatever it waited for by time; its periods stay where they are. Answers what it still waits for:
-- `ready` a node, `held` a place of its queue, `still_running` the run of the record before it.
create or replace function run_now(id text) returns text language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); s slot;
begin
  perform durable();
  lock table slot in row exclusive mode;
  select s.* into s from task t join slot s on s.seq = any(array[t.seq])
    where t.id = run_now.id and t.behind is null for update of s;
  if not found then perform refuse(21, 'id', quote_literal(run_now.id) || ' has no live task'); end if;
  if s.state = 4 then perform refuse(16, 'id', quote_literal(run_now.id) || ' runs already'); end if;
  update slot set due = least(s.due, n), state = case when s.state = 1 then 0 else s.state end where seq = s.seq;
  return case s.state when 2 then 'held' when 5 then 'still_running' else 'ready' end;
end $$;

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
-- (C3). The order of the rows is that of the claim.
create or replace function claim(
  worker bigint, classes int[], lines int[] default '{}', since bigint[] default '{}', most int default 1,
  room bigint default 86400000000000, total bigint default 9223372036854775807, first boolean default false,
  due_since bigint default 0)
returns table (
  run bigint, seq bigint, id text, handler text, class int, input bytea, est bigint, attempts int, generation int, line int,
  last_run bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  n bigint; f fleet; me worker; paused int[]; v_lines int[]; v_since bigint[]; v_take int[]; v_tid tid[]; suspect boolean;
begin
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
  if me.suspect <> 0 and exists (
    select 1 from slot s where s.seq = me.suspect and s.worker = me.worker and s.state + 0 = 4 and s.line & 1 = 1) then return; end if;
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

  -- How many of each line, by the heads as they are seen now.
  with head as (
    select l.line, l.since, (l.line >> 4) & 15 as priority, h.last_run, h.est, h.seq
    from unnest(v_lines, v_since) l(line, since) cross join lateral (
      select s.last_run, s.est, s.seq from slot s
      where s.line = l.line and s.last_run >= l.since and s.state = 0 and s.est <= claim.room
      order by s.last_run, s.seq limit claim.most) h
  ), ranked as (
    select line, since, row_number() over by_score as place, sum(head.est::numeric) over by_score as upto,
      count(*) filter (where line & 1 = 1) over by_score as suspects
    from head window by_score as (
      order by priority * least(greatest(n - last_run, 0), 1800000000000000000) desc, priority desc, head.seq
      rows unbounded preceding)
  ), taken as (
    select line, since, count(*)::int as count from ranked
    where place <= claim.most and (upto <= claim.total or place = 1) and (suspects = 0 or place = 1) group by line, since)
  select array_agg(line), array_agg(since), array_agg(count) into v_lines, v_since, v_take from taken;
  if v_lines is null then return; end if;
  -- A suspect is claimed alone, when what was claimed before it is decided (N15).
  suspect := v_lines[1] & 1 = 1;
  if suspect and exists (select 1 from slot s where s.worker = claim.worker and s.state = 4) then return; end if;

  -- So many of each, that nobody else is just taking.
  select array_agg(g.tid) into v_tid from unnest(v_lines, v_since, v_take) t(line, since, count) cross join lateral (
    select s.ctid as tid from slot s
    where s.line = t.line and s.last_run >= t.since and s.state = 0 and s.est <= claim.room
    order by s.last_run, s.seq limit t.count for update skip locked) g;
  return query
    with u as (
      update slot s set state = 4, worker = claim.worker, run = nextval('run_number'), attempts = s.attempts + 1, begun = n
      where s.ctid = any(v_tid) and s.state + 0 = 0
      returning s.run, s.seq, s.est, s.attempts, s.line, s.last_run
    )
    select u.run, u.seq, t.id, c.handler, t.class, t.input, u.est, u.attempts, t.generation, u.line, u.last_run
    from u join task t on t.seq = any(array[u.seq]) join class c on c.class = any(array[t.class])
    order by ((u.line >> 4) & 15) * least(greatest(n - u.last_run, 0), 1800000000000000000) desc, u.line >> 4 & 15 desc, u.seq;
  if suspect then
    update worker w set suspect = s.seq from slot s
      where w.worker = claim.worker and s.worker = claim.worker and s.state = 4;
  end if;
end $$;

-- How runs end: decided, given back, or asked about after a lost answer (C6, C8, C9, N8, N9, N14).

-- The stop reason of an outcome that the window or the process's end gave it (C6, D3).
create or replace function stop_of(outcome int) returns int language sql immutable parallel safe as $$
  select case outcome when 4 then 1 when 5 then 7 else 0 end $$;

-- What a record says of a failure; null of any other outcome.
create or replace function failure_of(outcome int, words text) returns text language sql immutable parallel safe as $$
  select case when outcome <= 1 then null when words is not null then left(words, 1024) when outcome = 4 then 'the window ended'
    when outcome = 5 then 'the process ended' end $$;

-- Whether a once task, or the period of a periodic one, is over with a run (C9, C10).
create or replace function is_over(outcome int, attempts int, max_attempts int) returns boolean
language sql immutable parallel safe as $$
  select outcome in (0, 1, 3) or (max_attempts > 0 and attempts >= max_attempts) $$;

-- Decides runs, as `complete` tells. Without `waits` nothing is done, and no row told, of a record that somebody else's
-- transaction is at, or whose place (N24).
create or replace function decide(
  seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[], failures text[], results bytea[],
  waits boolean)
returns table (run bigint, counts boolean, state smallint, due bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  n bigint; mine bigint[]; places int[]; limited int[]; forgets int[]; ends bigint[]; ended record;
  done_run bigint[]; done_state smallint[]; done_due bigint[]; more_run bigint[]; more_state smallint[]; more_due bigint[];
begin
  perform durable();
  -- Nobody counts places from here on (N24): what is read of limits below holds until the commit.
  lock table slot in row exclusive mode;
  -- By position, wherever they begin.
  if 1 <> any(array[array_lower(outcomes, 1), array_ndims(outcomes), array_lower(responses, 1), array_ndims(responses),
      array_lower(delays, 1), array_ndims(delays), array_lower(failures, 1), array_ndims(failures), array_lower(results, 1),
      array_ndims(results)]) then
    outcomes := array(select unnest(outcomes));
    responses := array(select unnest(responses));
    delays := array(select unnest(delays));
    failures := array(select unnest(failures));
    results := array(select unnest(results));
  end if;
  if (0 <= all(outcomes) and 5 >= all(outcomes)) is not true or cardinality(outcomes) < cardinality(runs) then
    perform refuse(16, 'outcomes', 'allowed are 0 to 5, one for each run');
  end if;
  if cardinality(results) > 0 and exists (select 1 from unnest(results) r where octet_length(r) > 65536) then
    perform refuse(20, 'results', 'allowed are 0 to 65536 bytes each');
  end if;
  if (0 <= all(responses)) is not true or cardinality(responses) < cardinality(runs)
    or (0 <= all(delays) and 315360000000000000 >= all(delays)) is false then
    perform refuse(16, 'responses', 'response times and delays are out of range');
  end if;
  -- In order of number, as everybody takes several; the clock is read when all are held.
  if waits then
    select array_agg(l.place), array_agg(l.seq) into places, mine from (
      select u.place, s.seq from unnest(seqs, runs) with ordinality u(seq, run, place)
        join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
      order by u.seq for update of s) l;
  else
    select array_agg(l.place), array_agg(l.seq) into places, mine from (
      select u.place, s.seq from unnest(seqs, runs) with ordinality u(seq, run, place)
        join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
      order by u.seq for update of s skip locked) l;
    if exists (select 1 from pending) then
      -- Nor of those whose place somebody's transaction keeps.
      with own as materialized (
        select g.place, s.seq, c.queue, c.kind from unnest(places, mine) g(place, seq) join slot s on s.seq = any(array[g.seq])
          join class c on c.class = any(array[s.line >> 8])
      ), place as materialized (
        select p.queue, p.kind from pending p where (p.queue, p.kind) in (select o.queue, o.kind from own o)
        order by p.queue, p.kind for update skip locked)
      select array_agg(o.place), array_agg(o.seq) into places, mine from own o
        where exists (select 1 from place l where l.queue = o.queue and l.kind = o.kind)
          or not exists (select 1 from pending p where p.queue = o.queue and p.kind = o.kind);
    end if;
  end if;
  n := now_ns();
  if mine is not null then
    select array_agg(c.class) filter (where case c.kind when 1 then q.limit_refresh else q.limit_processing end is not null),
        array_agg(c.class) filter (where q.retention = 0)
      into limited, forgets
      from (select distinct s.line >> 8 as class from unnest(mine) g(seq) join slot s on s.seq = any(array[g.seq])) l
        join class c on c.class = any(array[l.class]) join queue q on q.queue = any(array[c.queue]);
    -- Those that end and have nothing after them: what most runs are.
    with gone as (
      delete from slot s using unnest(mine, places) g(seq, place)
        where s.seq = any(array[g.seq]) and s.schedule = 1 and not s.has_next and (limited is null or s.line >> 8 <> all(limited))
          and is_over(outcomes[g.place], s.attempts, s.max_attempts)
        returning s.seq, s.run, s.attempts, s.due, s.response, outcomes[g.place] as outcome, responses[g.place] as response_time,
          failures[g.place] as failure, results[g.place] as result,
          case when outcomes[g.place] <= 1 then 4 else 5 end::smallint as state
    ), old as (
      delete from task t using gone g where t.seq = any(array[g.seq])
        returning t.seq, t.id, t.class, t.priority, t.generation, t.registered, t.tags, t.expected, t.response_window,
          g.state, g.attempts, g.run, g.due, g.outcome, g.failure, g.result,
          case when g.outcome = 5 then g.response else with_response(g.response, g.response_time, t.response_window) end
            as response,
          case when g.state = 5 then to_jsonb(t) end as terms
    ), remembered as (
      insert into history (ended, seq, id, class, state, schedule, priority, stop, attempts, generation, run, registered,
          last_run, due, est, tags, response, failure, result, terms)
        select n, o.seq, o.id, o.class, o.state, 1, o.priority, stop_of(o.outcome), o.attempts, o.generation, o.run,
          o.registered, n, o.due, estimate(o.response, o.response_window, o.expected), o.tags, o.response,
          failure_of(o.outcome, o.failure), o.result, o.terms
        from old o where forgets is null or o.class <> all(forgets))
    select array_agg(g.run), array_agg(g.state), array_agg(g.due) into done_run, done_state, done_due from gone g;
  end if;
  -- The others: they go on, or end and leave a place or their id to somebody.
  if coalesce(cardinality(done_run), 0) < cardinality(mine) then
    with read as materialized (
      select distinct on (g.seq) g.seq, s.run, g.place, s.line, s.attempts, s.worker, s.schedule, s.last_run, s.due,
        outcomes[g.place] as outcome, outcomes[g.place] <= 1 as is_good, delays[g.place] as delay,
        failure_of(outcomes[g.place], failures[g.place]) as why,
        case when outcomes[g.place] = 5 then s.response
          else with_response(s.response, responses[g.place], t.response_window) end as response,
        t.response_window, t.expected, t.recurrence, t.period, t.anchor, t.backoff, t.backoff_delay, q.pace, q.backoff_max, q.jitter,
        s.schedule <> 0 and is_over(outcomes[g.place], s.attempts, s.max_attempts) as is_over
      from unnest(mine, places) g(seq, place) join slot s on s.seq = any(array[g.seq]) join task t on t.seq = any(array[s.seq])
        join class c on c.class = any(array[t.class]) join queue q on q.queue = any(array[c.queue])
      order by g.seq
    ), decided as materialized (
      select r.*, estimate(r.response, r.response_window, r.expected) as est, r.schedule = 1 and r.is_over as is_end,
        case when r.schedule = 1 and r.is_over then r.due
          when r.schedule = 2 and r.is_over then next_period(r.recurrence, r.period, r.anchor, n)
          else n + greatest(case when r.schedule = 0 then r.pace else 0 end,
            case when r.is_good or r.outcome = 3 then 0
              else greatest(coalesce(r.delay, backoff(r.backoff, r.backoff_delay, r.attempts, r.backoff_max, r.jitter, r.run)),
                case when r.outcome = 5 then backoff(2, 30000000000, r.attempts, greatest(r.backoff_max, 30000000000), 0, 0)
                  else 0 end) end) end
          as next_due,
        case when r.schedule = 1 and r.is_over then case when r.is_good then 4 else 5 end else 1 end::smallint as next_state
      from read r
    ), slots_go_on as (
      update slot s set state = case when d.is_end then 4 else 1 end, run = case when d.is_end then d.run else 0 end,
          decided = d.run, worker = case when d.is_end then d.worker else 0 end, last_run = n, due = d.next_due, est = d.est,
          line = (d.line & ~15) | (cost_class(d.est) << 1),
          attempts = case when d.is_end then d.attempts
            when d.is_over or (d.schedule = 0 and (d.is_good or d.outcome = 3)) then 0 else d.attempts end,
          stop = stop_of(d.outcome), failed_at = case when not d.is_good then n end, failure = d.why, response = d.response
        from decided d where s.seq = any(array[d.seq])
    ), periods as (
      update task t set period_base = n from decided d where t.seq = any(array[d.seq]) and d.schedule = 2 and d.is_over
    )
    select array_agg(d.run), array_agg(d.next_state), array_agg(d.next_due), array_agg(d.seq order by d.seq) filter (where d.is_end)
      into more_run, more_state, more_due, ends from decided d;
    done_run := done_run || more_run;
    done_state := done_state || more_state;
    done_due := done_due || more_due;
  end if;
  if ends is not null then
    for ended in
      select u.* from unnest(seqs, runs, outcomes, results) as u(seq, run, outcome, result)
      where u.seq = any(ends) and u.run = any(done_run) order by u.seq
    loop
      perform finish(ended.seq, case when ended.outcome <= 1 then 4 else 5 end, stop_of(ended.outcome), n, ended.result);
    end loop;
  end if;
  return query select u.run, true, u.state, u.due from unnest(done_run, done_state, done_due) u(run, state, due);
  if coalesce(cardinality(done_run), 0) < cardinality(runs) then
    perform come_back(runs);
    return query select u.run, false, null::smallint, null::bigint from unnest(seqs, runs) u(seq, run)
      where (done_run is null or u.run <> all(done_run)) and (waits or not exists (
        select 1 from slot s where s.seq = u.seq and s.run = u.run and s.state + 0 = 4));
  end if;
end $$;

-- Decides runs. Only one under which its task still runs counts; any other changes nothing (N9). Outcomes: 0 new data,
-- 1 no data, 2 failed, 3 abandoned, 4 expired, 5 interrupted: the process that a living node had given it to ended, as D3 has
-- it without a suspicion, since its node lives. A failure may bring its own delay, in nanoseconds, and say why; a success may
-- leave up to 64 kB (N27). Commits with the transaction that it is called in (N16).
create or replace function complete(
  seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[] default '{}', failures text[] default '{}',
  results bytea[] default '{}')
returns table (run bigint, counts boolean, state smallint, due bigint)
language plpgsql as $$
begin
  return query select d.run, d.counts, d.state, d.due
    from decide(seqs, runs, outcomes, responses, delays, failures, results, true) d;
end $$;

-- Runs whose record is gone are over: their ids are free again (C4).
create or replace function come_back(runs bigint[]) returns void language plpgsql as $$
declare ids text[];
begin
  with gone as (delete from stray s where s.run = any(runs) returning s.id) select array_agg(id) into ids from gone;
  if ids is null then return; end if;
  -- What somebody is at is free with the next beat.
  update slot set state = 1
    where seq = any(array(
      select s.seq from task t join slot s on s.seq = any(array[t.seq])
      where t.id = any(ids) and t.behind is null and s.state = 5 and not exists (select 1 from stray st where st.id = t.id)
      order by s.seq for update of s skip locked));
end $$;

-- Ids that were taken by a run that came back just while their records were registered are free, too.
create or replace function free_ids() returns void language plpgsql as $$
begin
  update slot set state = 1
    where seq = any(array(
      select s.seq from slot s join task t on t.seq = any(array[s.seq])
      where s.state = 5 and not exists (select 1 from stray st where st.id = t.id)
      order by s.seq limit 1000 for update of s skip locked));
end $$;

-- Gives runs back as they were before, without a sample: preempted, not begun, shut down (C8). Returns how many.
create or replace function release(seqs bigint[], runs bigint[]) returns bigint language plpgsql as $$
begin
  -- In order, so that two who do this wait for each other and not in a circle.
  perform 1 from slot s where s.seq = any(seqs) and s.run = any(runs) order by s.seq for update;
  return give_back(seqs, runs);
end $$;

-- The same, but of those that somebody else's transaction is at: they stay as they are.
create or replace function give_back(seqs bigint[], runs bigint[]) returns bigint language plpgsql as $$
declare given bigint;
begin
  perform durable();
  with mine as materialized (
    select s.seq from unnest(seqs, runs) u(seq, run)
      join slot s on s.seq = any(array[u.seq]) and s.run = u.run and s.state + 0 = 4
    order by u.seq for update of s skip locked)
  update slot s set state = 0, run = 0, worker = 0, attempts = s.attempts - 1, stop = 2, begun = null
    from mine m where s.seq = any(array[m.seq]);
  get diagnostics given = row_count;
  if given < cardinality(runs) then perform come_back(runs); end if;
  return given;
end $$;

-- What became of runs whose decision was not answered: 0 open, still yours; 1 decided; 2 not yours any more (N14).
create or replace function fate(seqs bigint[], runs bigint[], ids text[]) returns table (run bigint, fate int)
language plpgsql as $$
#variable_conflict use_column
begin
  return query select u.run, case when s.state = 4 and s.run = u.run then 0 when s.decided = u.run then 1
      when exists (select 1 from history h where h.id = any(array[u.id]) and h.run = u.run and h.state <> 6
        and h.taken_back is null) then 1 else 2 end
    from unnest(seqs, runs, ids) u(seq, run, id) left join slot s on s.seq = any(array[u.seq]);
end $$;

-- Which of these runs a worker has no longer, and why: the stop reason of the header.
create or replace function lost_runs(p_worker bigint, held bigint[]) returns table (run bigint, stop smallint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query select h.run, coalesce(st.stop, 7::smallint)
    from unnest(held) h(run) left join stray st on st.run = h.run
    where not exists (select 1 from slot s where s.worker = p_worker and s.state = 4 and s.run = h.run);
end $$;

-- One commit for what is over, what is given back and what comes next (N8). Rows of `what`: 0 a decision (state, and in `at`
-- when it is due again; without a state it was stale; no row: somebody else's transaction is at its record, ask `fate` and
-- say it again later), 1 a run, 2 a run of `held` that is no longer the worker's (its stop reason in state), 3 when the next
-- task is due (at), of those from `due_since` on, 4 how long the claim took (at), if that was 10 ms or more: then whoever looks
-- again from the beginning of lines waits twenty times as long (N7), 5 a run that was not given back, since somebody else's
-- transaction is at its record: say it again later.
create or replace function turn(
  worker bigint, seqs bigint[], runs bigint[], outcomes int[], responses bigint[], delays bigint[] default '{}',
  failures text[] default '{}', results bytea[] default '{}', back_seqs bigint[] default '{}', back_runs bigint[] default '{}',
  held bigint[] default '{}', classes int[] default '{}', lines int[] default '{}', since bigint[] default '{}',
  most int default 0, room bigint default 86400000000000, total bigint default 9223372036854775807,
  first boolean default false, due_since bigint default 0)
returns table (
  what int, run bigint, state int, at bigint, seq bigint, id text, handler text, class int, input bytea, est bigint,
  attempts int, generation int, line int, last_run bigint)
language plpgsql as $$
declare began timestamptz; took bigint;
begin
  if cardinality(runs) > 0 then
    return query select 0, c.run, c.state::int, c.due, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from decide(seqs, runs, outcomes, responses, delays, failures, results, false) c;
  end if;
  if cardinality(back_runs) > 0 then
    perform give_back(back_seqs, back_runs);
    return query select 5, s.run, null::int, null::bigint, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from unnest(back_seqs, back_runs) b(seq, run) join slot s on s.seq = any(array[b.seq]) and s.run = b.run
      where s.state + 0 = 4;
  end if;
  if cardinality(held) > 0 then
    return query select 2, l.run, l.stop::int, null::bigint, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from lost_runs(turn.worker, held) l;
  end if;
  if most > 0 then
    began := clock_timestamp();
    return query select 1, c.run, null::int, null::bigint, c.seq, c.id, c.handler, c.class, c.input, c.est, c.attempts,
        c.generation, c.line, c.last_run
      from claim(turn.worker, turn.classes, turn.lines, turn.since, most, room, total, first, due_since) c;
    return query select 3, null::bigint, null::int, d, null::bigint, null::text, null::text, null::int, null::bytea,
        null::bigint, null::int, null::int, null::int, null::bigint
      from next_due(due_since) d where d is not null;
    took := span_ns(clock_timestamp() - began);
    if took >= 10000000 then
      return query select 4, null::bigint, null::int, took, null::bigint, null::text, null::text, null::int, null::bytea,
          null::bigint, null::int, null::int, null::int, null::bigint;
    end if;
  end if;
  -- After all that asked for a durable commit, which one that has moved numbers on has to be.
  if (select w.relaxed and w.first_run = f.first_run from worker w, fleet f where w.worker = turn.worker) then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $$;

-- Nodes: leases, who may judge whom, and what becomes of the runs of the dead (N10 to N15, N30, N33, N34).

-- A new incarnation; `lease` in nanoseconds. Protocols are those that the node speaks; `protocol` is the newest that the fleet
-- speaks, too. Without any it is refused (SE019), and told which side is newer (N33). The turns of one that is `relaxed` are
-- committed without waiting for the disk: a crash of the server may lose the last of them (N34).
drop function if exists hello(text, bigint, text, int[], int[]);  -- as it was before
create or replace function hello(
  name text, lease bigint default 30000000000, version text default '', protocols int[] default '{1}', serves int[] default '{}',
  relaxed boolean default false)
returns table (worker bigint, protocol int, now bigint)
language plpgsql as $$
#variable_conflict use_column
declare f fleet; common int; n bigint; given bigint;
begin
  perform durable();
  perform check_name('name', hello.name);
  perform check_range('lease', hello.lease, 100000000, 3600000000000, ' ns');
  select * into f from fleet;
  select max(p) into common from unnest(protocols) p where p between f.oldest and f.protocol;
  if common is null then
    perform refuse(19, 'protocols', 'the fleet speaks ' || f.oldest
      || case when f.oldest < f.protocol then ' to ' || f.protocol else '' end || ', the node '
      || coalesce(nullif(array_to_string(protocols, ', '), ''), 'none') || ': '
      || case when f.oldest > all(protocols) then 'the fleet is newer' else 'the fleet is older' end);
  end if;
  f := follow_server();
  if hello.relaxed and not f.relaxed then
    update fleet set relaxed = true where not fleet.relaxed;
    insert into crash_mark default values on conflict do nothing;
  end if;
  n := now_ns();
  -- A fleet that nobody worked for has no partition of today.
  if pg_try_advisory_xact_lock(hashtext('selene keeping ' || current_schema())) then
    perform keep_history(n, hello.lease, false);
  end if;
  insert into worker (name, version, started, beaten, expires, ttl, steady, serves, relaxed, first_run)
    values (hello.name, hello.version, n, n, n + hello.lease, hello.lease, n, hello.serves, hello.relaxed, f.first_run)
    returning worker into given;
  perform serve(given, hello.serves, n);
  return query select given, common, n;
end $$;

create or replace function serve(p_worker bigint, p_serves int[], n bigint) returns void language plpgsql as $$
begin
  update worker set serves = p_serves where worker = p_worker and serves <> p_serves;
  update class c set served = n, served_by = w.name from worker w
    where w.worker = p_worker and c.class = any(array(
      select old.class from class old
      where old.class = any(p_serves) and (old.served is null or old.served < n - 30000000000) for no key update skip locked));
end $$;

-- The lease begins anew; `elapsed` is what the node's own clock ran since it sent its last beat, null if one was not answered
-- since, which may yet be made: then it judges nobody for a lease. `held` are all runs whose end the database may not know;
-- null says nothing of them. Rows of `what`: 0 the lease holds until `number`; 1 run `number` of `held` is no longer the node's,
-- for the stop reason `value`; 2 the clocks differ by `number`; 3 `number` runs were taken back from the dead; 4 the node is to
-- leave (N37). No row 0: the incarnation is over, say hello anew. One that `holds_all` takes nothing more: what it has here and
-- does not hold, since a claim was executed whose answer it never got, is as before the run (N14).
-- Who judges has beaten for a whole lease without a gap, and judges by the instant of its own beat (N11, N12). A gap is half a
-- lease: after an outage that was shorter everybody comes back before his lease is over.
drop function if exists beat(bigint, bigint, bigint[], int[], int[], bigint[], bigint[]);  -- as it was before
create or replace function beat(
  worker bigint, elapsed bigint, held bigint[] default null, serves int[] default null, mean_classes int[] default '{}',
  mean_counts bigint[] default '{}', mean_totals bigint[] default '{}', holds_all boolean default false)
returns table (what int, number bigint, value bigint)
language plpgsql as $$
#variable_conflict use_column
declare w worker; n bigint; gap bigint; taken bigint;
begin
  select * into w from worker me where me.worker = beat.worker for update;
  if not found then return; end if;
  n := now_ns();
  gap := n - w.beaten;
  if abs(gap - beat.elapsed) > w.ttl / 10 then
    w.steady := n;
    w.jumps := w.jumps + 1;
    return query select 2, gap - beat.elapsed, null::bigint;
  elsif beat.elapsed is null or gap > w.ttl / 2 then
    w.steady := n;
  end if;
  update worker me set beaten = n, expires = n + w.ttl, steady = w.steady, jumps = w.jumps where me.worker = beat.worker;
  return query select 0, n + w.ttl, w.ttl;
  if w.draining then return query select 4, 1::bigint, null::bigint; end if;
  if w.first_run < (follow_server()).first_run then perform keep_only(w, beat.held); end if;
  if beat.holds_all then
    perform give_back(array_agg(s.seq), array_agg(s.run)) from slot s
      where s.worker = beat.worker and s.state = 4 and s.run <> all(beat.held) having count(*) > 0;
  end if;
  if cardinality(beat.held) > 0 then
    return query select 1, l.run, l.stop::bigint from lost_runs(beat.worker, beat.held) l;
  end if;
  if pg_try_advisory_xact_lock(hashtext('selene keeping ' || current_schema())) then
    -- Before a record is locked: who waits for one may have the history.
    perform keep_history(n, w.ttl, w.steady <= n - w.ttl);
    -- What somebody's transaction keeps is for whoever beats later; this beat counts all the same.
    perform set_config('lock_timeout', '100ms', true);
    begin
      perform bring_back(n);
      if w.steady <= n - w.ttl then taken := reap(n); end if;
    exception when others then
      perform note_fault(sqlstate, sqlerrm, 'runs of the dead');
    end;
    begin
      perform promote();
      perform keep_places();
    exception when others then
      perform note_fault(sqlstate, sqlerrm, 'what is due or held');
    end;
    begin
      perform come_back(array(select run from stray where until <= n));
      perform free_ids();
    exception when others then
      perform note_fault(sqlstate, sqlerrm, 'ids of runs that have come back');
    end;
    if taken > 0 then return query select 3, taken, null::bigint; end if;
  end if;
  -- At the end, since a class is of many nodes; whatever somebody's transaction is at is left, which loses a sample at most.
  if beat.serves is not null then perform serve(beat.worker, beat.serves, n); end if;
  update class c set samples = least(c.samples, 1000) + m.count,
      mean = div(c.mean::numeric * least(c.samples, 1000) + m.total, least(c.samples, 1000) + m.count)::bigint
    from unnest(mean_classes, mean_counts, mean_totals) m(class, count, total)
    where c.class = m.class and m.count > 0
      and c.class = any(array(select o.class from class o where o.class = any(mean_classes) for no key update skip locked));
end $$;

-- What was committed last may be lost (N34): of the runs from before that a worker has here it keeps those that it says it
-- holds. Of the others it has told the end, or was never told; they are as before the run. It is done with once it holds none
-- that it has not: until then it may believe in runs that nobody here knows of.
create or replace function keep_only(w worker, held bigint[]) returns void language plpgsql as $$
declare seqs bigint[]; runs bigint[]; first constant bigint := (select f.first_run from fleet f);
begin
  select array_agg(s.seq), array_agg(s.run) into seqs, runs from slot s
    where s.worker = w.worker and s.state = 4 and s.run <= first and s.run <> all(held);
  perform set_config('lock_timeout', '100ms', true);
  if seqs is not null then perform release(seqs, runs); end if;
  update worker me set first_run = first
    where me.worker = w.worker and not exists (select 1 from lost_runs(w.worker, held));
exception when lock_not_available then return;  -- the next beat says so again
end $$;

-- Who has a beat from the future has had it before the clock was set back: its lease counts from now, which is never shorter
-- than it was (N12). Whoever beats just now brings himself back.
create or replace function bring_back(n bigint) returns void language plpgsql as $$
begin
  update worker w set beaten = n, expires = n + w.ttl
    from (select a.worker from worker a where a.beaten > n + a.ttl / 10 for update skip locked) ahead
    where w.worker = ahead.worker;
end $$;

-- Held records that a place was missed for (somebody was at them). What is held stays so where its queue holds no more.
create or replace function keep_places() returns void language plpgsql as $$
declare short record;
begin
  perform 1 from slot s where s.state = 2 and (s.line >> 4, s.seq) > (0, 0::bigint) order by s.line >> 4, s.seq limit 1;
  if not found then return; end if;
  for short in
    select p.queue, p.kind from pending p join queue q on q.queue = p.queue
    where p.pending < case p.kind when 1 then q.limit_refresh else q.limit_processing end order by p.queue, p.kind
    for update of p skip locked
  loop
    perform fill_places(short.queue, short.kind);
  end loop;
end $$;

-- Whether somebody is dead at n to one who is steady: no row, or a lease that is over (N10).
create or replace function is_dead(p_worker bigint, n bigint) returns boolean language plpgsql as $$
begin
  return not exists (select 1 from worker w where w.worker = p_worker and w.expires >= n);
end $$;

-- What housekeeping could not do, for `status`. A lock that somebody keeps is nothing to tell of: the next beat tries again.
create or replace function note_fault(state text, words text, what text) returns void language plpgsql as $$
begin
  if state in ('55P03', '40P01', '40001') then return; end if;
  update fleet set fault = what || ': ' || words, fault_at = now_ns()
    where is_here = any(array(select f.is_here from fleet f for no key update skip locked));
end $$;

-- Takes back what the dead ran, at most 1,000 of each (D3). Called by `beat` alone. One that cannot be taken back hides no other.
create or replace function reap(n bigint) returns bigint language plpgsql as $$
declare dead bigint; lost slot; count bigint := 0; kept int[] := '{}';
begin
  for dead in
    with recursive w (worker) as (
      (select s.worker from slot s where s.state = 4 order by s.worker limit 1)
      union all
      select (select s.worker from slot s where s.state = 4 and s.worker > w.worker order by s.worker limit 1)
      from w where w.worker is not null)
    select w.worker from w where w.worker is not null and is_dead(w.worker, n)
  loop
    for lost in
      select * from slot where worker = dead and state = 4 order by seq limit 1000 for update skip locked
    loop
      -- Of a class whose place somebody keeps the others have to wait for it, too.
      continue when lost.line >> 8 = any(kept);
      begin
        perform interrupt(lost, n);
        count := count + 1;
      exception when lock_not_available then
        kept := kept || (lost.line >> 8);
        perform set_config('lock_timeout', '1ms', true);
      when others then
        perform note_fault(sqlstate, sqlerrm, 'run ' || lost.run || ' of '
          || coalesce((select quote_literal(t.id) from task t where t.seq = lost.seq), 'a task'));
      end;
    end loop;
  end loop;
  perform come_back(array(select st.run from stray st where is_dead(st.worker, n) order by st.worker));
  delete from worker w where is_dead(w.worker, n) and not exists (select 1 from slot s where s.worker = w.worker and s.state = 4);
  return count;
end $$;

-- Its process ended while it ran: a failed attempt without a sample, a pause of at least 30 s that doubles, and it is a
-- suspect (D3, N15).
create or replace function interrupt(s slot, n bigint) returns void language plpgsql as $$
declare
  t task; q queue; words constant text := failure_of(5, null);
  is_over constant boolean := s.schedule <> 0 and is_over(5, s.attempts, s.max_attempts);
begin
  select * into t from task where seq = s.seq;
  select own.* into q from class c join queue own on own.queue = c.queue where c.class = t.class;
  if is_over and s.schedule = 1 then
    update slot set last_run = n, failed_at = n, failure = words where seq = s.seq;
    perform finish(s.seq, 5, 7, n);
    update history h set taken_back = true where h.id = t.id and h.ended = n and h.seq = s.seq;
    return;
  end if;
  if is_over then update task set period_base = n where seq = s.seq; end if;
  update slot set state = 1, run = 0, worker = 0, last_run = n, stop = 7, failed_at = n, failure = words, line = s.line | 1,
      attempts = case when is_over then 0 else s.attempts end,
      due = case when is_over then next_period(t.recurrence, t.period, t.anchor, n)
        else n + greatest(case when s.schedule = 0 then q.pace else 0 end,
                          backoff(t.backoff, t.backoff_delay, s.attempts, q.backoff_max, q.jitter, s.run),
                          backoff(2, 30000000000, s.attempts, greatest(q.backoff_max, 30000000000), 0, 0)) end
    where seq = s.seq;
end $$;

-- The incarnation ends in order: what it still has is given back as before the run (N14). Returns how many.
create or replace function bye(worker bigint) returns bigint language plpgsql as $$
#variable_conflict use_column
declare seqs bigint[]; runs bigint[]; given bigint := 0;
begin
  select array_agg(s.seq), array_agg(s.run) into seqs, runs from slot s where s.worker = bye.worker and s.state = 4;
  if seqs is not null then given := release(seqs, runs); end if;
  perform come_back(array(select run from stray st where st.worker = bye.worker));
  delete from worker w where w.worker = bye.worker;
  return given;
end $$;

-- Emptying a machine: a node takes nothing more, ends what it runs, and is gone (N37).

-- Asks the nodes of a name, which hear it with their next beat. How many there are; who says hello later is not meant.
create or replace function drain(node text) returns bigint language plpgsql as $$
#variable_conflict use_column
declare count bigint;
begin
  perform durable();
  perform 1 from worker w where w.name = drain.node order by w.worker for update;
  update worker w set draining = true where w.name = drain.node;
  get diagnostics count = row_count;
  if count = 0 then perform refuse(21, 'node', quote_literal(drain.node) || ' is not there'); end if;
  return count;
end $$;

-- Looking: never at inputs, never at more than a page; counts stop at 10,000 (N31, N35).

create or replace function state_name(state int) returns text language sql immutable as $$
  select (array['enqueued', 'enqueued', 'held', 'blocked', 'running', 'enqueued'])[state + 1] $$;
create or replace function end_name(state int) returns text language sql immutable as $$
  select (array['succeeded', 'failed', 'cancelled'])[state - 3] $$;
create or replace function stop_name(stop int) returns text language sql immutable as $$
  select (array['expiring', 'preempted', 'constraint_lost', 'replaced', 'cancelled', 'shutdown', 'interrupted'])[stop] $$;
create or replace function constraints_in(bits int) returns text[] language sql immutable as $$
  select coalesce(array_agg(name order by place), '{}')
  from unnest(array['network', 'external_power', 'unmetered', 'battery_not_low', 'idle', 'storage_not_low', 'display_off',
    'not_roaming']) with ordinality as n(name, place) where bits & (1 << (place::int - 1)) <> 0 $$;
-- At most three names, and whether there are more; null: none.
create or replace function some_of(names text[]) returns text language sql immutable as $$
  select nullif(array_to_string(names[:3], ', '), '') || case when cardinality(names) > 3 then ', …' else '' end $$;
-- What no node has that could run a class: in the words of `explain` and of `status`.
create or replace function lacking(handler text, labels text[], constraints int) returns text language sql immutable as $$
  select 'no node has handler ' || quote_literal(handler) || coalesce(' with ' || nullif(concat_ws(' and ',
    nullif(array_to_string(labels, ', '), ''), nullif(array_to_string(constraints_in(constraints), ', '), '')), ''), '') $$;

create or replace view live as
  select t.seq, t.id, q.name as queue, (array['refresh', 'processing'])[c.kind] as kind, c.handler, c.labels,
    constraints_in(c.constraints) as requires, (array['standing', 'once', 'periodic'])[t.schedule + 1] as schedule, t.priority,
    case when t.behind is null then state_name(s.state) else 'blocked' end as state, coalesce(s.attempts, 0) as attempts,
    t.max_attempts, instant(coalesce(s.due, t.anchor)) as earliest_begin, instant(coalesce(s.last_run, t.registered)) as last_run,
    span(coalesce(s.est, t.expected)) as estimate, t.generation, coalesce(cardinality(s.response), 0) as runs, t.tags,
    instant(t.registered) as registered, w.name as node, nullif(s.run, 0) as run, s.line & 1 = 1 as suspect,
    stop_name(s.stop) as stop, s.failure, instant(case when s.state = 4 then s.begun end) as begun
  from task t join class c on c.class = t.class join queue q on q.queue = c.queue left join slot s on s.seq = t.seq
    left join worker w on w.worker = s.worker;

create or replace view ended as
  select h.seq, h.id, q.name as queue, (array['refresh', 'processing'])[c.kind] as kind, c.handler, c.labels,
    constraints_in(c.constraints) as requires, (array['standing', 'once', 'periodic'])[h.schedule + 1] as schedule, h.priority,
    end_name(h.state) as state, h.attempts, instant(h.due) as earliest_begin, instant(h.last_run) as last_run,
    span(h.est) as estimate, h.generation, coalesce(cardinality(h.response), 0) as runs, h.tags,
    instant(h.registered) as registered, instant(h.ended) as ended, nullif(h.run, 0) as run, stop_name(h.stop) as stop, h.failure
  from history h join class c on c.class = h.class join queue q on q.queue = c.queue;

create or replace view nodes as
  select w.worker, w.name, w.version, instant(w.started) as started, instant(w.beaten) as beaten, instant(w.expires) as expires,
    span(w.ttl) as lease, w.expires >= now_ns() and w.beaten <= now_ns() + w.ttl / 10 as alive, w.jumps, w.serves,
    w.draining, w.relaxed
  from worker w;

-- One record: the live one of an id, else the last. No row: the id is not registered.
create or replace function get(text) returns table (
  seq bigint, id text, queue text, kind text, handler text, labels text[], requires text[], schedule text, priority smallint,
  state text, attempts int, earliest_begin timestamptz, last_run timestamptz, estimate interval, generation int, runs int,
  tags text[], registered timestamptz, ended timestamptz, node text, run bigint, stop text, failure text, appended bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query select l.seq, l.id, l.queue, l.kind, l.handler, l.labels, l.requires, l.schedule, l.priority, l.state, l.attempts,
      l.earliest_begin, l.last_run, l.estimate, l.generation, l.runs, l.tags, l.registered, null::timestamptz, l.node, l.run,
      l.stop, l.failure, (select count(*) from task b where b.id = $1 and b.behind is not null)
    from task t cross join lateral (select v.* from live v where v.seq = t.seq offset 0) l where t.id = $1 and t.behind is null;
  if found then return; end if;
  return query select e.seq, e.id, e.queue, e.kind, e.handler, e.labels, e.requires, e.schedule, e.priority, e.state, e.attempts,
      e.earliest_begin, e.last_run, e.estimate, e.generation, e.runs, e.tags, e.registered, e.ended, null::text, e.run, e.stop,
      e.failure, 0::bigint
    from ended e where e.id = $1 order by e.ended desc, e.seq desc limit 1;
end $$;

-- The numbers of a page of live records, in order, from indexes that hold little else: of a rare state, or of a queue's classes.
create or replace function live_page(mine int[], state text, after bigint, most int) returns bigint[] language plpgsql
set enable_bitmapscan = off as $$
#variable_conflict use_variable
begin
  case when live_page.state = 'running' then return array(
      select s.seq from slot s where s.state = 4 and s.seq + 0 > after and (mine is null or s.line >> 8 = any(mine))
      order by s.seq + 0 limit most);
    when live_page.state = 'held' then return array(
      select s.seq from slot s where s.state + 0 = 2 and s.seq > after and (mine is null or s.line >> 8 = any(mine))
      order by s.seq limit most);
    when live_page.state = 'blocked' then return array(
      select t.seq from task t where t.behind is not null and t.seq > after and (mine is null or t.class = any(mine))
      order by t.seq limit most);
    when cardinality(mine) <= 100 then return array(
      select o.seq from unnest(mine) m(class) cross join lateral (
        select t.seq from task t
        where t.class > 0 and (t.class, t.seq) > (m.class, after) and t.class <= m.class and (live_page.state is null
          or case when t.behind is null then (select state_name(s.state) from slot s where s.seq = t.seq) else 'blocked' end
            = live_page.state)
        order by t.class, t.seq limit most) o
      order by o.seq limit most);
    else return array(
      select t.seq from task t
      where t.seq > after and (mine is null or t.class = any(mine)) and (live_page.state is null
        or case when t.behind is null then (select state_name(s.state) from slot s where s.seq = t.seq) else 'blocked' end
          = live_page.state)
      order by t.seq limit most);
  end case;
end $$;

-- A page of live records by number: those after `after`.
create or replace function list(
  queue text default null, state text default null, tag text default null, after bigint default 0, most int default 100)
returns setof live language plpgsql as $$
#variable_conflict use_column
declare
  page bigint[]; mine constant int[] := classes_of(list.queue);
begin
  -- Which ones, one after the other by number, and then what they are: no plan turns that round.
  if list.tag is null then
    page := live_page(mine, list.state, list.after, least(list.most, 1000));
  else
    page := array(
      select t.seq from task t
      where t.tags @> array[list.tag] and t.seq + 0 > list.after and (mine is null or t.class = any(mine))
        and (list.state is null
          or case when t.behind is null then (select state_name(s.state) from slot s where s.seq = t.seq) else 'blocked' end
            = list.state)
      order by t.seq + 0 limit least(list.most, 1000));
  end if;
  return query select l.* from unnest(page) with ordinality p(seq, place)
    cross join lateral (select v.* from live v where v.seq = p.seq offset 0) l order by p.place;
end $$;

-- What a task left at its last success (N27); null: nothing, or no longer known.
create or replace function result(id text) returns bytea language plpgsql as $$
begin
  return (last_of(result.id)).result;
end $$;

-- How many ready tasks of the same queue and kind come before a record, at most 10,000.
create or replace function rank_of(s slot, n bigint) returns bigint language plpgsql as $$
begin
  return (select count(*) from (
    select 1 from class mine join class c on c.queue = mine.queue and c.kind = mine.kind
      cross join generate_series(1, 5) priority cross join generate_series(0, 15) rest cross join lateral (
        select 1 from slot o where o.line = ((c.class << 8) | (priority << 4) | rest) and o.state = 0 and o.last_run <=
          n - div((s.line >> 4 & 15)::numeric * (n - s.last_run), priority)::bigint
        and (priority::numeric * (n - o.last_run), priority, -o.seq)
          > ((s.line >> 4 & 15)::numeric * (n - s.last_run), s.line >> 4 & 15, -s.seq)
        limit 10000) before
    where mine.class = s.line >> 8 limit 10000) counted);
end $$;

-- Every reason why a live task does not run now, in words, with the instant at which it may change (C15).
create or replace function reasons(t task, s slot, n bigint) returns table (reason text, detail text, until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare c class; q queue;
begin
  if t.behind is not null then
    return query select 'blocked'::text, 'it waits behind the live task of its id', null::timestamptz;
    return;
  end if;
  select * into c from class where class = t.class;
  select * into q from queue where queue = c.queue;
  if s.state = 4 then
    return query select 'running'::text, 'claimed as run ' || s.run || ' by '
      || coalesce((select w.name from worker w where w.worker = s.worker), 'a node that is gone') || ', attempt ' || s.attempts,
      null::timestamptz;
    return;
  end if;
  if s.state = 2 then
    return query select 'held'::text, 'the limit of its queue is reached', null::timestamptz;
  end if;
  if s.state = 5 then
    return query select 'still_running'::text, 'the run of the record before it has not come back',
      (select instant(min(st.until)) from stray st where st.id = t.id);
  end if;
  if s.due > n then
    return query select 'not_due'::text, case when s.stop = 7 and s.line & 1 = 1 then 'its node ended while it ran; it waits'
        when s.attempts > 0 then 'attempt ' || s.attempts || ' failed' || coalesce(': ' || s.failure, '') || '; it waits'
        else 'it waits' end, instant(s.due);
  end if;
  if q.paused_until > n then
    return query select 'queue_paused'::text, 'queue ' || quote_literal(q.name) || ' is paused',
      case when q.paused_until < 9223372036854775807 then instant(q.paused_until) end;
  end if;
  if not exists (select 1 from worker w where c.class = any(w.serves) and w.expires >= n) then
    return query select 'no_node'::text, lacking(c.handler, c.labels, c.constraints)
      || coalesce('; last ' || c.served_by || ', ' || span_words(n - c.served) || ' ago', ''), null::timestamptz;
    return;
  end if;
  if s.line & 1 = 1 then
    return query select 'suspect'::text, 'its node ended while it ran; it runs alone', null::timestamptz;
  end if;
  if s.state <= 1 and s.due <= n then
    return query select 'ready'::text, 'for ' || span_words(n - greatest(s.due, s.last_run)), null::timestamptz;
  end if;
end $$;

-- For whom nothing is claimed after a crash or a failover (N34), in words; null: for nobody.
create or replace function unheard() returns text language plpgsql as $$
begin
  return 'the server crashed: nothing is claimed until these nodes have said what they run, or are taken for dead: '
    || some_of(array(select w.name from worker w, fleet f where w.relaxed and w.first_run < f.first_run order by w.name
      limit 4));
end $$;

-- Which nodes take nothing, since no window for any task that is known was opened there yet, in words; null: none.
create or replace function idle() returns text language plpgsql as $$
begin
  return some_of(array(select d.name from nodes d where d.alive and cardinality(d.serves) = 0 and not d.draining order by d.name
    limit 4)) || ': no window was opened there yet, or no handler for any task is there';
end $$;

-- The same of an id, with its rank; of one that has ended, how.
create or replace function explain(id text) returns table (reason text, detail text, until timestamptz) language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); t task; s slot; h history; rank bigint;
begin
  select * into t from task where id = explain.id and behind is null;
  if not found then
    h := last_of(explain.id);
    if h.seq is null then perform refuse(21, 'id', quote_literal(explain.id) || ' is not registered'); end if;
    return query select end_name(h.state), 'it ended at ' || instant(h.ended) || ' after ' || h.attempts
      || case h.attempts when 1 then ' attempt' else ' attempts' end || coalesce(': ' || h.failure, ''), null::timestamptz;
    return;
  end if;
  select * into s from slot where seq = t.seq;
  for reason, detail, until in select r.reason, r.detail, r.until from reasons(t, s, n) r loop
    if reason = 'ready' then
      rank := rank_of(s, n);
      detail := detail || ', ' || rank || case when rank >= 10000 then ' or more' else '' end || ' before it'
        || coalesce('; ' || unheard(), '');
    end if;
    if reason = 'no_node' then detail := detail || coalesce('; ' || idle(), ''); end if;
    return next;
  end loop;
end $$;

-- What people want to know of a fleet; `alarm` is true where somebody should look (N35).
create or replace function status() returns table (item text, value text, alarm boolean) language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns(); count bigint; age interval;
begin
  return query select 'protocol'::text, f.protocol::text, false from fleet f;
  return query select 'timeline'::text, coalesce(f.timeline, server_timeline(), 'hidden')
      || coalesce(', a failover since ' || instant(f.failed_over) || ': what was committed last may be lost', ''),
    coalesce(f.failed_over > n - 86400000000000, false) from fleet f;
  select count(*) into count from nodes d where d.alive and d.relaxed;
  return query select 'durability'::text, 'synchronous_commit is ' || current_setting('synchronous_commit')
      || case when count > 0 then ', turns of ' || count || ' relaxed nodes wait for no disk' else '' end,
    current_setting('synchronous_commit') = 'off';
  return query
    select 'nodes'::text, count(*) filter (where d.alive) || ' alive, ' || count(*) filter (where not d.alive) || ' gone', false
    from nodes d;
  return query select 'clock of ' || d.name, d.jumps || ' jumps', true from nodes d where d.jumps > 2 and d.alive;
  return query select 'crash'::text, u, true from unheard() u where u is not null;
  -- Each state as a constant, since only that is in an index.
  for item, count in
    select 'ready', (select count(*) from (select 1 from slot s where s.state = 0 limit 10000) c)
    union all select 'waiting', (select count(*) from (select 1 from slot s where s.state = 1 limit 10000) c)
    union all select 'held', (select count(*) from (select 1 from slot s where s.state = 2 limit 10000) c)
    -- Of what a worker has claimed it alone knows which has begun.
    union all select 'claimed', (select count(*) from (select 1 from slot s where s.state = 4 limit 10000) c)
  loop
    value := case when count >= 10000 then '10000+' else count::text end;
    alarm := false;
    return next;
  end loop;
  return query select 'queue ' || q.name, 'oldest ready for ' || span_words(n - o.since), n - o.since > 3600000000000
    from queue q cross join lateral (
      select min(h.last_run) as since from class c cross join lateral unnest(lines_of(array[c.class])) l(line)
        cross join lateral (select s.last_run from slot s where s.line = l.line and s.state = 0 order by s.last_run limit 1) h
      where c.queue = q.queue) o
    where o.since is not null and q.paused_until <= n;
  return query select 'queue ' || q.name, 'paused', false from queue q where q.paused_until > n;
  return query select 'queue ' || q.name || ', ' || (array['refresh', 'processing'])[c.kind],
      lacking(c.handler, c.labels, c.constraints), true
    from class c join queue q on q.queue = any(array[c.queue])
    where cardinality(lines_of(array[c.class])) > 0 and not exists (
      select 1 from worker w where c.class = any(w.serves) and w.expires >= n);
  if found then return query select 'idle nodes'::text, i, true from idle() i where i is not null; end if;
  select count(*) into count from (select 1 from slot s where s.line & 1 = 1 and s.state in (0, 1, 4) and s.stop = 7 limit 100) c;
  return query select 'suspects'::text, case when count >= 100 then '100+' else count::text end, count > 0;
  select count(*) into count from (select 1 from history h where h.state = 5 limit 10000) c;
  return query select 'failed'::text, case when count >= 10000 then '10000+' else count::text end, false;
  -- When the transactions of others began only a member of pg_read_all_stats is told, but how many came after them anybody.
  select max(clock_timestamp() - a.xact_start), max(age(a.backend_xmin)) filter (where a.xact_start is null)
    into age, count from pg_stat_activity a where a.backend_xmin is not null;
  return query select 'oldest snapshot'::text, span_words(coalesce(span_ns(age), 0))
      || coalesce(', that of others ' || count || ' transactions: grant pg_read_all_stats to ' || quote_ident(current_user)
        || ' tells since when', ''),
    coalesce(age > interval '10 minutes', false) or coalesce(count > 1000000, false);
  select n_dead_tup into count from pg_stat_all_tables where relid = 'slot'::regclass;
  return query select 'dead rows of slot'::text, count::text, count > 100000;
  -- Beats look after the history; a fleet that nobody works for needs none.
  return query select 'history'::text,
      coalesce('last looked after ' || span_words(n - nullif(f.kept_whole, 0)) || ' ago', 'not looked after yet')
        || coalesce(': ' || f.keeping_fault, ''),
      f.keeping_fault is not null and f.kept_whole < n - 3600000000000
    from fleet f;
  return query select 'housekeeping'::text, coalesce(f.fault || ', ' || span_words(n - f.fault_at) || ' ago', 'as it should be'),
      coalesce(f.fault_at > n - 7200000000000, false)
    from fleet f;
  return query select 'partitions'::text, 'partition of ' || (timestamp 'epoch' + day * interval '1 day')::date
      || ' is missing: partitions(), or pyselene fleet prune, makes it', true
    from generate_series(n / 86400000000000, n / 86400000000000 + 1) day where to_regclass(quote_ident(partition_name(day))) is null
      and exists (select 1 from nodes d where d.alive);
end $$;

-- What a board for people shows: pages of each state in the order in which one asks, queues, nodes. Every statement stops
-- after so many rows, however many there are (N31).

-- Classes of a queue; null for those of every queue.
create or replace function classes_of(queue text) returns int[] language plpgsql as $$
#variable_conflict use_column
begin
  if classes_of.queue is null then return null; end if;
  return coalesce((select array_agg(c.class) from class c join queue q on q.queue = c.queue where q.name = classes_of.queue), '{}');
end $$;

-- Records that are in a state, in the order of `board`, from a place on: at most so many are looked at.
create or replace function looked(number int, mine int[], prefix text, a bigint, b bigint, size bigint)
returns table (seq bigint, class int, place bigint[], nth bigint) language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns();
begin
  case number
    when 0 then return query
      select s.seq, s.line >> 8, array[s.worker, s.seq], row_number() over (order by s.worker, s.seq) from slot s
      where s.state = 4 and s.worker >= a and (s.worker > a or s.seq > b) order by s.worker, s.seq limit size;
    when 1 then return query
      with head as (
        select h.line, h.seq, h.last_run, h.line >> 4 & 15 as priority
        from unnest(lines_of(coalesce(mine, (select array_agg(c.class) from class c)))) l(line) cross join lateral (
          select s.line, s.seq, s.last_run from slot s where s.line = l.line and s.state = 0
          order by s.last_run, s.seq limit a + size) h
      ), ranked as (
        select h.seq, h.line, row_number() over (
          order by h.priority * least(greatest(n - h.last_run, 0), 1800000000000000000) desc, h.priority desc, h.seq) as nth
        from head h)
      select r.seq, r.line >> 8, array[r.nth], r.nth from ranked r where r.nth > a order by r.nth limit size;
    when 2 then return query
      select s.seq, s.line >> 8, array[s.due, s.seq], row_number() over (order by s.due, s.seq) from slot s
      where s.state = 1 and s.due >= a and (s.due > a or s.seq > b) order by s.due, s.seq limit size;
    when 3 then return query
      select s.seq, s.line >> 8, array[s.line >> 4, s.seq], row_number() over (order by s.line >> 4, s.seq) from slot s
      where s.state = 2 and s.line >> 4 >= a and (s.line >> 4 > a or s.seq > b) order by s.line >> 4, s.seq limit size;
    when 4 then return query
      select t.seq, t.class, array[t.seq], row_number() over (order by t.id, t.seq) from task t
      where t.behind is not null order by t.id, t.seq limit size;
    when 5 then return query
      select s.seq, s.line >> 8, array[s.seq], row_number() over (order by s.seq) from slot s
      where s.line & 1 = 1 and s.seq > a order by s.seq limit size;
    else
      if prefix is null then return query
        select t.seq, t.class, array[t.seq], row_number() over (order by t.seq) from task t
        where t.seq > a order by t.seq limit size;
      else return query
        select l.seq, l.class, array[l.nth], l.nth from (
          select t.seq, t.class, t.id, row_number() over (order by t.id) as nth from task t
          where t.behind is null and t.id >= prefix order by t.id limit size) l
        where starts_with(l.id, prefix);
      end if;
  end case;
end $$;

-- A page of the live records that are in a state, with why they do not run. States and their order: `running` by node,
-- `ready` by rank (the first 10,000), `waiting` by earliest begin, `held` by priority, `blocked` by id (the first 10,000),
-- `suspect` and `live`, which is all of them, by number; with `prefix` those of `live` whose id begins so, by id, among the
-- 10,000 that follow it. `after` is the place of the last row of the page before. Of one queue 10,000 records at a time are
-- looked through: a last row without an id says from where to look on.
create or replace function board(
  which text, of_queue text default null, prefix text default null, most int default 50, after bigint[] default null)
returns table (
  place bigint[], seq bigint, id text, queue text, kind text, handler text, labels text[], schedule text, priority smallint,
  state text, attempts int, max_attempts int, every interval, earliest_begin timestamptz, last_run timestamptz,
  estimate interval, tags text[], registered timestamptz, node text, run bigint, begun timestamptz, suspect boolean, failure text, reasons jsonb)
language plpgsql as $$
#variable_conflict use_column
declare
  n constant bigint := now_ns(); most constant bigint := least(board.most, 1000);
  number constant int := word_number('which', board.which, array[
    'running', 'ready', 'waiting', 'held', 'blocked', 'suspect', 'live']);
  mine constant int[] := classes_of(board.of_queue);
  -- Where the order is no index's, what is not wanted is not looked at.
  is_narrow constant boolean := number in (0, 2, 3, 4, 5, 6) and (mine is not null or prefix is not null);
begin
  perform check_range('most', board.most, 1, 1000);
  if number = 1 then perform check_range('after', coalesce(board.after[1], 0), 0, 9000); end if;
  return query
    with l as materialized (
      select * from looked(number, mine, board.prefix, coalesce(board.after[1], case number when 1 then 0 else -1 end),
        coalesce(board.after[2], -1), case when is_narrow then 10000 else most end)
    ), f as (
      select l.* from l where mine is null or l.class = any(mine) order by l.nth limit most
    ), p as (
      select f.seq, f.place, f.nth from f
      union all
      select null, l.place, l.nth from l
      where l.nth = 10000 and number not in (1, 4) and board.prefix is null and (select count(*) from f) < most)
    select p.place, t.seq, t.id, q.name, (array['refresh', 'processing'])[c.kind], c.handler, c.labels,
      (array['standing', 'once', 'periodic'])[t.schedule + 1], t.priority,
      case when t.behind is null then state_name(s.state) else 'blocked' end, coalesce(s.attempts, 0), t.max_attempts,
      case when t.schedule = 2 then span(t.period) end, instant(coalesce(s.due, t.anchor)),
      instant(coalesce(s.last_run, t.registered)), span(coalesce(s.est, t.expected)),
      t.tags, instant(t.registered), w.name, nullif(s.run, 0), instant(case when s.state = 4 then s.begun end),
      coalesce(s.line & 1 = 1, false), s.failure,
      case when t.seq is not null then (
        select jsonb_agg(jsonb_build_object('reason', r.reason, 'detail', r.detail, 'until', r.until)) from reasons(t, s, n) r)
      end
    from p left join task t on t.seq = any(array[p.seq]) left join class c on c.class = any(array[t.class])
      left join queue q on q.queue = any(array[c.queue]) left join slot s on s.seq = any(array[t.seq])
      left join worker w on w.worker = any(array[s.worker]) and s.worker <> 0
    where p.seq is null or t.seq is not null order by p.nth;
end $$;

-- A page of what has ended, the last ones first: in one state (succeeded, failed, cancelled) or, by default, in any. `after`
-- and a queue are those of `board`. Only what failed can be tried again, once its id is free.
create or replace function last_ended(
  which text default null, of_queue text default null, most int default 50, after bigint[] default null)
returns table (
  place bigint[], seq bigint, id text, queue text, kind text, handler text, schedule text, priority smallint, state text,
  attempts int, tags text[], registered timestamptz, ended timestamptz, run bigint, stop text, failure text, can_retry boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  mine constant int[] := classes_of(last_ended.of_queue); most constant bigint := least(last_ended.most, 1000);
  states int[] := '{4,5,6}'; size bigint;
begin
  perform check_range('most', last_ended.most, 1, 1000);
  if last_ended.which is not null then
    states := array[4 + word_number('which', last_ended.which, array['succeeded', 'failed', 'cancelled'])];
  end if;
  size := case when mine is null then most else 10000 end;
  return query
    with l as materialized (
      select o.*, row_number() over (order by o.ended desc, o.seq desc) as nth
      from unnest(states) wanted cross join lateral (
        select h.* from history h
        where h.state = wanted and h.ended <= coalesce(last_ended.after[1], 9223372036854775807)
          and (h.ended < coalesce(last_ended.after[1], 9223372036854775807) or h.seq < last_ended.after[2])
        order by h.ended desc, h.seq desc limit size) o
      order by o.ended desc, o.seq desc limit size
    ), f as (
      select l.* from l where mine is null or l.class = any(mine) order by l.nth limit most
    ), p as (
      select f.*, f.id as shown from f
      union all
      select l.*, null from l where l.nth = 10000 and (select count(*) from f) < most)
    select array[p.ended, p.seq], p.seq, p.shown, q.name, (array['refresh', 'processing'])[c.kind], c.handler,
      (array['standing', 'once', 'periodic'])[p.schedule + 1], p.priority, end_name(p.state), p.attempts, p.tags,
      instant(p.registered), instant(p.ended), nullif(p.run, 0), stop_name(p.stop), p.failure,
      p.state = 5 and p.terms is not null and not exists (select 1 from task t where t.id = any(array[p.id]) and t.behind is null)
    from p join class c on c.class = any(array[p.class]) join queue q on q.queue = any(array[c.queue]) order by p.nth;
end $$;

-- One queue, or those after `after` by name: whether they are paused, what is ready (counted to 10,000) and for how long, and
-- what `set_queue` sets.
do $$
begin
  if exists (select 1 from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace
    and p.proname = 'queues' and not 'max_input' = any(p.proargnames)) then
    drop function queues(text, text, int);
  end if;
end $$;
create or replace function queues(of_name text default null, after text default '', most int default 100)
returns table (
  queue text, paused boolean, paused_until timestamptz, ready bigint, oldest interval, limit_refresh int, pending_refresh bigint,
  limit_processing int, pending_processing bigint, holds boolean, pace interval, retention interval, backoff_min interval,
  backoff_max interval, jitter int, max_input int)
language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns();
begin
  return query
    select q.name, q.paused_until > n,
      case when q.paused_until > n and q.paused_until < 9223372036854775807 then instant(q.paused_until) end,
      (select count(*) from (
        select 1 from unnest(l.lines) x(line) cross join lateral (
          select 1 from slot s where s.line = x.line and s.state = 0 limit 10000) o limit 10000) counted),
      (select span(n - min(o.last_run)) from unnest(l.lines) x(line) cross join lateral (
        select s.last_run from slot s where s.line = x.line and s.state = 0 order by s.last_run limit 1) o),
      q.limit_refresh, (select p.pending from pending p where p.queue = q.queue and p.kind = 1),
      q.limit_processing, (select p.pending from pending p where p.queue = q.queue and p.kind = 2),
      q.holds, span(q.pace), span(q.retention), span(q.backoff_min), span(q.backoff_max), q.jitter, q.max_input
    from queue q cross join lateral (
      select lines_of(coalesce((select array_agg(c.class) from class c where c.queue = q.queue), '{}')) as lines) l
    where case when queues.of_name is null then q.name > queues.after else q.name = queues.of_name end
    order by q.name limit least(queues.most, 1000);
end $$;

-- Nodes, those that are alive first, with what they run (counted to 10,000), 20 of the handlers that they serve, and whether
-- they were asked to leave.
do $$
begin
  if exists (select 1 from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace
    and p.proname = 'workers' and not 'draining' = any(p.proargnames)) then
    drop function workers(int);
  end if;
end $$;
create or replace function workers(most int default 100)
returns table (
  worker bigint, name text, version text, started timestamptz, beaten timestamptz, expires timestamptz, lease interval,
  alive boolean, jumps int, runs bigint, handlers text[], draining boolean)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
    select d.worker, d.name, d.version, d.started, d.beaten, d.expires, d.lease, d.alive, d.jumps,
      (select count(*) from (select 1 from slot s where s.worker = d.worker and s.state = 4 limit 10000) counted),
      array(select distinct c.handler from class c where c.class = any(d.serves) order by c.handler limit 20), d.draining
    from nodes d order by d.alive desc, d.name, d.worker limit least(workers.most, 1000);
end $$;

-- How often what happened, as far as numbers tell: tasks that were registered and runs that began, ever; and of what ended
-- after `ended`, at most 100,000 of each state, how many, and up to when. Decisions of the last seconds may still be on
-- their way, so it looks up to five seconds ago.
create or replace function counters(ended bigint[] default null)
returns table (registered bigint, runs bigint, succeeded bigint, failed bigint, cancelled bigint, upto bigint[])
language plpgsql as $$
#variable_conflict use_column
declare n constant bigint := now_ns() - 5000000000; number int; count bigint; last bigint; counts bigint[]; ends bigint[];
begin
  for number in 4..6 loop
    select count(*), max(e.ended) into count, last from (
      select h.ended from history h
      where h.state = number and h.ended > coalesce(counters.ended[number - 3], n) and h.ended <= n order by h.ended limit 100000) e;
    counts := counts || count;
    ends := ends || case when count = 100000 then last else greatest(n, counters.ended[number - 3]) end;
  end loop;
  -- After a failover the numbers of runs go on 2^32 further (N34).
  return query select coalesce(pg_sequence_last_value(pg_get_serial_sequence('task', 'seq')), 0),
    coalesce(pg_sequence_last_value('run_number'), 0) % 4294967296, counts[1], counts[2], counts[3], ends;
end $$;

-- Who may call what (N32), and plans that no statistics decide (N6): here once for all functions, so none is forgotten.
-- A role is the schema's name with what it may do. Tables are granted to nobody.

do $$
declare
  fleet constant text := current_schema();
  callable constant jsonb := '{
    "enqueue": ["register", "try_register", "register_batch", "update_task", "cancel", "cancel_tag", "retry", "run_now", "result", "wake"],
    "work": ["hello", "beat", "bye", "turn", "claim", "complete", "release", "promote", "fate", "classes"],
    "look": ["get", "list", "explain", "status", "board", "last_ended", "queues", "workers", "counters", "classes", "now_ns"],
    "manage": ["pause", "resume", "set_queue", "prune", "partitions", "cancel_all", "drain"]}';
  -- An index for tags can only be read as a bitmap.
  by_tag constant text[] := '{cancel_tag,list}';
  -- What a worker calls gives up what transactions of others keep locked before the worker gives the call up: it would go on
  -- waiting here, on a connection that nobody reads any more.
  of_workers constant text[] := '{hello,beat,bye,classes,turn,claim,release,fate}';
  f regprocedure; right_name text; role_name text; missing text[] := '{}';
begin
  -- Names have 63 bytes: what is longer is cut, and two roles could become one.
  perform check_range('schema', octet_length(fleet), 1,
    (select 62 - max(octet_length(one)) from jsonb_object_keys(callable) one), ' bytes');
  for right_name in select jsonb_object_keys(callable) loop
    role_name := fleet || '_' || right_name;
    if not exists (select 1 from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception when insufficient_privilege then
        missing := missing || role_name;
      when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
  for f in select p.oid::regprocedure from pg_proc p where p.pronamespace = quote_ident(fleet)::regnamespace loop
    -- Who reads the views calls what is plain arithmetic in them.
    continue when (select p.provolatile = 'i' from pg_proc p where p.oid = f);
    execute format('revoke all on function %s from public', f);
    -- What is written in SQL reads no table, becomes a part of the statement that asks for it, and needs no settings.
    continue when (select l.lanname = 'sql' from pg_proc p join pg_language l on l.oid = p.prolang where p.oid = f);
    continue when not exists (
      select 1 from jsonb_each(callable) c join pg_proc p on p.oid = f and c.value ? p.proname);
    -- With `x = any(array[y])` instead of x = y where rows are found by number: of tables that it saw empty the planner else
    -- reads a whole index in its order, and looks for the few rows in that (N6).
    execute format('alter function %s security definer set search_path = %I, pg_temp set jit = off
      set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
      set enable_bitmapscan = %s', f, fleet, case when (select p.proname = any(by_tag) from pg_proc p where p.oid = f)
        then 'on' else 'off' end);
    if (select p.proname = any(of_workers) from pg_proc p where p.oid = f) then
      execute format('alter function %s set lock_timeout = %L', f, '1s');
    end if;
  end loop;
  if missing <> '{}' then
    raise warning 'only % and superusers can use the fleet %; nothing needs to be done, unless others are to use it, too: '
      'then a superuser installs it once more and grants them the roles %, which % may not create', quote_ident(current_user),
      quote_ident(fleet), array_to_string(missing, ', '), quote_ident(current_user);
    return;
  end if;
  for right_name in select jsonb_object_keys(callable) loop
    role_name := fleet || '_' || right_name;
    execute format('grant usage on schema %I to %I', fleet, role_name);
    for f in
      select p.oid::regprocedure from pg_proc p
      where p.pronamespace = quote_ident(fleet)::regnamespace and callable -> right_name ? p.proname
    loop
      execute format('grant execute on function %s to %I', f, role_name);
    end loop;
  end loop;
  execute format('grant select on live, ended, nodes to %I', fleet || '_look');
  -- An owner for whom somebody else made the roles may not do this, but need not either.
  if not (select bool_and(pg_has_role(fleet || '_manage', fleet || '_' || one, 'member'))
    from unnest('{enqueue,work,look}'::text[]) one)
  then
    execute format('grant %I, %I, %I to %I', fleet || '_enqueue', fleet || '_work', fleet || '_look', fleet || '_manage');
  end if;
end $$;

-- Nodes make those of the days that follow. Somebody may be reading: they make these, too, then.
do $$
begin
  perform partitions();
exception when lock_not_available then null;
end $$;
commit;
