//! The authorization header, `type=master&ver=1.0&sig=...`: parses the kind of its credential,
//! without checking it.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;

use crate::denied::Denied;

/// Maximum size of an authorization header in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// The kind of credential in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A request signed with one of the keys of the Cosmos DB account.
    Master,
    /// A token that the server issued for a resource.
    Resource,
    /// A Microsoft Entra ID access token.
    Entra,
}

/// A parsed header. Its debug output hides the content: an Entra token may contain the account's
/// key, and other tokens can be used by any holder.
#[derive(Clone)]
pub struct Authorization<'a> {
    text: Cow<'a, str>,
    credential: Credential,
    /// Position of the signature in the header's text.
    signature_at: usize,
}

impl fmt::Debug for Authorization<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let credential = &self.credential;
        f.debug_struct("Authorization").field("credential", credential).finish_non_exhaustive()
    }
}

impl<'a> Authorization<'a> {
    /// Parses a header, percent-encoded or not. Fails with [`Denied::Malformed`]; `sig` must come
    /// last, since it may contain any character.
    pub fn parse(header: &'a str) -> Result<Self, Denied> {
        if MAX_HEADER_BYTES < header.len() {
            return Err(Denied::Malformed);
        }
        let text = percent_decode_str(header.trim()).decode_utf8();
        let text = text.map_err(|_| Denied::Malformed)?;
        let mut credential = None;
        let mut rest = text.as_ref();
        while let Some((part, behind)) = rest.split_once('&') {
            match part.split_once('=') {
                Some(("type", kind)) => credential = Some(kind_of(kind)?),
                Some(("ver", "1.0" | "1")) => {}
                _ => return Err(Denied::Malformed),
            }
            rest = behind;
        }
        let signature = rest.strip_prefix("sig=").ok_or(Denied::Malformed)?;
        let signature_at = text.len() - signature.len();
        let credential = credential.ok_or(Denied::Malformed)?;
        Ok(Self { text, credential, signature_at })
    }

    /// Returns the kind of credential, by which the caller chooses the check.
    pub fn credential(&self) -> Credential {
        self.credential
    }

    /// Returns the text after `sig=`.
    pub fn signature(&self) -> &str {
        self.text.get(self.signature_at..).unwrap_or_default()
    }

    /// Returns the signature as the 32 bytes of HMAC-SHA256. A different length counts as a wrong
    /// signature, not as a malformed header.
    pub(crate) fn decode_digest(&self) -> Result<[u8; 32], Denied> {
        let mut bytes = [0; 48];
        let len = STANDARD.decode_slice(self.signature(), &mut bytes);
        let bytes = bytes.get(..len.map_err(|_| Denied::Malformed)?).unwrap_or_default();
        bytes.try_into().map_err(|_| Denied::Signature)
    }
}

/// Returns the kind that `type=` names.
fn kind_of(text: &str) -> Result<Credential, Denied> {
    match text {
        "master" => Ok(Credential::Master),
        "resource" => Ok(Credential::Resource),
        "aad" => Ok(Credential::Entra),
        _ => Err(Denied::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_encoded_or_plain() {
        for (header, want) in [
            ("type%3Dmaster%26ver%3D1.0%26sig%3Da%2Bb%2F%3D", Ok((Credential::Master, "a+b/="))),
            ("type=master&ver=1.0&sig=a+b/=", Ok((Credential::Master, "a+b/="))),
            ("type=resource&ver=1&sig=x==;y;z&t;", Err(Denied::Malformed)),
            ("type=resource&ver=1&sig=x==;y;", Ok((Credential::Resource, "x==;y;"))),
            ("type=aad&ver=1.0&sig=a.b.c", Ok((Credential::Entra, "a.b.c"))),
            ("sig=a", Err(Denied::Malformed)),
            ("type=master&ver=1.0", Err(Denied::Malformed)),
            ("type=slave&ver=1.0&sig=a", Err(Denied::Malformed)),
            ("Bearer abc", Err(Denied::Malformed)),
            ("type%3Dmaster%26sig%3D%FF", Err(Denied::Malformed)),
            ("", Err(Denied::Malformed)),
        ] {
            let found = Authorization::parse(header);
            let found = found.as_ref().map(|found| (found.credential(), found.signature()));
            assert_eq!(found.map_err(|denied| *denied), want, "{header}");
        }
        assert!(Authorization::parse(&"x".repeat(20_000)).is_err());
        let planted = Authorization::parse("type=aad&ver=1.0&sig=planted").unwrap();
        assert_eq!(format!("{planted:?}"), "Authorization { credential: Entra, .. }");
    }
}
