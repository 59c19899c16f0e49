//! Pausing of the reaper: an operator pauses it at run time, and a file in the data directory
//! preserves the pause over restarts. Expired documents stay invisible; only the removal of their
//! bytes stops. The engine implements the pause.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::Engine;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use server_base::atomic_file;

/// Name of the file in the data directory; JSON, see [`Pause`]. Reaping is paused if the file
/// exists, with any content.
const FILE: &str = "reaping-paused";

/// A pause of the reaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Pause {
    /// Wall-clock time at which the pause started; `None` if its file is unreadable.
    pub(crate) since_ms: Option<i64>,
}

/// Holds and stores the pause of the reaper.
#[derive(Debug)]
pub struct Reaping {
    /// Directory in which the pause is stored; `None` keeps it in memory only.
    folder: Option<PathBuf>,
    /// Held while the file is changed, so that after concurrent changes the file agrees with the
    /// state in memory.
    pause: Mutex<Option<Pause>>,
}

impl Reaping {
    /// Reads from the data directory whether reaping is paused. A file that does not parse counts
    /// as a pause, to be safe.
    pub fn open(folder: Option<&Path>) -> io::Result<Arc<Self>> {
        let pause = match folder {
            Some(folder) => read_pause(&folder.join(FILE))?,
            None => None,
        };
        Ok(Arc::new(Self { folder: folder.map(Path::to_owned), pause: Mutex::new(pause) }))
    }

    /// Applies the stored pause to an engine, before the engine's reaper starts.
    pub fn apply(&self, engine: &Engine) {
        let pause = self.pause.lock();
        if pause.is_some() {
            engine.set_reaping_paused(true);
            tracing::warn!(
                "reaping is paused: expired documents are invisible but stay on disk until 'ebb \
                 admin ttl resume'"
            );
        }
    }

    /// Returns the pause in effect.
    pub fn pause(&self) -> Option<Pause> {
        *self.pause.lock()
    }

    /// Pauses or resumes reaping; durable and in effect on return. Runs on a blocking thread and to
    /// completion even if the client disconnects. On failure nothing changes.
    pub async fn set(self: &Arc<Self>, engine: &Engine, paused: bool) -> io::Result<()> {
        let (reaping, engine) = (Arc::clone(self), engine.clone());
        let set = tokio::task::spawn_blocking(move || reaping.set_now(&engine, paused)).await;
        set.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Pauses or resumes reaping; blocks the calling thread. The file that records a pause is
    /// written first, so that the next start knows every state that was in effect.
    fn set_now(&self, engine: &Engine, paused: bool) -> io::Result<()> {
        let mut pause = self.pause.lock();
        if pause.is_some() == paused {
            return Ok(());
        }
        let wanted = paused.then(|| Pause { since_ms: Some(clock::wall_ms()) });
        if let Some(folder) = &self.folder {
            write_pause(folder, wanted)?;
        }
        engine.set_reaping_paused(paused);
        *pause = wanted;
        match paused {
            true => tracing::warn!("reaping is paused"),
            false => tracing::info!("reaping resumed"),
        }
        Ok(())
    }
}

/// Reads the file that records a pause; `None` if it is missing.
fn read_pause(file: &Path) -> io::Result<Option<Pause>> {
    match fs::read(file) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text).unwrap_or_default())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the file that records a pause, or removes it if `pause` is `None`; durable on return.
fn write_pause(folder: &Path, pause: Option<Pause>) -> io::Result<()> {
    if let Some(pause) = pause {
        let text = serde_json::to_vec(&pause).map_err(io::Error::other)?;
        return atomic_file::replace_atomically(folder, FILE, &text);
    }
    match fs::remove_file(folder.join(FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::open(folder)?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_kept_until_it_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let kept = || Reaping::open(Some(folder.path())).unwrap().pause();
        assert_eq!(kept(), None);
        let pause = Pause { since_ms: Some(7) };
        write_pause(folder.path(), Some(pause)).unwrap();
        assert_eq!(kept(), Some(pause));
        write_pause(folder.path(), None).unwrap();
        assert_eq!(kept(), None);
        write_pause(folder.path(), None).unwrap();
        // A file that is torn or of another version still pauses reaping.
        for text in ["", "{", r#"{"since_ms":"x"}"#] {
            fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(kept(), Some(Pause { since_ms: None }), "{text}");
        }
        assert_eq!(Reaping::open(None).unwrap().pause(), None);
    }
}
