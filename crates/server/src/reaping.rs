//! Whether reaping is paused: a person says so while the server runs, and a file of the data directory
//! keeps it over restarts. What expires is invisible all the same; only the removal of bytes stops.
//! What a pause does is the engine's business.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::Engine;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{any_store::AnyStore, whole_file};

/// Name of the file in the data directory; JSON, see [`Pause`]. That it is there is what counts.
const FILE: &str = "reaping-paused";

/// A pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Pause {
    /// When it began, by the wall clock; `None`: the file does not say it any more.
    pub(crate) since_ms: Option<i64>,
}

/// Whether reaping is paused, of a server.
#[derive(Debug)]
pub(crate) struct Reaping {
    /// Where it is kept; `None`: nowhere.
    folder: Option<PathBuf>,
    /// Held while the file is changed, so that two changes at once end with the same state in both.
    pause: Mutex<Option<Pause>>,
}

impl Reaping {
    /// What the folder says. A file that cannot be read counts: whoever paused would rather have
    /// reaping wait.
    pub(crate) fn open(folder: Option<&Path>) -> io::Result<Arc<Self>> {
        let pause = match folder {
            Some(folder) => read_pause(&folder.join(FILE))?,
            None => None,
        };
        Ok(Arc::new(Self { folder: folder.map(Path::to_owned), pause: Mutex::new(pause) }))
    }

    /// Has an engine do what is kept here. Before its reaper runs: nothing is removed by then.
    pub(crate) fn apply(&self, engine: &Engine<AnyStore>) {
        let pause = self.pause.lock();
        if pause.is_some() {
            engine.set_reaping_paused(true);
            tracing::warn!(
                "reaping is paused: what expires is invisible, and its bytes stay until \
                 'ebb admin ttl resume'"
            );
        }
    }

    /// The pause that is in force.
    pub(crate) fn pause(&self) -> Option<Pause> {
        *self.pause.lock()
    }

    /// Pauses reaping or ends the pause; durable and in force when this returns. It runs on a thread
    /// for blocking work, and to its end even when the client that asked has left. On a failure all
    /// stays as it was.
    pub(crate) async fn set(
        self: &Arc<Self>,
        engine: &Engine<AnyStore>,
        paused: bool,
    ) -> io::Result<()> {
        let (reaping, engine) = (Arc::clone(self), engine.clone());
        let set = tokio::task::spawn_blocking(move || reaping.set_now(&engine, paused)).await;
        set.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// The same, on this thread. The file comes first: what is in force must never be something that
    /// the next start would not know.
    fn set_now(&self, engine: &Engine<AnyStore>, paused: bool) -> io::Result<()> {
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
            false => tracing::info!("reaping goes on"),
        }
        Ok(())
    }
}

/// Reads the file; `None` where there is none.
fn read_pause(file: &Path) -> io::Result<Option<Pause>> {
    match fs::read(file) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text).unwrap_or_default())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the file or removes it; durable when this returns.
fn write_pause(folder: &Path, pause: Option<Pause>) -> io::Result<()> {
    if let Some(pause) = pause {
        let text = serde_json::to_vec(&pause).map_err(io::Error::other)?;
        return whole_file::write_whole(folder, FILE, &text);
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
        // Torn or of another version: there is a pause all the same.
        for text in ["", "{", r#"{"since_ms":"x"}"#] {
            fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(kept(), Some(Pause { since_ms: None }), "{text}");
        }
        assert_eq!(Reaping::open(None).unwrap().pause(), None);
    }
}
