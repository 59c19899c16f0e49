//! Passes libFuzzer's inputs to the target that `FUZZ_TARGET` names.
#![no_main]

use std::sync::LazyLock;

use fuzz_targets::{TARGETS, Target};

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    let chosen = TARGETS.iter().find(|(target, _)| *target == name);
    chosen.expect("a target has the name in FUZZ_TARGET").1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));
