//! Starts threads with a name.

use std::thread::JoinHandle;

use store::Error;

use crate::errors::from_io;

pub(crate) fn spawn_named(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| from_io("start a thread", &error))
}
