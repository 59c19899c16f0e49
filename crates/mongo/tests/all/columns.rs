//! Columns of the command table that are repeated in other parts of the repository.

use std::path::PathBuf;

/// `NO_DOCUMENTS` in `tests/outside/ghosts/test_matrix.py`, which checks that no command shows an
/// expired document, lists the commands that do not see documents. That test runs against a server
/// and cannot use this crate, so its list is compared with the table here.
#[test]
fn the_matrix_of_expired_documents_leaves_out_what_sees_none() {
    let path = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("../../tests/outside/ghosts/test_matrix.py");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, list) = text.split_once("NO_DOCUMENTS = {\n").unwrap();
    let (list, _) = list.split_once("}\n").unwrap();
    let names = list.split(['"', ',', ' ', '\n']);
    let mut named: Vec<&str> = names.filter(|it| !it.is_empty()).collect();
    named.sort_unstable();
    let rows = mongo::table().iter().filter(|row| !row.sees_documents);
    let mut without: Vec<&str> = rows.map(|row| row.name).collect();
    without.sort_unstable();
    assert_eq!(named, without);
}
