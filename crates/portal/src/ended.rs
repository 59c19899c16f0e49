//! Sessions that were ended before their time: a cookie that somebody has kept is no good after its
//! owner has logged out. Cookies are signed and not stored, so what is kept is the list of those that
//! no longer count, each until it would have ended by itself.
//!
//! ```text
//! 1795000000 *             all sessions that end until then
//! 1795012345 1795012345.w.…   one session: its end in seconds since 1970, its cookie's value
//! ```

use std::{collections::BTreeMap, fmt, io};

use parking_lot::Mutex;

use crate::limits::MAX_ENDED_SESSIONS;

/// Keeps a text over restarts, instead of the one before; it is durable when this returns.
pub type Keep = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// What is kept of ended sessions.
pub struct Kept {
    /// As it was kept last; empty when nothing was.
    pub text: String,
    /// Keeps another text. It is called under a lock and may wait for the disk.
    pub keep: Box<Keep>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

impl Kept {
    /// Returns what keeps nothing: an ended session counts again after a restart.
    pub fn nowhere() -> Self {
        Self { text: String::new(), keep: Box::new(|_| Ok(())) }
    }
}

/// Sessions that were ended before their time.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The lock is held while the text is kept: an older text cannot overwrite a newer one.
    sessions: Mutex<Sessions>,
    /// The text at the start, and how to keep another.
    kept: Kept,
}

/// The list itself.
#[derive(Debug, Default)]
struct Sessions {
    /// By the cookie's value: until when the session would have been good, seconds since 1970.
    until: BTreeMap<String, i64>,
    /// All sessions that would be good until then at most are ended: there were too many to keep each.
    all_until: i64,
}

impl Ended {
    /// Returns those that were kept. Lines of another form are left out.
    pub(crate) fn new(kept: Kept) -> Self {
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

    /// Returns whether a session was ended, by its cookie's value and its end.
    pub(crate) fn has(&self, name: &str, until: i64) -> bool {
        let sessions = self.sessions.lock();
        until <= sessions.all_until || sessions.until.contains_key(name)
    }

    /// Ends a session. Where keeping it fails it is ended all the same, but not after a restart.
    pub(crate) fn add(&self, name: &str, until: i64, now_s: i64) -> io::Result<()> {
        let mut sessions = self.sessions.lock();
        // What has ended by itself need not be remembered.
        sessions.until.retain(|_, until| now_s < *until);
        sessions.until.insert(name.to_owned(), until);
        if MAX_ENDED_SESSIONS < sessions.until.len() {
            // A bound on memory and file. Whoever is still logged in has to log in again.
            let last = sessions.until.values().copied().max();
            sessions.all_until = sessions.all_until.max(last.unwrap_or(0));
            sessions.until.clear();
        }
        (self.kept.keep)(&sessions.file_text(now_s))
    }
}

impl Sessions {
    /// Returns the text to keep, without what has ended by itself by `now_s`.
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

    /// Keeps a text where a test sees it.
    fn kept(text: &Arc<Mutex<String>>) -> Kept {
        let (now, to) = (text.lock().clone(), Arc::clone(text));
        let keep = Box::new(move |text: &str| {
            *to.lock() = text.to_owned();
            Ok(())
        });
        Kept { text: now, keep }
    }

    #[test]
    fn an_ended_session_stays_ended_over_restarts() {
        let text = Arc::default();
        let ended = Ended::new(kept(&text));
        ended.add("a", 1000, 10).unwrap();
        ended.add("b", 2000, 20).unwrap();
        let again = Ended::new(kept(&text));
        for of in [&ended, &again] {
            assert!(of.has("a", 1000) && of.has("b", 2000) && !of.has("c", 1000));
        }
        // What is over by itself is forgotten.
        again.add("c", 3000, 1500).unwrap();
        assert_eq!(text.lock().as_str(), "2000 b\n3000 c\n");
        *text.lock() = "junk\n4 d\n\nx y\n".to_owned();
        assert!(Ended::new(kept(&text)).has("d", 4));
    }

    #[test]
    fn too_many_to_name_are_ended_together() {
        let text = Arc::default();
        let ended = Ended::new(kept(&text));
        for at in 0..=MAX_ENDED_SESSIONS {
            ended.add(&format!("s{at}"), 1000 + i64::try_from(at % 7).unwrap(), 10).unwrap();
        }
        for of in [&ended, &Ended::new(kept(&text))] {
            assert!(of.has("s0", 1000) && of.has("another", 1006) && !of.has("another", 1007));
        }
        assert_eq!(text.lock().as_str(), "1006 *\n");
    }
}
