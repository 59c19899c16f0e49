//! Change streams: cursors over the engine's change log. `commands/change_stream.rs` opens them.
//!
//! ```text
//!  open ── options, stages, start ──▶ stream ── pages of changes ──▶ event ──▶ stages ──▶ split
//!                                       └ token: the place after each event, and after each batch
//! ```
//!
//! A stream keeps only its place in the log between requests, so that an idle one holds neither a
//! view nor documents.

mod event;
mod options;
mod resumable;
mod split;
mod stages;
mod stream;
mod token;

pub(crate) use options::{Start, StreamOptions, stage_needs};
pub(crate) use resumable::with_resumable_label;
pub(crate) use stages::parse_stages;
pub(crate) use stream::{ChangeStream, StreamBatch, lost_or};
pub(crate) use token::Token;
