//! Who sends a request and what he may do: by the address it came to, by a key, or by a session.

use std::net::IpAddr;

use auth::{Guesses, Keys, Right};
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
    /// A key of the account is asked for.
    Required,
    /// Nobody is let in: everybody knows the key, and others can reach the address.
    Refused,
}

impl Login {
    /// What an address asks for, by who can reach it, by the account's keys, and by whether there
    /// is a door that asks for them.
    pub fn of(only_this_machine: bool, keys: &Keys, nosql_is_open: bool) -> Self {
        match (only_this_machine, keys.are_well_known()) {
            (true, true) => Self::Open,
            (true, false) if !nosql_is_open => Self::Open,
            (false, true) => Self::Refused,
            (_, false) => Self::Required,
        }
    }
}

/// What the sender of a request may do, and by what.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) right: Right,
    pub(crate) by: By,
}

/// Knows senders.
#[derive(Debug)]
pub(crate) struct Doorman {
    pub(crate) login: Login,
    pub(crate) keys: Keys,
    pub(crate) sessions: Sessions,
    guesses: Guesses,
}

impl Doorman {
    pub(crate) fn new(login: Login, keys: Keys, sessions: Sessions) -> Self {
        Self { login, keys, sessions, guesses: Guesses::default() }
    }

    /// Who sends these headers; `None`: nobody who is known.
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
        if let Some(key) = bearer_key(headers) {
            let (place, right) = self.check_key(key, peer)?;
            return Ok(Some(Access { right, by: By::Key(place) }));
        }
        let session = self.find_session(headers);
        Ok(session.map(|session| Access { right: session.right, by: By::Session(session) }))
    }

    /// The session of a request, whether one is asked for or not.
    pub(crate) fn find_session(&self, headers: &HeaderMap) -> Option<Session> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        self.sessions.of_cookies(cookies, clock::wall_ms().div_euclid(1000))
    }

    /// The place of a key and what it is good for. Who guesses has to wait; who knows a key has not,
    /// whatever others behind the same address do.
    pub(crate) fn check_key(&self, key: &str, peer: Option<IpAddr>) -> Result<(usize, Right)> {
        let wrong = || match self.guesses.note_wrong(peer, clock::monotonic_time()) {
            Some(seconds) => Error::too_many_attempts(seconds),
            None => Error::wrong_key(),
        };
        self.keys.find_key(key).ok_or_else(wrong)
    }

    /// Refuses a change that does not carry the token of its session.
    pub(crate) fn check_token(&self, headers: &HeaderMap, session: Option<&Session>) -> Result<()> {
        let token = headers.get("x-ebb-csrf").and_then(|token| token.to_str().ok());
        match self.sessions.knows_token(session, token.unwrap_or_default()) {
            true => Ok(()),
            false => Err(Error::wrong_csrf_token()),
        }
    }

    /// Whether a request may go on to where an account's key is asked for.
    pub(crate) fn admit(&self, of: &Asked<'_>) -> Result<Access> {
        let access = self.known_access(of.headers, of.peer)?.ok_or_else(Error::not_signed_in)?;
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

/// A request, as far as it matters here.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a axum::http::Method,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) peer: Option<IpAddr>,
    /// It is made for the pages, which know their token.
    pub(crate) is_page: bool,
    /// It changes nothing whatever its method, or its route decides.
    pub(crate) only_asks: bool,
}

fn bearer_key(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, key) = text.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

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
