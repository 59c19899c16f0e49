#!/bin/sh
# Starts @vercel/cosmosdb-server 1.0.1 on a free port of 127.0.0.1 over plain http, as a peer for
# benchmarks, and prints address and pid. It keeps everything in memory and does not check keys. It is
# installed from npm into a cache outside the repository; it is run here and never shipped. By default it
# closes every connection after one reply; it is started with keepAlive, since handshakes are not
# measured. Stop it with: kill PID
# With --path it only prints the path of the package.
set -eu
. "$(dirname "$0")/peer-lib.sh"

version=1.0.1
home=$cache/cosmosdb-server-$version
package=$home/node_modules/@vercel/cosmosdb-server

if [ ! -f "$package/lib/index.js" ]; then
    fetch_begin
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" \
        "@vercel/cosmosdb-server@$version" >&2
    rm -rf "$home"
    mv "$work" "$home"
    fetch_end
fi

only_path "${1:-}" "$package"

data=$(mktemp -d "${TMPDIR:-/tmp}/ebb-peer.XXXXXX")
# shellcheck disable=SC2016 # node expands what stands in it.
PACKAGE=$package node --max-old-space-size=8192 -e '
const { createHttpServer } = require(process.env.PACKAGE);
const server = createHttpServer({ keepAlive: true });
server.listen(0, "127.0.0.1", () => console.log(`port=${server.address().port}`));
' >"$data/log" 2>&1 &
pid=$!

await "$pid" "$data/log" grep -q '^port=' "$data/log"

echo "address=http://127.0.0.1:$(sed -n 's/^port=//p' "$data/log")"
echo "pid=$pid"
