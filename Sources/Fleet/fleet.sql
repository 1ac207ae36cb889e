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

-- Makes this session listen for `tell`, from the next commit on.
create or replace function listen() returns void language plpgsql as $$
begin
  execute format('listen %I', (select f.channel from fleet f));
end $$;

-- Notifies the nodes that listen, with the next commit (N28, N63).
create or replace function tell(what text default '') returns void language plpgsql as $$
begin
  perform pg_notify((select f.channel from fleet f), what);
end $$;

-- What registers or decides, and what gives a number that is never used again, is as durable as the server can make it,
-- whatever its default is (N9, N10, N34).
create or replace function durable() returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true); end if;
end $$;

-- From here on the caller's transaction waits for no lock longer than 5 s (`55P03`, BUSY), or what it had set itself (N55). Returns
-- what that was, for `wait_as`.
create or replace function wait_briefly() returns text language plpgsql as $$
declare own constant text := current_setting('lock_timeout');
begin
  if own <> '0' and own::interval <= interval '5 s' then return null; end if;
  perform set_config('lock_timeout', '5s', true);
  return own;
end $$;

create or replace function wait_as(own text) returns void language plpgsql as $$
begin
  if own is not null then perform set_config('lock_timeout', own, true); end if;
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
