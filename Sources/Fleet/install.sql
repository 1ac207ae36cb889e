-- Installs a fleet, or brings it to this release: psql -v schema=selene -f install.sql. What is there stays.
-- The order is that in which one file needs another.
\set ON_ERROR_STOP on
begin;
set local lock_timeout = '2s';
select pg_advisory_xact_lock(hashtext('selene ' || :'schema'));
create schema if not exists :"schema";
-- Who may make nothing here is to make nothing temporary either.
set local search_path = :"schema";
\ir tables.sql
set local search_path = :"schema", pg_temp;
\ir refusal.sql
\ir numbers.sql
\ir fleet.sql
\ir queue.sql
\ir class.sql
\ir history.sql
\ir record.sql
\ir register.sql
\ir cancel.sql
\ir again.sql
\ir claim.sql
\ir decision.sql
\ir worker.sql
\ir drain.sql
\ir look.sql
\ir board.sql
\ir rights.sql
-- Nodes make those of the days that follow. Somebody may be reading: they make these, too, then.
do $$
begin
  perform partitions();
exception when lock_not_available then null;
end $$;
commit;
