# shellcheck shell=bash
# shellcheck disable=SC2154 # root and work are set by the sourcing script.
# Servers for tests from outside. Sourced; the caller has set root and work, and servers=().

# find_server: sets EBB_BIN; by default it builds this checkout.
find_server() {
  if [ -z "${EBB_BIN:-}" ]; then
    (cd "$root" && cargo build --release --bin ebb) || return 1
    EBB_BIN="${CARGO_TARGET_DIR:-$root/target}/release/ebb"
  fi
  [ -x "$EBB_BIN" ] || { echo "no server at $EBB_BIN" >&2; return 1; }
}

# start_server NAME FLAGS...: starts a server and waits until it is ready; its addresses are then in
# $work/NAME.ready. If EBB_CASSANDRA names a cluster of Cassandra, it starts two nodes; the one with these
# addresses does not own the data.
start_server() {
  local name=$1 data="$work/$1-other" clock flags=()
  shift
  if [ -z "${EBB_CASSANDRA:-}" ]; then
    start_process "$name" "$@"
    return
  fi
  while [ $# -gt 0 ]; do
    case $1 in
    --in-memory) ;;
    --data-dir) data=$2 && shift ;;
    --clock) clock=$2 flags+=("$1" "$2") && shift ;;
    *) flags+=("$1") ;;
    esac
    shift
  done
  EBB_CASSANDRA_CONTACT_POINTS=$EBB_CASSANDRA
  EBB_CASSANDRA_KEYSPACE=d$(tr -d - </proc/sys/kernel/random/uuid)
  export EBB_CASSANDRA_CONTACT_POINTS EBB_CASSANDRA_KEYSPACE
  "$EBB_BIN" admin cluster init --clock "$clock" >"$work/$name.init" 2>&1 || { cat "$work/$name.init" >&2; return 1; }
  echo "$EBB_CASSANDRA_KEYSPACE" >"$work/$name.keyspace"
  flags+=(--store cassandra --peer-addr 127.0.0.1:0)
  start_process "$name-owner" "${flags[@]}" --node-name owner --data-dir "$work/$name-owner" || return 1
  # Both nodes use one certificate, since clients get it from the owner.
  local own="$work/$name-owner/nosql"
  [ ! -e "$own/certificate.pem" ] || flags+=(--tls-cert "$own/certificate.pem" --tls-key "$own/key.pem")
  start_process "$name" "${flags[@]}" --node-name other --data-dir "$data"
}

# verify_data NAME DIRECTORY: verifies the data that a server has left; of a cluster, each node's copy.
verify_data() {
  if [ -z "${EBB_CASSANDRA:-}" ]; then
    "$EBB_BIN" verify --data-dir "$2"
    return
  fi
  EBB_CASSANDRA_KEYSPACE=$(cat "$work/$1.keyspace")
  "$EBB_BIN" admin cluster verify "$work/$1-owner" && "$EBB_BIN" admin cluster verify "$2"
}

# start_process NAME FLAGS...: starts a single process and waits until it is ready.
start_process() {
  local name=$1 ready="$work/$1.ready" tries=0
  shift
  rm -f "$ready"
  "$EBB_BIN" serve --admin-addr 127.0.0.1:0 --ready-file "$ready" "$@" >"$work/$name.log" 2>&1 &
  servers+=($!)
  until [ -s "$ready" ]; do
    if ! kill -0 $! 2>/dev/null || [ $((tries += 1)) -gt 600 ]; then
      echo "the server did not start:" >&2
      tail -20 "$work/$name.log" >&2
      return 1
    fi
    sleep 0.05
  done
}

# address NAME API: prints an address from the ready file.
address() { sed -n "s/.*\"$2\" *: *\"\([^\"]*\)\".*/\1/p" "$work/$1.ready"; }

stop_servers() {
  local pid status=0
  for pid in "${servers[@]}"; do kill -TERM "$pid" 2>/dev/null; done
  for pid in "${servers[@]}"; do wait "$pid" || status=1; done
  servers=()
  return $status
}
