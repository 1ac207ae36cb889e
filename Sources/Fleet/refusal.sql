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

-- A span in nanoseconds. Months and years are refused, since they differ in length (N64).
create or replace function check_span(field text, span interval, lowest bigint, most bigint) returns bigint language plpgsql as $$
declare ns constant bigint := span_ns(span);
begin
  if extract(year from span) <> 0 or extract(month from span) <> 0 then
    perform refuse(16, field, quote_literal(span::text) || ' has months or years, which differ in length; allowed are weeks, days, '
      'hours, minutes and seconds');
  end if;
  if ns is null or ns not between lowest and most then return check_range(field, ns, lowest, most, ' ns'); end if;
  return ns;
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
