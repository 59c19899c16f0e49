# The front page: `just` lists what there is.
default:
    @just --list

# Build and run the server on the embedded store.
run *ARGS:
    cargo run --release -- serve {{ARGS}}

# What CI runs.
check:
    ./test

# The Rust tests alone.
test *ARGS:
    cargo test --workspace {{ARGS}}

# The load generator; see docs/performance.md.
bench *ARGS:
    cargo run --release -p bench -- {{ARGS}}

# The portal in a browser; arguments go to Playwright (`just portal journey`, `just portal --config bench.config.ts`).
portal *ARGS:
    EBB_PORTAL=required cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/portal/run {{ARGS}}

# Three nodes on three of Apache Cassandra, until Ctrl-C; it prints how to connect and leaves nothing behind.
cluster:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/cluster/nodes

# The long version of what is done to a cluster.
cluster-torture:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/cluster/run --torture

# The long versions of kill -9 and the other torments.
torture:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/outside/run --torture

# Every fault of docs/reliability.md at the sizes of the gate; the table of what was run is written into a directory.
faults DIR="target/faults" *FAULTS:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/outside/run --gate-faults {{DIR}} {{FAULTS}}

# The same at the sizes of a soak, which takes hours.
soak DIR="target/soak" *FAULTS:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/outside/run --soak-faults {{DIR}} {{FAULTS}}

# The server beside a real mongod: the same commands to both, replies compared.
oracle *ARGS:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/oracle/run {{ARGS}}

# Fuzzing guided by coverage of everything that reads bytes from outside; seconds a target, targets.
fuzz SECONDS="60" *TARGETS:
    fuzz/run {{SECONDS}} {{TARGETS}}

# The same without coverage: changed bytes and random trees, so many cases a target.
fuzz-random CASES="1000000":
    FUZZ_CASES={{CASES}} cargo test --release -p sim fuzz
    FUZZ_CASES={{CASES}} cargo test --release -p ebb changed_settings

# Random histories against the model, by seed.
sim *ARGS:
    cargo test --release -p sim {{ARGS}}

# The list of what the binary is made of, crates and npm packages, as CycloneDX.
sbom FILE="target/ebb.cdx.json":
    cargo fetch --locked --quiet
    deploy/sbom/run {{FILE}}

# Style and likely mistakes in all languages, licences, unused dependencies (`just lint --fix python`).
lint *ARGS:
    tests/lint/run {{ARGS}}

# An archive and a Debian package for each kind of machine that this one can build for; the folder.
package *ARGS:
    cargo fetch --locked --quiet
    deploy/package/run {{ARGS}}
