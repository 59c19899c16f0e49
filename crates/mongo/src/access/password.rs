//! The password input of SCRAM-SHA-1 in MongoDB's API: a digest instead of the password itself.
//! SCRAM-SHA-256 uses the password.

use md5::{Digest, Md5};

/// Returns the MD5 digest of `user:mongo:password` as 32 lower-case hexadecimal digits. MongoDB's
/// authentication specification prescribes it, so drivers compute the same.
pub(crate) fn sha1_digest(user: &str, password: &str) -> String {
    let mut hash = Md5::new();
    for part in [user, ":mongo:", password] {
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_specification() {
        for (user, password, digest) in [
            ("user", "pencil", "1c33006ec1ffd90f9cadcbcc0e118200"),
            ("", "", "4f75033e39d8b884aa7d88e2fadfe2cb"),
        ] {
            assert_eq!(sha1_digest(user, password), digest, "{user}");
        }
    }
}
