"""Many records at once, written into the tables, as no function would: what they cost is what is measured."""

from __future__ import annotations

from conftest import Fleet

#: Of each hundred live tasks so many wait for a time that has not come; the others are ready.
WAITING = 20

CLASSES = """
insert into queue (name) select 'q' || i from generate_series(1, {queues}) i on conflict do nothing;
insert into class (queue, kind, constraints, labels, handler)
  select (select queue from queue where name = 'q' || (1 + i % {queues})), 1, 0, '{{}}', {handler}
  from generate_series(0, {classes} - 1) i on conflict do nothing;
"""
TASKS = """
with made as (
  select (select max(seq) from task) is null as is_first, c.class, i, n.now,
    case when i %% 100 < %s then 1 when i %% 100 < %s then 2 else 0 end as state, 1 + i %% 5 as priority, (10 ^ (6 + i %% 5))::bigint as est
  from generate_series(%s::int, %s::int) i
    join (select class, row_number() over (order by class) - 1 as place, count(*) over () as many from class) c
      on c.place = i %% c.many
    cross join (select now_ns() as now) n
), tasks as (
  insert into task (seq, id, class, schedule, priority, backoff, recurrence, response_window, existing, max_attempts, expected,
      learns, delay, period, flex, backoff_delay, registered, anchor, tags, input) overriding system value
    select i, 't' || i, class, 1, priority, 2, 0, 3, 0, 0, est, false, 0, 0, 0, 30000000000, now, now,
      case when i %% 1000 = 7 then array['g' || i / 100000] end, '' from made
)
insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state)
  select i, now - 3600000000000 + i * 1000, case when state = 1 then now + 86400000000000 + i else now - 1 end, est,
    line_of(class, priority, est), 0, 1, state from made;
"""
HISTORY = """
insert into history (ended, seq, id, class, state, schedule, priority, stop, attempts, generation, run, registered, last_run, due,
    est)
  select now_ns() - i * 1000, i, 'e' || i, 1 + i % 4, 4, 1, 3, 0, 1, 0, i, 0, 0, 0, 0 from generate_series(1, {count}) i
"""


def populate(
    fleet: Fleet, classes: int, first: int, last: int, *, queues: int = 4, handler: str = "'h' || i", held: int = 0
) -> None:
    """Tasks of these numbers, evenly over as many classes; of each hundred so many are held."""
    fleet.connection.execute(CLASSES.format(classes=classes, queues=queues, handler=handler))
    for begin in range(first, last + 1, 200_000):
        fleet.connection.execute(TASKS % (WAITING, WAITING + held, begin, min(begin + 199_999, last)))
    fleet.rows("select setval(pg_get_serial_sequence('task', 'seq'), %s)", last)


def remember(fleet: Fleet, count: int) -> None:
    """So many that have ended."""
    fleet.connection.execute(HISTORY.format(count=count))
