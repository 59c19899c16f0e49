//! The client's first message: the user's name and the client's nonce.

use super::{
    Malformed,
    attributes::{NO_EXTENSION, check_extensions, take, text_of},
};

/// Maximum length of a client's SCRAM nonce in bytes.
const MAX_NONCE_BYTES: usize = 1024;

/// A parsed client-first message. The user's name is unescaped, but not normalized by SASLprep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFirst {
    /// The name of the user, never empty.
    pub user: String,
    pub(super) nonce: String,
    /// The GS2 header, which precedes `bare`, including its last comma; the client's final message
    /// repeats it.
    pub(super) header: String,
    /// The message without the GS2 header; it is part of the signed text.
    pub(super) bare: String,
}

impl ClientFirst {
    /// Parses a message of the form `n,[a=NAME],n=NAME,r=NONCE[,extensions]`; the first `n` may be
    /// `y`. The name to act as (`a=`) must be the user's own. Channel binding and mandatory
    /// extensions are refused with specific errors.
    pub fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let text = text_of(payload)?;
        let mut parts = text.splitn(3, ',');
        match parts.next() {
            Some("n" | "y") => {}
            Some(binding) if binding.starts_with("p=") => {
                return Err(Malformed("channel binding is not supported"));
            }
            _ => return Err(Malformed("the message does not start with n, y or p")),
        }
        let (Some(acting), Some(bare)) = (parts.next(), parts.next()) else {
            return Err(Malformed("the message ends before the name"));
        };
        if bare.starts_with("m=") {
            return Err(NO_EXTENSION);
        }
        let (name, rest) = take(bare, "n=", Malformed("the user name is missing"))?;
        let user = unescape(name)?;
        check_acting(acting, &user)?;
        let rest = rest.ok_or(Malformed("the message ends before the nonce"))?;
        let (nonce, rest) = take(rest, "r=", Malformed("the nonce is missing"))?;
        check_nonce(nonce)?;
        check_extensions(rest)?;
        let header = text.strip_suffix(bare).unwrap_or_default();
        Ok(Self { user, nonce: nonce.to_owned(), header: header.to_owned(), bare: bare.to_owned() })
    }
}

/// Checks that the authorization identity (`a=`), if any, is the user itself.
fn check_acting(acting: &str, user: &str) -> Result<(), Malformed> {
    if acting.is_empty() {
        return Ok(());
    }
    let name = acting.strip_prefix("a=").ok_or(Malformed("the attribute a= is malformed"))?;
    if unescape(name)? == user {
        return Ok(());
    }
    Err(Malformed("authorization as another user is not supported"))
}

/// Unescapes a name: `=2C` is a comma and `=3D` an equals sign. Any other equals sign is an error.
fn unescape(name: &str) -> Result<String, Malformed> {
    let mut parts = name.split('=');
    let mut found = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (character, rest) = match (part.strip_prefix("2C"), part.strip_prefix("3D")) {
            (Some(rest), _) => (',', rest),
            (_, Some(rest)) => ('=', rest),
            _ => return Err(Malformed("a name contains an unknown escape")),
        };
        found.push(character);
        found.push_str(rest);
    }
    if found.is_empty() {
        return Err(Malformed("a name is empty"));
    }
    Ok(found)
}

/// Checks that a nonce is printable ASCII, and neither empty nor too long. Commas need no check,
/// since the message was split at them.
fn check_nonce(nonce: &str) -> Result<(), Malformed> {
    if MAX_NONCE_BYTES < nonce.len() {
        return Err(Malformed("the nonce is too long"));
    }
    if nonce.is_empty() || !nonce.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Malformed("the nonce contains unprintable characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_begin_an_exchange() {
        let long = format!("n,,n=u,r={}", "x".repeat(MAX_NONCE_BYTES));
        for (message, user, header, nonce) in [
            ("n,,n=user,r=abc", "user", "n,,", "abc"),
            ("y,,n=user,r=abc", "user", "y,,", "abc"),
            ("n,a=user,n=user,r=abc", "user", "n,a=user,", "abc"),
            ("n,a=u=2Cv,n=u=2Cv,r=abc", "u,v", "n,a=u=2Cv,", "abc"),
            ("n,,n=a=3D=2C=3Db,r=a=b", "a=,=b", "n,,", "a=b"),
            ("n,,n=Jörg \u{fb01},r=!~", "Jörg \u{fb01}", "n,,", "!~"),
            ("n,,n=u,r=abc,x=1,Y=a=b", "u", "n,,", "abc"),
            (&long, "u", "n,,", &long[9..]),
        ] {
            let first = ClientFirst::parse(message.as_bytes()).unwrap();
            let found = (first.user.as_str(), first.header.as_str(), first.nonce.as_str());
            assert_eq!(found, (user, header, nonce), "{message}");
            assert_eq!(format!("{}{}", first.header, first.bare), message);
        }
    }

    #[test]
    fn messages_that_begin_none() {
        let long_nonce = format!("n,,n=u,r={}", "x".repeat(MAX_NONCE_BYTES + 1));
        let large = format!("n,,n={},r=abc", "u".repeat(crate::scram::attributes::MAX_SCRAM_BYTES));
        for (message, want) in [
            ("p=tls-unique,,n=u,r=abc", "channel binding is not supported"),
            ("p=,,n=u,r=abc", "channel binding is not supported"),
            ("", "the message does not start with n, y or p"),
            ("x,,n=u,r=abc", "the message does not start with n, y or p"),
            ("N,,n=u,r=abc", "the message does not start with n, y or p"),
            ("n=u,r=abc", "the message does not start with n, y or p"),
            ("c=biws,r=abc,p=YWJj", "the message does not start with n, y or p"),
            ("n,", "the message ends before the name"),
            ("n,,", "the user name is missing"),
            ("n,,r=abc,n=u", "the user name is missing"),
            ("n,,m=x,n=u,r=abc", "a mandatory extension is not supported"),
            ("n,,n=u,r=abc,m=x", "a mandatory extension is not supported"),
            ("n,a=other,n=u,r=abc", "authorization as another user is not supported"),
            ("n,a=,n=u,r=abc", "a name is empty"),
            ("n,u,n=u,r=abc", "the attribute a= is malformed"),
            ("n,,n=,r=abc", "a name is empty"),
            ("n,,n=a=2c,r=abc", "a name contains an unknown escape"),
            ("n,,n=a=,r=abc", "a name contains an unknown escape"),
            ("n,,n=a==2C,r=abc", "a name contains an unknown escape"),
            ("n,,n=a\0b,r=abc", "the message contains a zero byte"),
            ("n,,n=u", "the message ends before the nonce"),
            ("n,,n=u,x=1,r=abc", "the nonce is missing"),
            ("n,,n=u,r=", "the nonce contains unprintable characters"),
            ("n,,n=u,r=a b", "the nonce contains unprintable characters"),
            ("n,,n=u,r=a\u{7f}", "the nonce contains unprintable characters"),
            ("n,,n=u,r=ä", "the nonce contains unprintable characters"),
            ("n,,n=u,r=abc,", "an extension is not an attribute"),
            ("n,,n=u,r=abc,x", "an extension is not an attribute"),
            ("n,,n=u,r=abc,x=", "an extension is not an attribute"),
            ("n,,n=u,r=abc,1=a", "an extension is not an attribute"),
            ("n,,n=u,r=abc,xy=a", "an extension is not an attribute"),
            ("n,,n=u,r=abc,r=abc", "an attribute is out of place"),
            ("n,,n=u,r=abc,i=1", "an attribute is out of place"),
            (&long_nonce, "the nonce is too long"),
            (&large, "the message is too long"),
        ] {
            let found = ClientFirst::parse(message.as_bytes());
            assert_eq!(found, Err(Malformed(want)), "{message}");
        }
        let found = ClientFirst::parse(b"n,,n=\xff,r=abc");
        assert_eq!(found, Err(Malformed("the message is not UTF-8")));
    }
}
