//! Who sends a request and what he may do: by the address it came to, by a key, or by a session.
//! Which requests are asked is the gate's business.

use std::{fmt, net::IpAddr};

use auth::{CurrentKeys, Guesses, Keys, Right};
use axum::http::{HeaderMap, header};

use crate::{
    error::{Error, Result},
    host::only_reads,
    session::{By, Session, Sessions},
};

/// Whether senders have to say who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// Whoever reaches the address may do everything.
    Open,
    /// A key of the account is asked for, in a header or for a session.
    Required,
    /// Nobody is let in: everybody knows the key, and other machines can reach the address.
    Refused,
}

impl Login {
    /// Returns what an address asks for, by who can reach it, by the keys that let people in, and by
    /// whether one of the APIs asks who people are. On this machine alone, the portal asks for a key
    /// only if an API does: otherwise the MongoDB API would let the same people in without one.
    pub fn of(only_this_machine: bool, keys: &Keys, an_api_asks: bool) -> Self {
        match (only_this_machine, keys.are_well_known()) {
            (true, true) => Self::Open,
            (true, false) if !an_api_asks => Self::Open,
            (false, true) => Self::Refused,
            (_, false) => Self::Required,
        }
    }
}

/// What the sender of a request may do, and how he is known. The gate puts it into the request.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) right: Right,
    pub(crate) by: By,
}

/// Decides who a sender is.
#[derive(Debug)]
pub(crate) struct Doorman {
    pub(crate) login: Login,
    pub(crate) keys: CurrentKeys,
    pub(crate) sessions: Sessions,
    /// Wrong keys, by address.
    guesses: Guesses,
}

impl Doorman {
    pub(crate) fn new(login: Login, keys: CurrentKeys, sessions: Sessions) -> Self {
        Self { login, keys, sessions, guesses: Guesses::default() }
    }

    /// Returns who sends these headers; `None`: nobody who is known. An error for a wrong key, and where
    /// nobody is let in. A key in a header goes before a session: a program sends it on purpose.
    pub(crate) fn known_access(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Option<Access>> {
        match self.login {
            Login::Refused => return Err(Error::key_is_known()),
            Login::Open => return Ok(Some(Access { right: Right::Write, by: By::Nothing })),
            Login::Required => {}
        }
        // Before the session: a program that sends a key means it.
        if let Some(key) = bearer_key(headers) {
            let (place, right) = self.check_key(key, peer)?;
            return Ok(Some(Access { right, by: By::Key(place) }));
        }
        let session = self.find_session(headers);
        Ok(session.map(|session| Access { right: session.right, by: By::Session(session) }))
    }

    /// Returns the session of a request's cookies, whether one is asked for or not.
    pub(crate) fn find_session(&self, headers: &HeaderMap) -> Option<Session> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        self.sessions.of_cookies(cookies, clock::wall_ms().div_euclid(1000))
    }

    /// Returns the place of a key in the account and its right. Whoever guesses has to wait after too many
    /// wrong keys; whoever knows a key never does, whatever others at the same address do.
    pub(crate) fn check_key(&self, key: &str, peer: Option<IpAddr>) -> Result<(usize, Right)> {
        let wrong = || match self.guesses.note_wrong(peer, clock::monotonic_time()) {
            Some(seconds) => Error::too_many_attempts(seconds),
            None => Error::wrong_key(),
        };
        self.keys.load().find_key(key).ok_or_else(wrong)
    }

    /// Refuses a change that does not carry the token of its session in `x-ebb-csrf`. Without a session it
    /// is the token of a page that has none.
    pub(crate) fn check_token(&self, headers: &HeaderMap, session: Option<&Session>) -> Result<()> {
        let token = headers.get("x-ebb-csrf").and_then(|token| token.to_str().ok());
        match self.sessions.knows_token(session, token.unwrap_or_default()) {
            true => Ok(()),
            false => Err(Error::wrong_csrf_token()),
        }
    }

    /// Returns what the sender may do, or why the request may not go on: not known, a change without its
    /// token, a change with a key that may only read. A token is asked of sessions, and of pages where
    /// nobody logs in: a browser sends their requests also when a page of another site asks for them.
    pub(crate) fn admit(&self, of: &Asked<'_>) -> Result<Access> {
        let access = self.known_access(of.headers, of.peer)?.ok_or_else(Error::not_signed_in)?;
        // A read by a page of another site changes nothing, and its answer stays unread there.
        if !only_reads(of.method) {
            match &access.by {
                By::Session(session) => self.check_token(of.headers, Some(session))?,
                By::Nothing if of.is_page => self.check_token(of.headers, None)?,
                By::Nothing | By::Key(_) => {}
            }
            if access.right == Right::Read && !of.only_asks {
                return Err(Error::read_only());
            }
        }
        Ok(access)
    }
}

/// A request, as far as it matters here. Its headers are not printed: they hold keys and cookies.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a axum::http::Method,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) peer: Option<IpAddr>,
    /// It is made for the web pages, which know their token.
    pub(crate) is_page: bool,
    /// It changes nothing whatever its method, or its route decides about rights.
    pub(crate) only_asks: bool,
}

impl fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Returns the key of the header `authorization: Bearer KEY`.
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
        let asked = Asked { method, headers: &headers, peer: None, is_page: true, only_asks: true };
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
