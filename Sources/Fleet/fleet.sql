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

-- After a failover the last numbers of runs and workers may not be known here: they go on far behind them, before anything is
-- claimed (N34).
create or replace function follow_timeline() returns void language plpgsql as $$
declare
  here constant text := server_timeline(); known text;
  numbers constant regclass := pg_get_serial_sequence('worker', 'worker');
begin
  select timeline into known from fleet;
  if here is not distinct from known or here is null then return; end if;
  select timeline into known from fleet for update;
  if here = known then return; end if;
  if known is not null then
    perform setval('run_number', (select last_value from run_number) + 4294967296);
    perform setval(numbers, nextval(numbers) + 4294967296);
    update fleet set failed_over = now_ns();
  end if;
  update fleet set timeline = here;
end $$;
