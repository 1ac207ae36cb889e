# results.bash - what the shell tests share; they source it: a folder of their own, $work, and how a test is said to have
# ended. What a test prints goes to $work/log.
work=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)") && trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# result NAME STATUS: prints how a test ended, with its log if it failed.
result() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok $1"
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    sed 's/^/    /' "$work/log"
  fi
}

# results: how many there were; its status says whether all passed.
results() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
