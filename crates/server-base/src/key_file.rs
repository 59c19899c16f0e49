//! The file with the keys of the NoSQL API's account, `--key-file`.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use auth::Secret;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use cosmos::Keys;

use crate::{
    failure::{Failure, failed},
    random::fill_randomly,
};

/// Bytes of a generated account key, as many as Azure's keys have.
const NEW_KEY_BYTES: usize = 64;
/// Mode bits for users other than the owner and group of a file.
const OTHERS: u32 = 0o007;

/// Returns the account's keys from the file, or the emulator's well-known key without a file.
/// Refuses a file that other users may read.
pub fn read_keys(file: Option<&Path>) -> Result<Keys, Failure> {
    let Some(file) = file else {
        return Keys::well_known().map_err(|error| failed(format!("the key: {error}")));
    };
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::Usage(format!("--key-file {}: {error}", file.display()))
    };
    let mode = fs::metadata(file).map_err(|error| wrong(&error))?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(wrong(&"it is readable by other users: chmod o-rwx it, and generate new keys"));
    }
    let text = fs::read_to_string(file).map(Secret::from_text).map_err(|error| wrong(&error))?;
    Keys::parse(text.text().unwrap_or_default()).map_err(|error| wrong(&error))
}

/// Returns the primary key of a key file, with which clients sign their requests.
pub fn first_key(file: &Path) -> Result<Secret, Failure> {
    Ok(Secret::from_text(read_keys(Some(file))?.primary().to_owned()))
}

/// Returns the text of a key file with four new keys, as `--key-file` reads it.
pub fn new_key_file() -> Result<Secret, Failure> {
    let mut text = String::from(
        "# Keys of the account, for --key-file. Only the server's user may read this file.\n",
    );
    for (name, for_whom) in [
        ("primary", "reads and writes"),
        ("secondary", "reads and writes, for key rotation"),
        ("primary-readonly", "reads"),
        ("secondary-readonly", "reads, for key rotation"),
    ] {
        let mut bytes = [0; NEW_KEY_BYTES];
        fill_randomly(&mut bytes)
            .map_err(|error| failed(format!("cannot generate a key: {error}")))?;
        text.push_str(&format!("# {for_whom}\n{name} = {}\n", STANDARD.encode(bytes)));
    }
    Ok(Secret::from_text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_keys_are_read_as_a_key_file_and_are_nobody_elses() {
        let (one, other) = (new_key_file().unwrap(), new_key_file().unwrap());
        let text = one.text().unwrap();
        let keys = Keys::parse(text).unwrap();
        assert!(!keys.are_well_known());
        let of = |text: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.split_once(" = "));
            lines.map(|(_, key)| key.to_owned()).collect()
        };
        let mut all = [of(text), of(other.text().unwrap())].concat();
        assert_eq!((all.len(), all[0].as_str()), (8, keys.primary()));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8, "all are different");
    }
}
