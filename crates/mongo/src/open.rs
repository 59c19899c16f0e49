//! Creates the API's state with the table of commands. This is a module of its own so that the
//! state depends only on the rows, and commands can depend on the state.

use std::sync::Arc;

use engine::Engine;

use crate::{api::MongoApi, commands::COMMANDS, settings::Settings};

impl MongoApi {
    /// Creates the MongoDB API over an engine.
    pub fn new(engine: Engine, settings: Settings) -> Arc<Self> {
        Self::with_commands(engine, settings, COMMANDS)
    }
}
