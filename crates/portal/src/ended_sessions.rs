//! Sessions that were ended before their expiry, so that a copied cookie is invalid after its owner
//! has logged out. Cookies are signed and not stored; therefore the ended sessions are stored, each
//! until its expiry.
//!
//! ```text
//! 1795000000 *             all sessions that expire until then
//! 1795012345 1795012345.w...   one session: its expiry in seconds since 1970, its cookie's value
//! ```

use std::{collections::BTreeMap, fmt, io};

use parking_lot::Mutex;

/// Maximum number of ended sessions that are stored individually. If more are ended, all sessions
/// that expire up to a time are ended instead, which the line `*` of the file stores.
const MAX_ENDED_SESSIONS: usize = 10_000;

/// Stores a text in place of the previous text; durable on return.
pub type StoreText = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// The text that lists ended sessions, and how to store it.
pub struct SessionStore {
    /// The text as stored last; empty if none was stored.
    pub text: String,
    /// Stores another text. It is called under a lock and may block on disk.
    pub keep: Box<StoreText>,
}

impl fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

impl SessionStore {
    /// Returns a storage that stores nothing: ended sessions become valid again after a restart.
    pub fn nowhere() -> Self {
        Self { text: String::new(), keep: Box::new(|_| Ok(())) }
    }
}

#[derive(Debug)]
pub(crate) struct EndedSessions {
    /// Held while the text is stored, so that an older text cannot overwrite a newer one.
    sessions: Mutex<Sessions>,
    kept: SessionStore,
}

#[derive(Debug, Default)]
struct Sessions {
    /// Expiry of each ended session by its cookie's value, in seconds since the Unix epoch.
    until: BTreeMap<String, i64>,
    /// Expiry up to which all sessions are ended, in seconds since the Unix epoch. It is used when
    /// there are too many ended sessions to list.
    all_until: i64,
}

impl EndedSessions {
    /// Loads the stored sessions; malformed lines are ignored.
    pub(crate) fn new(kept: SessionStore) -> Self {
        let mut sessions = Sessions::default();
        for (until, name) in kept.text.lines().filter_map(|line| line.split_once(' ')) {
            match (until.parse(), name) {
                (Ok(until), "*") => sessions.all_until = until,
                (Ok(until), name) => drop(sessions.until.insert(name.to_owned(), until)),
                (Err(_), _) => {}
            }
        }
        Self { sessions: Mutex::new(sessions), kept }
    }

    /// Returns whether a session was ended. `name` is its cookie's value, `until` its expiry.
    pub(crate) fn has(&self, name: &str, until: i64) -> bool {
        let sessions = self.sessions.lock();
        until <= sessions.all_until || sessions.until.contains_key(name)
    }

    /// Ends a session. If storing it fails, the session is ended only until the next restart.
    pub(crate) fn add(&self, name: &str, until: i64, now_s: i64) -> io::Result<()> {
        let mut sessions = self.sessions.lock();
        // Expired sessions need not be stored.
        sessions.until.retain(|_, until| now_s < *until);
        sessions.until.insert(name.to_owned(), until);
        if MAX_ENDED_SESSIONS < sessions.until.len() {
            // Limits memory and file size, at the cost that all users must log in again.
            let last = sessions.until.values().copied().max();
            sessions.all_until = sessions.all_until.max(last.unwrap_or(0));
            sessions.until.clear();
        }
        (self.kept.keep)(&sessions.file_text(now_s))
    }
}

impl Sessions {
    /// Returns the text to store, without sessions that have expired by `now_s`.
    fn file_text(&self, now_s: i64) -> String {
        let all = (now_s < self.all_until).then(|| format!("{} *\n", self.all_until));
        let named = self.until.iter().map(|(name, until)| format!("{until} {name}\n"));
        all.into_iter().chain(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Returns a store for ended sessions that keeps the text in memory.
    fn kept(text: &Arc<Mutex<String>>) -> SessionStore {
        let (now, to) = (text.lock().clone(), Arc::clone(text));
        let keep = Box::new(move |text: &str| {
            *to.lock() = text.to_owned();
            Ok(())
        });
        SessionStore { text: now, keep }
    }

    #[test]
    fn an_ended_session_stays_ended_over_restarts() {
        let text = Arc::default();
        let ended = EndedSessions::new(kept(&text));
        ended.add("a", 1000, 10).unwrap();
        ended.add("b", 2000, 20).unwrap();
        let again = EndedSessions::new(kept(&text));
        for of in [&ended, &again] {
            assert!(of.has("a", 1000) && of.has("b", 2000) && !of.has("c", 1000));
        }
        // Expired sessions are removed.
        again.add("c", 3000, 1500).unwrap();
        assert_eq!(text.lock().as_str(), "2000 b\n3000 c\n");
        *text.lock() = "junk\n4 d\n\nx y\n".to_owned();
        assert!(EndedSessions::new(kept(&text)).has("d", 4));
    }

    #[test]
    fn too_many_to_name_are_ended_together() {
        let text = Arc::default();
        let ended = EndedSessions::new(kept(&text));
        for at in 0..=MAX_ENDED_SESSIONS {
            ended.add(&format!("s{at}"), 1000 + i64::try_from(at % 7).unwrap(), 10).unwrap();
        }
        for of in [&ended, &EndedSessions::new(kept(&text))] {
            assert!(of.has("s0", 1000) && of.has("another", 1006) && !of.has("another", 1007));
        }
        assert_eq!(text.lock().as_str(), "1006 *\n");
    }
}
