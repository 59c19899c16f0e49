# shellcheck shell=sh
# Functions of the scripts that start a peer. Sourced; the caller has set -eu.

# Directory of the peers, outside the repository.
cache=${EBB_PEER_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ebb-bench}

# fetch_begin: creates $work, a directory inside the cache that is removed if the script is interrupted.
fetch_begin() {
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
}

# fetch_end: removes $work after its contents have been moved.
fetch_end() {
    rm -rf "$work"
    trap - EXIT
}

# only_path ARGUMENT PATH: with --path, prints PATH and exits.
only_path() {
    if [ "$1" = --path ]; then
        echo "$2"
        exit 0
    fi
}

# await PID LOG COMMAND...: waits up to 30 seconds until the command succeeds; if the peer exits or does
# not start, prints the end of its log.
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
