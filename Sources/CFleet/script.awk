# The script that installs a fleet, as lines of C: the files of Sources/Fleet in the order that install.sql says.
function put(line) {
  gsub(/[\\"]/, "\\\\&", line)
  print "    \"" line "\\n\","
}
BEGIN {
  print "// Made by script.awk from Sources/Fleet."
  print "extern const char *const fleet_script_lines[];"
  print "const char *const fleet_script_lines[] = {"
}
/^\\set / { next }
/^\\ir / {
  file = folder "/" $2
  while ((got = (getline line < file)) > 0) put(line)
  if (got < 0) { print file ": cannot be read" > "/dev/stderr"; exit 1 }
  # As when a file is put in place of its line: that one's end comes, too.
  put("")
  next
}
{ put($0) }
END { print "    0};" }
