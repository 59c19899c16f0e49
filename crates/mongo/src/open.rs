//! Makes the API: the one place where its state meets the table of commands. The state knows rows
//! and not the functions that run them, so that commands can stand above it.

use std::sync::Arc;

use engine::{Engine, Store};

use crate::{
    commands::COMMANDS,
    door::{Door, Settings},
};

impl<S: Store> Door<S> {
    /// The MongoDB API over an engine.
    pub fn new(engine: Engine<S>, settings: Settings) -> Arc<Self> {
        Self::with_commands(engine, settings, COMMANDS)
    }
}
