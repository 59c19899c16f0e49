# shellcheck shell=bash
# Files of tests in memory. Sourced.

# memory_prefix GIBIBYTES: sets `in_memory` to a prefix for a command whose temporary files shall be in memory.
# It is empty unless root runs this and the machine has this much free memory. On a shared disk, tests that wait
# for syncs take several times as long without testing more: after SIGKILL, written data is in the kernel either
# way, power is cut on the tests' own file systems, and slow syncs are injected. The mount namespace is the
# command's own, so that its mounts end with it.
memory_prefix() {
  in_memory=()
  local free
  free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  [ "$free" -ge "$1" ] && [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || return 0
  # shellcheck disable=SC2016,SC2034 # the inner shell's own variables; used by the sourcing script
  in_memory=(unshare --mount bash -c 'export TMPDIR=${TMPDIR:-/tmp}/ebb-tests-in-memory
    mkdir -p "$TMPDIR" && mount -t tmpfs -o size=6g,mode=1777 ebb-tests "$TMPDIR" && exec "$@"' memory)
}
