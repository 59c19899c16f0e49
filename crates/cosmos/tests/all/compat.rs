//! `docs/compat/cosmos-nosql.md` is generated from the tables in the crate. `EBB_UPDATE=1 cargo
//! test -p cosmos compat` writes it.

use std::{fs, path::PathBuf};

#[test]
fn the_page_says_what_the_code_does() {
    let path = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("../../docs/compat/cosmos-nosql.md");
    if std::env::var_os("EBB_UPDATE").is_some() {
        fs::write(&path, cosmos::compat()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == cosmos::compat(), "run EBB_UPDATE=1 cargo test -p cosmos compat");
}
