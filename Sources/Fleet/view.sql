-- Views, each made anew only where it is another than the one that is there: that keeps out who reads it (N60).

create or replace function renew_view(name text, query text) returns void language plpgsql as $$
declare ends constant timestamptz := clock_timestamp() + interval '2 s'; own constant text := current_setting('lock_timeout');
begin
  if obj_description(to_regclass(renew_view.name), 'pg_class') = md5(renew_view.query) then return; end if;
  -- In pieces: who reads one view may be waiting for another one.
  perform set_config('lock_timeout', '20ms', true);
  loop
    begin
      execute format('create or replace view %I as %s', renew_view.name, renew_view.query);
      execute format('comment on view %I is %L', renew_view.name, md5(renew_view.query));
      exit;
    exception when lock_not_available then
      if clock_timestamp() > ends then raise; end if;
    end;
    perform pg_sleep(random() * 0.05);
  end loop;
  perform set_config('lock_timeout', own, true);
end $$;
