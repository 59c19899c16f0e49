//! Session cookies and the CSRF tokens of pages. A session ends when it expires, when the key with
//! which it was started is removed, or by a logout. Only logouts are stored (`ended_sessions.rs`);
//! sessions survive a restart.
//!
//! ```text
//! ebb_session = <end, seconds since 1970>.<w or r>.<16 hex digits>.<HMAC-SHA256, base64>
//! ```

use std::{io, sync::Arc};

use arc_swap::ArcSwap;
use auth::{CurrentKeys, InvalidKey, Key, Keys, Right, Secret};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::ended_sessions::{EndedSessions, SessionStore};

/// Lifetime of a session in seconds from its login; use does not extend it.
const SESSION_SECONDS: i64 = 12 * 60 * 60;

/// Method by which a sender was authenticated.
#[derive(Clone, Debug)]
pub(crate) enum AuthMethod {
    /// Not authenticated: the address is open.
    Nothing,
    /// Authenticated by a key in this request, given by its position in the account.
    Key(usize),
    /// Authenticated by a session cookie.
    Session(Session),
}

/// Label for deriving session keys from the account's keys. If its number changes, all sessions of
/// earlier versions become invalid.
const LABEL: &[u8] = b"ebb portal session 2";
/// Prefix of the signed text of a cookie. The prefixes differ, so that a signature of one kind of
/// text is not valid for another kind.
const COOKIE: &[u8] = b"cookie\0";
/// Prefix of the signed text of a CSRF token.
const TOKEN: &[u8] = b"token\0";
/// Prefix of the signed text of an identity.
const IDENTITY: &[u8] = b"identity\0";
const NAME: &str = "ebb_session";

/// A valid session: opened from a cookie, or just started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    /// Right of the key with which the session was started.
    pub(crate) right: Right,
    /// Position, in the account's list of keys, of the key with which the session was started.
    key_index: usize,
    /// Expiry in seconds since the Unix epoch.
    until: i64,
    /// The cookie's value, which also identifies the session.
    sealed: Secret,
}

impl Session {
    fn value(&self) -> &str {
        self.sealed.text().unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Sessions {
    current: CurrentKeys,
    /// A key derived from each of the account's keys. If an account key is removed, so is its
    /// derived key, which ends the sessions started with it.
    derived: ArcSwap<SessionKeys>,
    /// Random key of this process. It signs the tokens of pages without a session, and the
    /// identities of senders.
    own: Key,
    ended: EndedSessions,
}

/// The derived session keys, and the account keys from which they were derived.
#[derive(Debug)]
struct SessionKeys {
    from: Arc<Keys>,
    keys: Vec<(Key, Right)>,
}

impl SessionKeys {
    fn of(from: Arc<Keys>) -> Result<Self, InvalidKey> {
        Ok(Self { keys: from.derive_keys(LABEL)?, from })
    }
}

impl Sessions {
    /// Creates the sessions of an account. Fails if a key cannot be used for signing.
    pub(crate) fn new(
        current: &CurrentKeys,
        secret: &Secret,
        ended: SessionStore,
    ) -> Result<Self, InvalidKey> {
        let derived = ArcSwap::from_pointee(SessionKeys::of(current.load())?);
        let own = Key::of(secret.bytes())?;
        Ok(Self { current: current.clone(), derived, own, ended: EndedSessions::new(ended) })
    }

    /// Returns the session keys; derives them again if the account's keys have changed.
    fn keys(&self) -> Arc<SessionKeys> {
        let (now, held) = (self.current.load(), self.derived.load_full());
        if Arc::ptr_eq(&now, &held.from) {
            return held;
        }
        match SessionKeys::of(now) {
            // Concurrent callers derive equal keys.
            Ok(derived) => {
                let derived = Arc::new(derived);
                self.derived.store(Arc::clone(&derived));
                derived
            }
            // Unreachable: the keys were validated when they were read.
            Err(_) => held,
        }
    }

    /// Starts a session with the key at this position in the account's list; returns `None` if
    /// there is no such key. `now_s` is wall-clock time in seconds since the Unix epoch, as
    /// browsers use.
    pub(crate) fn begin_session(&self, key_index: usize, now_s: i64) -> Option<Session> {
        let derived = self.keys();
        let (key, right) = derived.keys.get(key_index)?;
        let until = now_s.saturating_add(SESSION_SECONDS);
        // The random number distinguishes sessions started in the same second; it is not secret.
        let claims = format!("{until}.{}.{:016x}", right_letter(*right), fastrand::u64(..));
        let seal = URL_SAFE_NO_PAD.encode(key.sign(&[COOKIE, claims.as_bytes()]));
        Some(Session {
            right: *right,
            key_index,
            until,
            sealed: Secret::from_text(format!("{claims}.{seal}")),
        })
    }

    /// Ends a session: its cookie becomes invalid. If the end of the session cannot be stored, the
    /// cookie becomes valid again at the next restart.
    pub(crate) fn end_session(&self, session: &Session, now_s: i64) -> io::Result<()> {
        self.ended.add(session.value(), session.until, now_s)
    }

    /// Returns the first valid session among the cookies of a request; `headers` are its `Cookie`
    /// headers.
    pub(crate) fn of_cookies<'a>(
        &self,
        headers: impl Iterator<Item = &'a str>,
        now_s: i64,
    ) -> Option<Session> {
        let pairs = headers.flat_map(|header| header.split(';'));
        let named = pairs.filter_map(|pair| pair.trim().split_once('='));
        let sealed = named.filter(|(name, _)| *name == NAME).map(|(_, value)| value);
        sealed.filter_map(|sealed| self.open_cookie(sealed, now_s)).next()
    }

    /// Returns the session of a cookie if its signature is valid, its key still has the same right,
    /// and it has not ended.
    fn open_cookie(&self, sealed: &str, now_s: i64) -> Option<Session> {
        let (claims, seal) = sealed.rsplit_once('.')?;
        let seal = decode_digest(seal)?;
        let (until, right) = claims.split_once('.')?;
        let (right, _) = right.split_once('.')?;
        // The cookie does not name its key, so the account's few keys are tried.
        let derived = self.keys();
        let key_index = derived.keys.iter().position(|(key, held)| {
            let same = bool::from(key.verifies(&[COOKIE, claims.as_bytes()], &seal));
            same && right_letter(*held) == right
        })?;
        let (_, right) = derived.keys.get(key_index)?;
        let until: i64 = until.parse().ok()?;
        // The expiry is covered by the signature verified above.
        let good = now_s < until && !self.ended.has(sealed, until);
        good.then(|| Session {
            right: *right,
            key_index,
            until,
            sealed: Secret::from_text(sealed.to_owned()),
        })
    }

    /// Returns the CSRF token of a session, or of a page without one. It is a signature and need
    /// not be stored.
    pub(crate) fn csrf_token(&self, session: Option<&Session>) -> String {
        let (key, subject) = self.signing_key(session);
        URL_SAFE_NO_PAD.encode(key.sign(&[TOKEN, subject]))
    }

    /// Returns whether this is the CSRF token of the session, or of a page without one.
    pub(crate) fn knows_token(&self, session: Option<&Session>, token: &str) -> bool {
        let (key, subject) = self.signing_key(session);
        decode_digest(token).is_some_and(|token| key.verifies(&[TOKEN, subject], &token).into())
    }

    /// Returns an identifier that all requests of one session, or with one key, have in common.
    /// Open cursors belong to this identity.
    pub(crate) fn identity(&self, by: &AuthMethod) -> [u8; 32] {
        match by {
            AuthMethod::Nothing => self.own.sign(&[IDENTITY]),
            AuthMethod::Key(key_index) => {
                self.own.sign(&[IDENTITY, b"key\0", &key_index.to_le_bytes()])
            }
            AuthMethod::Session(session) => {
                self.own.sign(&[IDENTITY, b"session\0", session.sealed.bytes()])
            }
        }
    }

    /// Returns the key with which the CSRF token of a session is signed, and the signed text.
    fn signing_key<'a>(&self, session: Option<&'a Session>) -> (Key, &'a [u8]) {
        let derived = self.keys();
        let of = |session: &'a Session| {
            let (key, _) = derived.keys.get(session.key_index)?;
            Some((key.clone(), session.sealed.bytes()))
        };
        session.and_then(of).unwrap_or_else(|| (self.own.clone(), b""))
    }
}

/// Decodes a 32-byte signature from base64; returns `None` if it is invalid.
fn decode_digest(text: &str) -> Option<[u8; 32]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

/// Returns the letter of a right in cookies.
fn right_letter(right: Right) -> &'static str {
    match right {
        Right::Write => "w",
        Right::Read => "r",
    }
}

/// Returns the `Set-Cookie` value of a session: scripts cannot read the cookie, and browsers omit
/// it from cross-site requests. A cookie that was set over TLS is sent only over TLS.
pub(crate) fn session_cookie(session: &Session, over_tls: bool) -> String {
    let (sealed, secure) = (session.value(), if over_tls { "; Secure" } else { "" });
    format!("{NAME}={sealed}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SESSION_SECONDS}{secure}")
}

/// Returns the `Set-Cookie` value that removes the cookie.
pub(crate) fn no_cookie() -> String {
    format!("{NAME}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITER: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
    const READER: &str = "ZmVkY2JhOTg3NjU0MzIxMA==";

    #[test]
    fn a_session_ends_when_its_key_is_replaced() {
        let named = |text| Keys::new(&[(text, Right::Write)]).unwrap();
        let current = CurrentKeys::new(named(WRITER));
        let secret = Secret::from_bytes(vec![7; 32]);
        let all = Sessions::new(&current, &secret, SessionStore::nowhere()).unwrap();
        let old = all.begin_session(0, 0).unwrap();
        assert!(all.open_cookie(old.value(), 1).is_some());
        current.replace(named(READER));
        assert!(all.open_cookie(old.value(), 1).is_none());
        let new = all.begin_session(0, 0).unwrap();
        assert!(all.open_cookie(new.value(), 1).is_some());
        let token = all.csrf_token(Some(&new));
        assert!(all.knows_token(Some(&new), &token) && !all.knows_token(Some(&old), &token));
    }

    #[test]
    fn a_session_has_an_identity_of_its_own() {
        let all = sessions(&[(WRITER, Right::Write), (READER, Right::Read)]);
        let begun = |key_index: usize, now: i64| {
            AuthMethod::Session(all.begin_session(key_index, now).unwrap())
        };
        let senders = [
            AuthMethod::Nothing,
            AuthMethod::Key(0),
            AuthMethod::Key(1),
            begun(0, 0),
            begun(1, 0),
            begun(1, 1),
        ];
        let names: Vec<[u8; 32]> = senders.iter().map(|by| all.identity(by)).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{:?}", senders[at]);
        }
        assert_eq!(all.identity(&senders[4]), names[4]);
    }

    fn sessions(keys: &[(&str, Right)]) -> Sessions {
        Sessions::new(
            &Keys::new(keys).unwrap().into(),
            &Secret::from_bytes(vec![7; 32]),
            SessionStore::nowhere(),
        )
        .unwrap()
    }

    #[test]
    fn neither_cookies_nor_keys_are_printed() {
        let all = sessions(&[(WRITER, Right::Write)]);
        let session = all.begin_session(0, 1000).unwrap();
        let seal = session.value().rsplit_once('.').unwrap().1.to_owned();
        let text = format!("{all:?} {session:?} {:?}", AuthMethod::Session(session.clone()));
        assert!(text.contains("Session") && text.contains("Write"), "{text}");
        assert!(!text.contains(&seal) && !text.contains(WRITER), "{text}");
    }

    #[test]
    fn a_session_ends_with_its_time_and_with_its_key() {
        let both = sessions(&[(WRITER, Right::Write), (READER, Right::Read)]);
        let reads = both.begin_session(1, 1000).unwrap();
        let header = format!("a=b; ebb_session=junk; {}", session_cookie(&reads, true));
        let open = |of: &Sessions, now_s| of.of_cookies([header.as_str()].into_iter(), now_s);
        let last = 1000 + SESSION_SECONDS - 1;
        assert_eq!(open(&both, last), Some(reads.clone()));
        assert_eq!(open(&both, last + 1), None);
        let other = sessions(&[(READER, Right::Write), (WRITER, Right::Read)]);
        assert_eq!(open(&other, last), None, "the key is good for something else now");
        assert_eq!(open(&sessions(&[(WRITER, Right::Write)]), last), None, "the key is gone");
        let moved = sessions(&[(auth::WELL_KNOWN_KEY, Right::Write), (READER, Right::Read)]);
        assert_eq!(open(&moved, last).unwrap().right, Right::Read);
        assert_eq!(both.begin_session(2, 1000), None);
    }

    #[test]
    fn a_session_that_was_ended_is_no_good_and_others_are() {
        let both = sessions(&[(WRITER, Right::Write), (READER, Right::Read)]);
        let (one, other) =
            (both.begin_session(0, 1000).unwrap(), both.begin_session(0, 1000).unwrap());
        assert!(both.open_cookie(one.value(), 1000).is_some());
        both.end_session(&one, 1000).unwrap();
        assert_eq!(both.open_cookie(one.value(), 1000), None);
        assert_eq!(both.open_cookie(other.value(), 1000), Some(other));
    }

    #[test]
    fn nothing_of_a_cookie_can_be_changed() {
        let both = sessions(&[(WRITER, Right::Write), (READER, Right::Read)]);
        let session = both.begin_session(1, 1000).unwrap();
        let sealed = session.value();
        assert!(both.open_cookie(sealed, 1000).is_some());
        let (claims, seal) = sealed.rsplit_once('.').unwrap();
        let other = if seal.starts_with('A') { 'B' } else { 'A' };
        for changed in [
            sealed.replacen(".r.", ".w.", 1),
            format!("9{sealed}"),
            format!("{claims}.{}", &seal[1..]),
            format!("{claims}.{other}{}", &seal[1..]),
            format!("{claims}."),
            claims.to_owned(),
            String::new(),
            "..".to_owned(),
        ] {
            assert_eq!(both.open_cookie(&changed, 1000), None, "{changed}");
        }
    }

    #[test]
    fn a_token_is_of_one_session() {
        let both = sessions(&[(WRITER, Right::Write), (READER, Right::Read)]);
        let (one, other) =
            (both.begin_session(0, 1000).unwrap(), both.begin_session(0, 1001).unwrap());
        let tokens = [None, Some(&one), Some(&other)].map(|of| both.csrf_token(of));
        for (at, of) in [None, Some(&one), Some(&other)].into_iter().enumerate() {
            for (given, token) in tokens.iter().enumerate() {
                assert_eq!(both.knows_token(of, token), at == given, "{at} {given}");
            }
            assert!(!both.knows_token(of, ""));
        }
    }
}
