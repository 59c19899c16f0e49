# shellcheck shell=sh
# What the scripts that start a peer share. Sourced; the caller has set -eu.

# Where peers are kept, outside the repository.
cache=${EBB_PEER_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ebb-bench}

# fetch_begin: makes $work, a directory inside the cache that goes away if the script breaks off.
fetch_begin() {
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
}

# fetch_end: what was wanted has been moved out of $work.
fetch_end() {
    rm -rf "$work"
    trap - EXIT
}

# only_path ARGUMENT PATH: with --path that is all that is printed.
only_path() {
    if [ "$1" = --path ]; then
        echo "$2"
        exit 0
    fi
}

# await PID LOG COMMAND...: waits half a minute until the command succeeds; a peer that ends or does
# not come up shows the end of its log.
await() {
    peer=$1 log=$2 tries=0
    shift 2
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ] || ! kill -0 "$peer" 2>/dev/null; then
            tail -n 5 "$log" >&2
            exit 1
        fi
        sleep 0.1
    done
}
