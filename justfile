# Lists the recipes.
default:
    @just --list

# Build and run the server on the embedded store.
run *ARGS:
    cargo run --release -- serve {{ARGS}}

# Run the checks of CI.
check:
    ./test

# Run the Rust tests only.
test *ARGS:
    cargo test --workspace {{ARGS}}

# Run the load generator; see docs/performance.md.
bench *ARGS:
    cargo run --release -p bench -- {{ARGS}}

# Test the portal in a browser; arguments go to Playwright (`just portal journey`, `just portal --config bench.config.ts`).
portal *ARGS:
    EBB_PORTAL=required cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/portal/run {{ARGS}}

# Run three nodes on three of Apache Cassandra until Ctrl-C; prints how to connect and leaves no files behind.
cluster:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/cluster/nodes

# Run the long version of the cluster tests.
cluster-torture:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/cluster/run --torture

# Run the long versions of the tests from outside, such as SIGKILL under load.
torture:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/outside/run --torture

# Run every fault of docs/reliability.md at the sizes of the gate; the table of results is written into a directory.
faults DIR="target/faults" *FAULTS:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/outside/run --gate-faults {{DIR}} {{FAULTS}}

# Run the same at the sizes of a soak, which takes hours.
soak DIR="target/soak" *FAULTS:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/outside/run --soak-faults {{DIR}} {{FAULTS}}

# Write the page of all hostile inputs and the required replies.
hostile-page FILE="target/hostile-input.md":
    tests/outside/run --hostile-page {{FILE}}

# Compare the server with a real mongod: the same commands to both.
oracle *ARGS:
    cargo build --release -p ebb
    EBB_BIN=${CARGO_TARGET_DIR:-target}/release/ebb tests/oracle/run {{ARGS}}

# Fuzz everything that parses external bytes, guided by coverage; seconds per target, targets.
fuzz SECONDS="60" *TARGETS:
    fuzz/run {{SECONDS}} {{TARGETS}}

# Fuzz without coverage: mutated bytes and random trees; cases per target.
fuzz-random CASES="1000000":
    FUZZ_CASES={{CASES}} cargo test --release -p sim fuzz
    FUZZ_CASES={{CASES}} cargo test --release -p ebb changed_settings

# Run random histories against the model, by seed.
sim *ARGS:
    cargo test --release -p sim {{ARGS}}

# Write the software bill of materials of the binary, crates and npm packages, as CycloneDX.
sbom FILE="target/ebb.cdx.json":
    cargo fetch --locked --quiet
    deploy/sbom/run {{FILE}}

# Run the linters of all languages: style, likely mistakes, licences, unused dependencies (`just lint --fix python`).
lint *ARGS:
    tests/lint/run {{ARGS}}

# Build an archive and a Debian package for each architecture that this machine can build for; the folder.
package *ARGS:
    cargo fetch --locked --quiet
    deploy/package/run {{ARGS}}
