#!/bin/sh
# Starts @vercel/cosmosdb-server 1.0.1 on a free port of 127.0.0.1 over plain http, to measure
# against, and prints address and pid. It keeps everything in memory and looks at no key. It comes
# from npm into a cache outside the repository; it is run here and never shipped. It closes every
# connection after one answer unless it is started with keepAlive, so it is: nobody measures
# handshakes. Stop it with: kill PID
# With --path it only prints where the package is.
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
