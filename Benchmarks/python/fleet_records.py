"""What the records of a fleet cost the database, beside raw SKIP LOCKED (fleet.py)."""

from __future__ import annotations

from typing import Any

from fleet_server import Bench

RAW = """
set client_min_messages = error;
drop table if exists q;
create table q (id bigint generated always as identity primary key, prio int not null,
  state smallint not null default 0, run_at timestamptz not null default now(), payload bytea) with (fillfactor = 70);
create index q_ready on q (prio, run_at, id) where state = 0;
"""
CLAIM = """
with c as (
    select id from q where state = 0 and run_at <= now() order by prio, run_at, id limit {n} for update skip locked),
  u as (update q set state = 1 from c where q.id = c.id returning q.id)
  select coalesce(array_agg(id), '{{}}') as ids from u \\gset
delete from q where id = any(:ids::bigint[]);
"""
COMPLETE = """
select count(*) from selene.complete(:seqs::bigint[], :runs::bigint[],
  array_fill(0, array[cardinality(:runs::bigint[])]), array_fill(1000::bigint, array[cardinality(:runs::bigint[])]));
"""
TURN = """
select coalesce(array_agg(seq), '{{}}') as seqs, coalesce(array_agg(run), '{{}}') as runs from
  selene.claim(:worker::bigint, array[:class::int], most => {n}) \\gset
"""
#: As a node has it: what was claimed before is decided by the call that claims.
DECIDE_AND_CLAIM = r"""
select coalesce(array_agg(seq), '{{}}') as seqs, coalesce(array_agg(run), '{{}}') as runs from selene.turn(
  :worker::bigint, :seqs::bigint[], :runs::bigint[], array_fill(0, array[cardinality(:runs::bigint[])]),
  array_fill(1000::bigint, array[cardinality(:runs::bigint[])]), classes => array[:class::int], most => {n})
  where what = 1 \gset
"""
#: As a worker claims that has claimed before: from where the last one ended, and now and then from the beginning (N7).
GO_ON = (
    "\\set look random(1, 200)\n\\if :look = 1\n"
    + "".join(f"\\set since{i} 0\n" for i in range(1, 6))
    + "\\endif\nselect coalesce(array_agg(seq), '{{}}') as seqs, coalesce(array_agg(run), '{{}}') as runs"
    + "".join(f", coalesce(max(last_run) filter (where line = :line{i}), :since{i}) as since{i}" for i in range(1, 6))
    + " from selene.claim(:worker::bigint, '{{}}', array["
    + ", ".join(f":line{i}::int" for i in range(1, 6))
    + "], array["
    + ", ".join(f":since{i}::bigint" for i in range(1, 6))
    + "], {n}) \\gset\n"
)
INSERT = "insert into q (prio, payload) select 1 + i % 5, 'x' from generate_series(1, {n}) i;\n"
REGISTER = """
select count(selene.register('b' || :client_id || '-' || nextval('bench_id'), handler => 'h', input => 'x',
  priority => 1 + i % 5, expected => '1 ms')) from generate_series(1, {n}) i;
"""
#: The same as columns: what `enqueue_batch` and `selene_fleet_register_batch` call.
REGISTER_BATCH = """
select count(*) from (select array_agg('b' || :client_id || '-' || nextval('bench_id')) as ids,
      array[count(*)::int] as n from generate_series(1, {n})) given,
  selene.register_batch('default', ids, array_fill('h'::text, n), array_fill('refresh'::text, n),
    array_fill('once'::text, n), array(select 1 + i % 5 from generate_series(1, {n}) i), array_fill(1000::bigint, n),
    array_fill(0::bigint, n), array_fill(null::bigint, n), array_fill(0::bigint, n), array_fill(false, n),
    array_fill(null::text, n), array_fill(30000000::bigint, n), array_fill(0, n), array_fill(3, n),
    array_fill('{{}}'::text, n), array_fill('{{}}'::text, n), array_fill('{{}}'::text, n), array_fill(null::text, n),
    array_fill('x'::bytea, n));
""".replace("\n", " ")
NAMES = "create sequence bench_id"
#: All in one class. What is in the tables before is written into them directly: that is not what is measured.
FILL_RAW = "insert into q (prio, payload) select 1 + i % 5, 'x' from generate_series(1, {n}) i"
FILL = """
select register('t', handler => 'h', expected => '1 ms');
select cancel('t');
with made as (
  select c.class, i, n.now, 1 + i % 5 as priority
  from generate_series(1, {n}) i, class c, (select now_ns() as now) n),
tasks as (
  insert into task (id, class, schedule, priority, backoff, recurrence, response_window, existing, max_attempts,
      expected, learns, delay, period, flex, backoff_delay, registered, anchor, input)
    select 't' || i, class, 1, priority, 2, 0, 3, 0, 0, 1000000, false, 0, 0, 0, 30000000000, now, now, '' from made
    returning seq, class, priority, registered)
insert into slot (seq, last_run, due, est, line, max_attempts, schedule, state)
  select seq, registered, registered, 1000000, line_of(class, priority, 1000000), 0, 1, 0 from tasks
"""
CLIENTS = (1, 8, 32)


def filled(bench: Bench, tasks: int, raw: int = 0) -> tuple[str, dict[str, int]]:
    """A database with so many tasks that are ready; who claims them, and their class."""
    name = bench.database()
    bench.run(name, RAW, FILL_RAW.format(n=raw or tasks), NAMES, FILL.format(n=tasks), "vacuum analyze")
    ((kind, worker),) = bench.run(name, "select class, worker from class, hello('bench', 3600000000000)")
    return name, {"class": kind, "worker": worker}


def records(bench: Bench) -> None:
    """Claiming and completing."""
    name, who = filled(bench, 400_000, 800_000)
    for batch in (1, 100):
        for clients in CLIENTS:
            question = f"claim and complete, {batch} at a time, {clients} connections"
            bench.note(question, "raw SKIP LOCKED", batch * bench.pgbench(name, CLAIM.format(n=batch), clients))
            bench.note(
                question,
                "a fleet, with history",
                batch * bench.pgbench(name, TURN.format(n=batch) + COMPLETE, clients, **who),
            )
            bench.run(name, "vacuum q", "vacuum selene.slot, selene.task")
    bench.drop(name)


def relaxed(bench: Bench) -> None:
    """Deciding and claiming in one commit, which waits for the disk or does not (N34)."""
    name, who = filled(bench, 400_000, 1)
    ((worker,),) = bench.run(name, "select worker from hello('relaxed', 3600000000000, relaxed => true)")
    for clients in (1, 8):
        for contender, number in (("a node", who["worker"]), ("a relaxed node", worker)):
            known: dict[str, Any] = {**who, "worker": number, "seqs": "{}", "runs": "{}"}
            rate = bench.pgbench(name, DECIDE_AND_CLAIM.format(n=1), clients, **known)
            bench.note(f"decide one and claim the next, {clients} connections", contender, rate)
    bench.drop(name)


def registering(bench: Bench) -> None:
    """Registering, each statement a commit."""
    name = bench.database()
    bench.run(name, RAW, NAMES)
    for batch in (1, 1000):
        for clients in CLIENTS if batch == 1 else (1, 8):
            question = f"enqueue, {batch} at a time, {clients} connections"
            bench.note(question, "raw insert", batch * bench.pgbench(name, INSERT.format(n=batch), clients))
            bench.note(question, "a fleet", batch * bench.pgbench(name, REGISTER.format(n=batch), clients))
            if batch > 1:
                rate = batch * bench.pgbench(name, REGISTER_BATCH.format(n=batch), clients)
                bench.note(question, "a fleet, register_batch", rate)
    bench.drop(name)


def flatness(bench: Bench) -> None:
    """One task claimed, completed, and registered anew, among few and among many; nobody waits for the disk."""
    for tasks in (1_000, 30_000, 1_000_000):
        name, who = filled(bench, tasks)
        for contender, script, known in (
            ("raw SKIP LOCKED", CLAIM.format(n=1) + INSERT.format(n=1), {}),
            ("a fleet", TURN.format(n=1) + COMPLETE + REGISTER.format(n=1), who),
        ):
            with bench.without_disk():
                rate = bench.pgbench(name, script, 1, **known)
            bench.note(f"one at a time, among so many, {contender}", f"{tasks:,}", rate)
        bench.drop(name)


def snapshot(bench: Bench) -> None:
    """What an old snapshot costs that somebody holds: every row that is dead stays, and who looks for work meets it.

    Nobody waits for the disk.
    """
    name, who = filled(bench, 20_000)
    lines = bench.run(name, "select l, 0 from class c, unnest(lines_of(array[c.class])) l order by l")
    where = {f"line{i}": line for i, (line, _) in enumerate(lines, 1)} | {f"since{i}": 0 for i in range(1, 6)}
    for contender, script, known in (
        ("raw SKIP LOCKED", CLAIM.format(n=20) + INSERT.format(n=20), {}),
        ("a fleet", GO_ON.format(n=20) + COMPLETE + REGISTER.format(n=20), who | where),
    ):
        question = f"20 at a time, 4 connections, a snapshot is held, {contender}"
        with bench.without_disk(), bench.server.connect(name) as holder:
            bench.note(question, "none held", 20 * bench.pgbench(name, script, 4, **known))
            holder.execute("begin isolation level repeatable read")
            holder.execute("select 1")
            for part in ("first", "second", "third"):
                rate = bench.pgbench(name, script, 4, 2 * bench.seconds, **known)
                bench.note(question, f"held, the {part} {2 * bench.seconds} s", 20 * rate)
            holder.execute("rollback")
        bench.run(name, "vacuum q", "vacuum selene.slot, selene.task")
    bench.drop(name)


PARTS = {"records": records, "relaxed": relaxed, "registering": registering, "flatness": flatness, "snapshot": snapshot}
