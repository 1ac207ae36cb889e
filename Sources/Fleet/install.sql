-- Installs a fleet, or brings it to this release: psql -v schema=selene -f install.sql. What is there stays.
-- The order is that in which one file needs another.
\set ON_ERROR_STOP on
begin;
set local lock_timeout = '2s';
set local selene.schema = :'schema';
set local search_path = pg_catalog, pg_temp;
\ir owner.sql
set local search_path = :"schema", pg_temp;
\ir tables.sql
\ir refusal.sql
\ir view.sql
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
commit;
-- In a transaction of its own, which has locked nothing that others wait for. Nodes make the partitions of later days, and these,
-- too, if others read the history for long.
begin;
set local search_path = :"schema", pg_temp;
do $$
begin
  perform partitions();
exception when lock_not_available then null;
end $$;
commit;
