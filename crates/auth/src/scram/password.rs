//! The normalization of passwords before they are hashed (SASLprep), so that different Unicode
//! encodings of the same characters give the same hash.

use std::borrow::Cow;

use secret::Secret;

use super::Malformed;

/// Maximum length of a password in bytes, before preparation, which may make it several times as
/// long.
const MAX_PASSWORD_BYTES: usize = 1024;

/// Returns a password prepared by SASLprep (RFC 4013) for SHA-256, as every client does. Refuses
/// control characters and characters that Unicode 3.2 did not have, as clients do, and a password
/// that is empty or longer than `MAX_PASSWORD_BYTES`.
pub fn prepare_password(password: &str) -> Result<Secret, Malformed> {
    if MAX_PASSWORD_BYTES < password.len() {
        return Err(Malformed("the password is too long"));
    }
    let prepared = stringprep::saslprep(password)
        .map_err(|_| Malformed("the password contains a prohibited character"))?;
    if prepared.is_empty() {
        return Err(Malformed("the password is empty"));
    }
    Ok(Secret::from_text(match prepared {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_spelled_in_one_way() {
        let longest = "x".repeat(MAX_PASSWORD_BYTES);
        let long = "x".repeat(MAX_PASSWORD_BYTES + 1);
        let (refused, empty) =
            ("the password contains a prohibited character", "the password is empty");
        for (password, want) in [
            ("pencil", Ok("pencil")),
            // The examples of RFC 4013.
            ("I\u{ad}X", Ok("IX")),
            ("user", Ok("user")),
            ("USER", Ok("USER")),
            ("\u{aa}", Ok("a")),
            ("\u{2168}", Ok("IX")),
            ("\u{7}", Err(refused)),
            ("\u{627}1", Err(refused)),
            ("a\u{a0}b", Ok("a b")),
            ("e\u{301}", Ok("\u{e9}")),
            ("\u{1f511}", Err(refused)),
            ("", Err(empty)),
            ("\u{ad}", Err(empty)),
            (&longest, Ok(longest.as_str())),
            (&long, Err("the password is too long")),
        ] {
            let found = prepare_password(password);
            let found = found.as_ref().map(|secret| secret.text().unwrap());
            assert_eq!(found, want.map_err(Malformed).as_ref().copied(), "{password:?}");
        }
    }

    #[test]
    fn a_prepared_password_stays_bounded() {
        let most = "\u{fdfa}".repeat(MAX_PASSWORD_BYTES / 3);
        assert!(prepare_password(&most).unwrap().bytes().len() <= 11 * MAX_PASSWORD_BYTES);
    }
}
