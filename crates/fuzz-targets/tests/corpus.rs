//! Replays every stored input of every target: inputs that once caused a failure, and inputs that
//! together have the widest coverage.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

use std::{fs, path::PathBuf};

use fuzz_targets::TARGETS;

fn corpus() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../fuzz/corpus")
}

fn inputs(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = corpus().join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn all_targets_bear_what_was_kept() {
    for (name, target) in TARGETS {
        let inputs = inputs(name);
        assert!(10 <= inputs.len(), "{name} has {} inputs", inputs.len());
        for (path, bytes) in inputs {
            let caught = std::panic::catch_unwind(|| target(&bytes));
            assert!(caught.is_ok(), "{name} failed on {}", path.display());
        }
    }
}

#[test]
fn no_input_is_of_no_target() {
    for folder in fs::read_dir(corpus()).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(TARGETS.iter().any(|(target, _)| *target == name), "{name} is no target");
    }
}
