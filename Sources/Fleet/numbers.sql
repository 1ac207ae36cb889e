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
