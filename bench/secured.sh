#!/usr/bin/env bash
# Measures the cost of authentication and TLS: the same binary without either, with authentication, and
# with both, in turn. Further arguments go to `ebb-bench compare`; the last lines of each part are its
# table, "ours" being the secured server and "peer" the open one.
#
#   bench/secured.sh                            MongoDB API: logins, then logins and TLS; NoSQL API: TLS
#   bench/secured.sh --rounds 5 --work insert   the same with these arguments
#
# EBB_BIN and BENCH_BIN name the programs; the defaults are those of `cargo build --release`.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$here/target}/release
ebb=${EBB_BIN:-$target/ebb} bench=${BENCH_BIN:-$target/ebb-bench}
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
password=$(head -c 18 /dev/urandom | base64 | tr '+/' 'xy')
(umask 077 && echo "$password" >"$work/password")

# serve NAME FLAG...: starts a server with its own directory; sets mongo, cosmos and pid.
serve() {
    local name=$1
    shift
    "$ebb" serve --data-dir "$work/$name" --mongo-addr 127.0.0.1:0 --cosmos-addr 127.0.0.1:0 --admin-addr off \
        --ready-file "$work/$name.ready" "$@" >"$work/$name.log" 2>&1 &
    pid=$!
    pids+=("$pid")
    until [ -e "$work/$name.ready" ]; do
        kill -0 "$pid" || { cat "$work/$name.log" >&2 && exit 1; }
        sleep 0.05
    done
    read -r mongo cosmos < <(python3 -c 'import json, sys; told = json.load(open(sys.argv[1])); print(told["mongo"], told["cosmos"])' "$work/$name.ready")
}

serve open
open_mongo=$mongo open_cosmos=$cosmos open_pid=$pid
serve logins --root-user root --root-password-file "$work/password"
logins_mongo=$mongo logins_pid=$pid
serve secured --root-user root --root-password-file "$work/password" --mongo-tls require
authority=$work/secured/nosql/certificate.pem
secured_mongo=${mongo/127.0.0.1/localhost} secured_cosmos=${cosmos/127.0.0.1/localhost} secured_pid=$pid

usual=(--rounds 3 --duration 3 --warmup 1 --records 100000
    --work 'point-8,point-32,insert-8,insert,update,insert-many,indexed-find,scan,ycsb-a')

[ $# = 0 ] || usual=("$@")

echo "== logins (ours) and none (peer)"
"$bench" compare --ours "mongodb://root:$password@$logins_mongo" --ours-pid "$logins_pid" \
    --peer "mongodb://$open_mongo" --peer-pid "$open_pid" "${usual[@]}"
echo "== logins and TLS (ours) and none (peer)"
"$bench" compare --ours "mongodb://root:$password@$secured_mongo/?tlsCAFile=$authority" \
    --ours-pid "$secured_pid" --peer "mongodb://$open_mongo" --peer-pid "$open_pid" "${usual[@]}"
[ $# = 0 ] || exit 0
echo "== NoSQL API: https (ours) and http (peer)"
"$bench" cosmos compare --ours "https://$secured_cosmos?tlsCAFile=$authority" --ours-pid "$secured_pid" \
    --peer "http://$open_cosmos" --peer-pid "$open_pid" --seconds 3
