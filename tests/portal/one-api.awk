# Chooses from the output of `playwright test --list`: of tests that differ only in the API that they use, one.
# The variable `seed` decides which; the next seed chooses all others.

/^ +[^ ]+\.spec\.ts:/ {
  sub(/^ +/, "")
  what = tolower($0)
  gsub(/(item|document|container|collection)s?|nosql|mongo(db)?/, "API", what)
  if (!(what in count)) order[++groups] = what
  variant[what, count[what]++] = $0
}

END {
  for (at = 1; at <= groups; at++) print variant[order[at], (seed + at) % count[order[at]]]
}
