#!/bin/bash
# selene-run: its options, and windows that the governor grants.
#
# Usage: selene_run.sh [SELENE_RUN]
here=$(cd "$(dirname "$0")" && pwd)
runner=${1:-$here/../../build/selene-run}
. "$here/results.bash"
export TMPDIR=$work

# ends NAME CODE PATTERN… -- OPTION…: selene-run ends with the code and prints each pattern.
ends() {
  local name=$1 code=$2 patterns=() got wrong=0
  shift 2
  while [ "$1" != -- ]; do patterns+=("$1"); shift; done
  shift
  timeout 120 "$runner" "$@" >"$work/log" 2>&1 </dev/null
  got=$?
  [ $got -eq "$code" ] || { wrong=1; echo "ended with $got" >>"$work/log"; }
  for pattern in "${patterns[@]}"; do
    grep -q -e "$pattern" "$work/log" || { wrong=1; echo "there is no: $pattern" >>"$work/log"; }
  done
  result "$name" $wrong
}

cat >"$work/tasks" <<'END'
once   schedule=once kind=processing     -- echo once
retry  schedule=once max_attempts=2 backoff_delay=50ms -- echo tried; exit 75
END
echo 'late  schedule=once delay=6s -- true' >"$work/late"
echo 'later  schedule=once delay=1h -- echo later' >"$work/later"

ends "an unknown option is refused in our words" 2 '^selene-run: --nope: unknown option; try --help$' -- \
  --nope "$work/tasks"
ends "so is an unknown letter" 2 '^selene-run: -x: unknown option' -- -x "$work/tasks"
ends "an abbreviation is refused and its option named" 2 '^selene-run: --lane: unknown option; --lanes is one' -- \
  --lane 2 "$work/tasks"
ends "also with its value behind an equals sign" 2 '^selene-run: --bud=1s: .*--budget is one' -- --bud=1s "$work/tasks"
ends "also behind the workload" 2 '^selene-run: --qui: .*--quiet is one' -- "$work/tasks" --qui
ends "an abbreviation of several options is refused" 2 '^selene-run: --max-pending: unknown option' -- \
  --max-pending 2 "$work/tasks"
ends "an option without its value is refused" 2 '^selene-run: --budget: found nothing; allowed is a value' -- --budget
ends "an option with a value that it does not take is refused" 2 '^selene-run: --quiet=1: found a value; allowed is none' -- \
  --quiet=1 "$work/tasks"
ends "whole options are read in both ways" 0 'window 1 of 1: 5.00 s' 'once' -- --budget=5s --lanes 2 "$work/tasks"

ends "of two tasks to explain none is forgotten" 2 '^selene-run: --explain was given twice; allowed is once' -- --store "$work/none" \
    --explain a --explain b
ends "nor of two to pause" 2 '^selene-run: --pause was given twice; allowed is once' -- --store "$work/none" --pause a --pause b
ends "an unknown profile is refused" 2 'found "phone"; allowed is open, apple, server or strict' -- --profile phone --follow \
  "$work/tasks"
ends "a profile is asked about the windows that the clock opens, too" 0 'window 1 of 1: .*refresh, processing' -- \
  --profile open "$work/later"
ends "what the driver does not know is refused" 2 'they cannot be used with --follow and --profile' -- --profile open --follow \
  --reserve 1s "$work/tasks"
ends "--why shows a decision about each kind, factor by factor" 0 '^refresh: ' '^processing: ' 'host_presence  *-  *at most 1' \
  'rate .*at least 15 m 00 s' -- --profile apple --why "$work/later"
ends "--why of one kind" 0 '^processing: ' -- --profile apple --why --kinds processing "$work/later"
grep -q '^refresh' "$work/log"
result "… says nothing of the other" $(($? == 0))
ends "--why without a profile demands nothing" 0 'nothing is demanded' 'window 1 of 1' -- --why "$work/later"
ends "--why without windows only asks" 0 'nothing is demanded' -- --why --cycles 0 "$work/later"
grep -q window "$work/log"
result "… and opens none" $(($? == 0))
ends "--follow with a profile runs what is due until nothing is left" 0 'window of processing: open-ended' \
  'window of refresh: open-ended' 'once  *new_data  *exit 0  *succeeded' 'retry  *failed  *exit 75  *failed' \
  'window of processing: over, new_data' 'nothing is left to do' -- --profile open --follow --every 0s "$work/tasks"
sed 's/50ms/3s/' "$work/tasks" >"$work/slowly" # a window that is still open would have both attempts
ends "without a profile it is one window for all kinds, open-ended without --budget" 0 'window of both kinds: open-ended' \
  'once  *new_data' 'retry  *failed' 'window of both kinds: over, new_data' 'window of both kinds: over, failed' 'nothing is left to do' \
  -- --follow --every 0s "$work/slowly"
ends "… and says for how long it sleeps" 0 'sleeping .* s$' 'late  *new_data' -- --follow --every 0s "$work/late"
echo 'tick  every=1s -- true' >"$work/tick"
ends "without --every a window opens whenever a task is due" 0 'sleeping \([0-9.]* ms\|1.00 s\)$' -- --follow --cycles 3 "$work/tick"
echo 's  stall_limit=1s -- for i in 1 2 3 4 5 6 7; do echo $i/7 part $i >$SELENE_PROGRESS; sleep 0.2; done' >"$work/steady"
ends "progress within a short stall limit is heard" 0 's  *normal.* new_data' -- "$work/steady"
ends "--cycles ends it earlier, --budget is for both kinds" 0 'window of processing: 7.00 s' -- --profile open --follow \
  --kinds processing --budget 7s --cycles 1 "$work/tasks"

# eventually COMMAND…: waits for it to succeed.
eventually() {
  local limit=$((SECONDS + 60))
  while ! "$@" && [ $SECONDS -lt $limit ]; do sleep 0.05; done
}

# waits_for_signals PROCESS: SIGTERM is the fifteenth; from here on it comes to the thread that waits for it.
waits_for_signals() {
  local mask
  mask=$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$1/status") && [ $((0x${mask:-0} >> 14 & 1)) -eq 1 ]
}

"$runner" --profile open --follow "$work/later" >"$work/log" 2>&1 &
child=$!
eventually waits_for_signals $child
sleep 0.5
kill -TERM $child
wait $child && grep -q "stopping what runs" "$work/log"
result "a signal ends it while it waits" $?
echo "long  schedule=once kind=processing -- touch $work/running; sleep 600" >"$work/long"
"$runner" --profile open --follow "$work/long" >"$work/log" 2>&1 &
child=$!
eventually test -e "$work/running"
kill -TERM $child
wait $child && grep -q "stopping what runs" "$work/log" && grep -q 'long  *shutdown' "$work/log" &&
  grep -q 'window of processing: over' "$work/log"
result "and while a command runs, which is told" $?

for what in --plan --version; do
  "$runner" $what "$work/long" >/dev/full 2>"$work/log"
  [ $? -eq 5 ] && grep -q "the output cannot be written: No space left on device" "$work/log"
  result "$what: output that cannot be written is said, and is no success" $?
done

store=$work/store
printf '%s\n' "first  schedule=once -- echo first >>$work/lines" "always -- echo always >>$work/lines" \
  "late  schedule=once kind=processing delay=1h -- true" >"$work/kept"
ends "--store: a first call runs what is due" 0 'window' -- --store "$store" "$work/kept"
ends "a second one goes on: what succeeded for good does not run again" 0 'window' -- --store "$store" "$work/kept"
[ "$(sort "$work/lines" | uniq -c | tr -s ' \n' ' ')" = " 2 always 1 first " ]
result "… as the commands saw it" $?
ends "--list shows what the store holds, without a workload" 0 'first .*succeeded' 'always .*enqueued' -- --store "$store" --list
echo "always priority=high -- true" >"$work/kept"
ends "a task that left the workload is cancelled, and that is said" 0 'late.*cancel' -- --store "$store" "$work/kept"
ends "--list of nothing is refused" 2 'neither a workload nor --store' -- --list
ends "--list of a workload shows what would be registered" 0 'always .*enqueued .*never ran' -- --list "$work/kept"
ends "--explain and --plan of a store need no workload" 0 'always' 'would run' 'nothing is missing' -- --store "$store" \
  --explain always --plan
ends "an id that the store does not have is refused" 2 'no task "nope" in .*there are:.* always' -- --store "$store" \
  --explain nope

echo "slow  schedule=once max_attempts=3 -- echo \$\$ >$work/slow; exec sleep 600" >"$work/kept"
"$runner" --store "$store" --budget 60s "$work/kept" >"$work/log" 2>&1 &
child=$!
eventually test -s "$work/slow"
ends "another one is told at once that the store is in use" 6 'open' -- --store "$store" "$work/kept"
kill -KILL $child "$(cat "$work/slow")"
{ wait $child; } 2>/dev/null
ends "what ran when selene-run was killed is an attempt that failed" 0 'slow .*enqueued .* 1  interrupted' -- --store "$store" --list
ends "… and is due again at once the first time" 0 'due now' 'the process ended' -- --store "$store" --explain slow "$work/kept"

# A disk that is full while it waits for the next window, and has room again.
echo "late  schedule=once delay=20s -- echo ran" >"$work/full"
(
  trap '' XFSZ # as a host must, for the limit of a file's size stands for the disk
  exec "$runner" --profile open --follow --store "$work/full.store" "$work/full" 2>&1
) > >(cat >"$work/log") &
child=$!
eventually waits_for_signals $child
eventually grep -aqs late "$work/full.store-wal"
prlimit --pid $child --fsize=0:unlimited
eventually grep -q '  trouble: store ' "$work/log"
prlimit --pid $child --fsize=unlimited:unlimited
wait $child
eventually grep -q 'nothing is left to do' "$work/log"
[ "$(grep -c '  trouble: ' "$work/log")" -eq 1 ] && grep -q '  trouble is over: store$' "$work/log" &&
  grep -q 'late  *new_data' "$work/log"
result "a store that refuses is told of once, and when it does not any more" $?

# What comes from others reaches no terminal raw.
cat >"$work/foreign.c" <<'END'
#include <selene.h>
int main(int count, char **arguments) {
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = SELENE_INIT(selene_task);
    selene_scheduler scheduler;
    options.path = (selene_text){arguments[1], -1};
    task.id = (selene_text){arguments[2], -1};
    task.handler = (selene_text){arguments[count - 1], -1};
    task.input = "\033[2Jwipe";
    task.input_length = 8;
    return count < 3 || selene_scheduler_open(&options, &scheduler) ||
           selene_task_register(scheduler, &task, NULL) || selene_scheduler_close(scheduler, 0);
}
END
library=$(cd "$here/../../build" && pwd)
cc -I"$here/../../include" "$work/foreign.c" -o "$work/foreign" -L"$library" -Wl,-rpath,"$library" -lselene 2>"$work/log" &&
  "$work/foreign" "$work/foreign-store" $'\033]0;title\007news' 2>>"$work/log"
result "another program makes a store" $?
ends "U4 ids and inputs of a store are escaped: --list, --plan" 0 '^.u001b\]0;title.u0007news ' '1 of 1 eligible' -- --list --plan \
  --store "$work/foreign-store"
ends "--explain" 0 'input: .u001b\[2Jwipe' -- --store "$work/foreign-store" --explain $'\033]0;title\007news'
grep -q $'[\033\007]' "$work/log"
result "… no control character comes through" $(($? == 0))
echo "loud -- printf '\\033[31mred\\303\\n'" >"$work/loud"
ends "what a command prints is escaped" 0 'loud | .u001b\[31mred.xc3$' -- "$work/loud"

echo "a  schedule=once max_attempts=2 backoff=linear backoff_delay=50ms -- printf tried; exit 75" >"$work/tasks"
SELENE_WORK=$work/logged ends "a task that fails twice" 0 'exit 75 .*failed' -- --cycles 2 --every 2s "$work/tasks"
stamp='[0-9-]\{10\}T[0-9:]\{8\}[+-][0-9]\{4\}'
cp "$work/logged/log/a.log" "$work/log"
[ "$(grep -c "^--- $stamp attempt [12] begins$" "$work/log")" -eq 2 ] &&
  [ "$(grep -c "^--- $stamp attempt [12]: exit 75 after [^ ]* [^ ]*s$" "$work/log")" -eq 2 ] &&
  [ "$(sed -n 2p "$work/log")" = tried ]
result "its log says when each attempt began and how it ended" $?
printf '%s\n' "a/b -- echo one" "a_b -- echo two" "a%2Fb -- echo three" >"$work/tasks"
SELENE_WORK=$work/named ends "ids that are no names of files" 0 'a/b | one' 'a_b | two' -- "$work/tasks"
(cd "$work/named/log" && ls) >"$work/log"
[ "$(paste -sd ' ' <"$work/log")" = "a%252Fb.log a%2Fb.log a_b.log" ]
result "… have logs of their own" $?
# What is written in the moment of the cut may be lost: the end comes after it.
cat >"$work/tasks" <<'END'
a  schedule=once -- yes | head -c 30M; until [ $(wc -c <"$SELENE_WORK/log/a.log") -le 4194304 ]; do sleep 0.01; done; echo the end
END
SELENE_WORK=$work/flood ends "a command that floods its log" 0 'a .*exit 0' -- --quiet "$work/tasks"
ls -l "$work/flood/log" >"$work/log"
[ "$(cat "$work/flood/log/a.log" "$work/flood/log/a.log.1" | wc -c)" -le $((9 << 20)) ] &&
  grep -q 'the end$' "$work/flood/log/a.log" &&
  tail -n 1 "$work/flood/log/a.log" "$work/flood/log/a.log.1" | grep -q 'attempt 1: exit 0'
result "… leaves it within its limit, with the end in it" $?

echo "a  schedule=once -- echo out" >"$work/tasks"
day='^20[0-9-]\{8\} [0-9:]\{8\}  '
ends "lines of --follow begin with the time" 0 "${day}window of both kinds: open-ended" "${day}a | out" -- --follow --every 0s "$work/tasks"
ends "with the driver, too" 0 "${day}window of refresh: open-ended" "${day}  a .*exit 0" "${day}window of refresh: over" -- --follow \
  --profile open "$work/tasks"

# An edit of the workload of --follow: mistakes change nothing, then a task joins, one leaves while it runs, one changes.
printf '%s\n' "stays  every=1h -- echo as it was" "leaves  schedule=once -- touch $work/leaving; exec sleep 600" >"$work/edited"
"$runner" --follow --every 0s --lanes 2 --budget 10m "$work/edited" >"$work/log" 2>&1 &
child=$!
eventually test -e "$work/leaving"
# Two looks at an empty file in between would be an edit, too.
echo "stays  every=never -- true" >"$work/edit"
mv "$work/edit" "$work/edited"
eventually grep -q 'edited was edited, and has mistakes' "$work/log"
printf '%s\n' "stays  every=50ms -- echo changed" "joins  schedule=once -- echo joined" >"$work/edit"
mv "$work/edit" "$work/edited"
eventually grep -q 'joins | joined' "$work/log"
eventually grep -q 'stays | changed' "$work/log"
kill -INT $child
wait $child && grep -q "${day}.*edited was edited: it has 2 tasks now" "$work/log" &&
  grep -q 'leaves is not in .*: cancelled' "$work/log" && grep -q 'leaves  *cancelled' "$work/log" &&
  [ "$(grep -c 'has mistakes' "$work/log")" -eq 1 ]
result "--follow takes over what is edited in the workload, and nothing of one with mistakes" $?

printf '%s\n' "one  schedule=once requires=network delay=1h -- true" "two -- true" >"$work/tasks"
ends "all reasons of a task stand in its line" 0 '^ *one  *not due yet; may change in .*; needs network; time alone does not change that$' -- --plan \
  --no-network "$work/tasks"

# Whatever kills selene-run, its commands do not go on beside those of the next one.
cat >"$work/tasks" <<END
a  schedule=once -- echo \$\$ >$work/leader; (trap '' TERM; echo \$\$ >$work/started; sleep 600) & echo \$! >$work/inner; wait
END
"$runner" --grace 200ms --store "$work/killed" "$work/tasks" >"$work/log" 2>&1 &
child=$!
eventually test -s "$work/started"
eventually test -s "$work/inner"
kill -KILL $child
{ wait $child; } 2>/dev/null
gone() { ! kill -0 "$(cat "$work/leader")" 2>/dev/null && ! kill -0 "$(cat "$work/inner")" 2>/dev/null; }
eventually gone
gone
result "kill -9 of selene-run ends what it runs, grandchildren that do not listen, too" $?

# What is left of them when the next one comes is waited for. The test stands for the guard.
echo "a -- touch $work/ran" >"$work/tasks"
exec 8>"$work/waited-guard"
flock 8
"$runner" --store "$work/waited" "$work/tasks" >"$work/log" 2>&1 8>&- &
child=$!
eventually grep -q '^selene-run: .*waited: commands of the run before have not ended yet; waiting for them$' "$work/log"
[ ! -e "$work/ran" ] && flock -u 8 && wait $child && [ -e "$work/ran" ] && [ ! -e "$work/waited-guard" ]
result "a run waits for what is left of the commands of the one before" $?
exec 8>&-

# U2: a store's tasks belong to whoever registered them.
store=$work/shared
"$work/foreign" "$store" feed feedd && "$work/foreign" "$store" old shell 2>"$work/log"
printf '%s\n' "a -- true" "old -- true" >"$work/mine"
ends "tasks of another program stay, and that is said; those of an earlier selene-run are taken over" 0 \
  'feed in .*shared is not a task of .*mine (its handler is "feedd"): it stays' ' old .*exit 0' -- --store "$store" "$work/mine"
ends "they are as they were" 0 '^feed .*enqueued .*never ran' -- --store "$store" --list
echo "b -- true" >"$work/yours"
ends "another workload leaves them alone, too" 0 '' -- --store "$store" "$work/yours"
ends "… all of them" 0 '^a .*enqueued' '^old .*enqueued' '^b .*enqueued' -- --store "$store" --list
echo "feed -- true" >"$work/theirs"
ends "an id that another program has is refused" 4 'feed in .*feedd"); allowed is another id' -- --store "$store" "$work/theirs"
echo "a -- true" >"$work/theirs"
ends "so is one of another workload" 4 'a in .*(its handler is "workload mine"); allowed is' -- --store "$store" "$work/theirs"
ends "nothing changed" 0 '^a .*enqueued' '^feed .*enqueued .*never ran' -- --store "$store" --list
printf '%s\n' "a -- true" "feed -- true" >"$work/theirs"
ends "--adopt takes over what is there" 0 'b is not in .*: cancelled' ' feed .*exit 0' -- --store "$store" --adopt "$work/theirs"
ends "… and it belongs to the workload then" 0 ' feed .*exit 0' -- --store "$store" "$work/theirs"
ends "--adopt without a store is refused" 2 'allowed is --store FILE' -- --adopt "$work/theirs"
echo "a  schedule=once -- true" >"$work/moved"
mkdir "$work/folder"
ends "a workload" 0 'exit 0 *succeeded' -- --store "$work/moving" "$work/moved"
mv "$work/moved" "$work/folder"
ends "that moved to another folder is the same" 0 'is over: succeeded' -- --store "$work/moving" "$work/folder/moved"

ends "what is enqueued for a program has an input" 0 'added mail-7' -- --store "$store" --enqueue mail-7 --handler mail \
  --input 'to you'
ends "… which is not shown as a command" 0 '^  input: to you$' -- --store "$store" --explain mail-7
ends "a command still is" 0 '^  command: true$' -- --store "$store" --explain feed

ends "kinds are paused for a time" 0 '^paused refresh until 20' -- --store "$store" --pause-kinds refresh --pause-for 2h
ends "and a list says so" 0 '^feed .*ago  *kind paused until .' '^refresh: paused until 20' -- --store "$store" --list
ends "a pool is paused, too" 0 '^paused pool mailer$' -- --store "$store" --pause-pool mailer
ends "and a task says so" 0 'its kind is paused; may change in' -- --store "$store" --explain feed
ends "they go on" 0 '^resumed refresh,processing$' -- --store "$store" --resume-kinds refresh,processing
ends "as does the pool" 0 '^resumed pool mailer$' -- --store "$store" --resume-pool mailer
"$runner" --store "$store" --pause a >"$work/log" && "$runner" --store "$store" --pause feed >"$work/log"
ends "a list has a line for each task that is paused" 0 '^a .*ago  *paused$' '^feed .*ago  *paused$' -- --store "$store" --list
"$runner" --store "$store" --resume a >"$work/log" && "$runner" --store "$store" --resume feed >"$work/log"
ends "a kind has a name" 2 'allowed is refresh, processing' -- --store "$store" --pause-kinds other
ends "a pool has a name" 2 'allowed is the name of a pool' -- --store "$store" --pause-pool ''
ends "only kinds are paused for a time" 2 'allowed is --pause-kinds or --pause-pool' -- --store "$store" --pause feed --pause-for 1h

results
