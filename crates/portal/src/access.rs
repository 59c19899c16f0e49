//! Identifies the sender of a request and its right: by the address to which it was sent, by a key,
//! or by a session. The module `gate` decides which requests are checked.

use std::{fmt, net::IpAddr};

use auth::{CurrentKeys, GuessLimiter, Keys, Right};
use axum::http::{HeaderMap, header};

use crate::{
    error::{Error, Result},
    host::only_reads,
    session::{AuthMethod, Session, Sessions},
};

/// Whether senders of requests must authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// Everyone who can reach the address has full access.
    Open,
    /// An account key is required, in a header or for a session.
    Required,
    /// Access is refused, because the account has the emulator's well-known key and other machines
    /// can reach the address.
    Refused,
}

impl Login {
    /// Determines whether senders must authenticate. It depends on whether only this machine can
    /// reach the address, on the keys, and on whether one of the APIs requires authentication
    /// (`an_api_asks`). If only this machine can reach the address, a key is required only if one
    /// of the APIs requires authentication; otherwise the same users could reach the data through
    /// the API without a key.
    pub fn of(only_this_machine: bool, keys: &Keys, an_api_asks: bool) -> Self {
        match (only_this_machine, keys.are_well_known()) {
            (true, true) => Self::Open,
            (true, false) if !an_api_asks => Self::Open,
            (false, true) => Self::Refused,
            (_, false) => Self::Required,
        }
    }
}

/// The sender's right and how it was authenticated. The gate stores it in the request.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) right: Right,
    pub(crate) by: AuthMethod,
}

#[derive(Debug)]
pub(crate) struct Authenticator {
    pub(crate) login: Login,
    pub(crate) keys: CurrentKeys,
    pub(crate) sessions: Sessions,
    /// Number of requests with wrong keys, for each client address.
    guesses: GuessLimiter,
}

impl Authenticator {
    pub(crate) fn new(login: Login, keys: CurrentKeys, sessions: Sessions) -> Self {
        Self { login, keys, sessions, guesses: GuessLimiter::default() }
    }

    /// Returns the access of the sender; `None` if the sender is unknown. Fails for a wrong key,
    /// and if access is refused. A key in a header takes precedence over a session, because
    /// programs send it deliberately.
    pub(crate) fn known_access(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Option<Access>> {
        match self.login {
            Login::Refused => return Err(Error::key_is_known()),
            Login::Open => {
                return Ok(Some(Access { right: Right::Write, by: AuthMethod::Nothing }));
            }
            Login::Required => {}
        }
        if let Some(key) = bearer_key(headers) {
            let (key_index, right) = self.check_key(key, peer)?;
            return Ok(Some(Access { right, by: AuthMethod::Key(key_index) }));
        }
        let session = self.find_session(headers);
        Ok(session.map(|session| Access { right: session.right, by: AuthMethod::Session(session) }))
    }

    /// Returns the session in a request's cookies, whether or not one is required.
    pub(crate) fn find_session(&self, headers: &HeaderMap) -> Option<Session> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        self.sessions.of_cookies(cookies, clock::wall_ms().div_euclid(1000))
    }

    /// Returns the position of a key among the account's keys, and its right. After too many wrong
    /// keys from an address, further wrong ones get 429. A correct key is always accepted, so that
    /// senders who share an address do not lock each other out.
    pub(crate) fn check_key(&self, key: &str, peer: Option<IpAddr>) -> Result<(usize, Right)> {
        let wrong = || match self.guesses.record_wrong_key(peer, clock::monotonic_time()) {
            Some(seconds) => Error::too_many_attempts(seconds),
            None => Error::wrong_key(),
        };
        self.keys.load().find_key(key).ok_or_else(wrong)
    }

    /// Refuses a change without the CSRF token of its session in `x-ebb-csrf`. Without a session it
    /// must be the token of pages that have no session.
    pub(crate) fn check_token(&self, headers: &HeaderMap, session: Option<&Session>) -> Result<()> {
        let token = headers.get("x-ebb-csrf").and_then(|token| token.to_str().ok());
        match self.sessions.knows_token(session, token.unwrap_or_default()) {
            true => Ok(()),
            false => Err(Error::wrong_csrf_token()),
        }
    }

    /// Returns the sender's access, or an error if the sender is unknown, a change lacks its CSRF
    /// token, or a read-only key is used for a change. The token is required for sessions, and for
    /// pages without login, because other sites can make a browser send requests in both cases.
    pub(crate) fn admit(&self, of: &AuthRequest<'_>) -> Result<Access> {
        let access = self.known_access(of.headers, of.peer)?.ok_or_else(Error::not_signed_in)?;
        // A cross-site read changes nothing, and the other site cannot read the response.
        if !only_reads(of.method) {
            match &access.by {
                AuthMethod::Session(session) => self.check_token(of.headers, Some(session))?,
                AuthMethod::Nothing if of.is_page => self.check_token(of.headers, None)?,
                AuthMethod::Nothing | AuthMethod::Key(_) => {}
            }
            if access.right == Right::Read && !of.only_asks {
                return Err(Error::read_only());
            }
        }
        Ok(access)
    }
}

/// The parts of a request that authentication needs. `Debug` omits the headers, which contain keys
/// and cookies.
pub(crate) struct AuthRequest<'a> {
    pub(crate) method: &'a axum::http::Method,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) peer: Option<IpAddr>,
    /// Whether the request was sent by the web pages, which have the session's token.
    pub(crate) is_page: bool,
    /// Whether the request changes nothing, with any method, or its route itself checks the right
    /// to write.
    pub(crate) only_asks: bool,
}

impl fmt::Debug for AuthRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Returns the key in the header `authorization: Bearer KEY`.
fn bearer_key(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, key) = text.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sender_shows_is_not_printed() {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, "Bearer planted".parse().unwrap());
        headers.insert(header::COOKIE, "ebb_session=planted".parse().unwrap());
        let method = &axum::http::Method::GET;
        let asked =
            AuthRequest { method, headers: &headers, peer: None, is_page: true, only_asks: true };
        assert_eq!(format!("{asked:?}"), "Asked { method: GET, .. }");
    }

    #[test]
    fn who_has_to_log_in() {
        let known = Keys::well_known().unwrap();
        let own = Keys::new(&[("MDEyMzQ1Njc4OWFiY2RlZg==", Right::Write)]).unwrap();
        for (here, keys, nosql, want) in [
            (true, &known, true, Login::Open),
            (true, &known, false, Login::Open),
            (true, &own, true, Login::Required),
            (true, &own, false, Login::Open),
            (false, &known, true, Login::Refused),
            (false, &known, false, Login::Refused),
            (false, &own, true, Login::Required),
            (false, &own, false, Login::Required),
        ] {
            assert_eq!(Login::of(here, keys, nosql), want, "{here} {nosql}");
        }
    }
}
