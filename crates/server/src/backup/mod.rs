//! Taking a backup of an open store: its image or its latest entries, the clock and the switches, as the
//! stream of the crate `backup`. Who asked for it, and where it goes, is not known here.
//!
//! ```text
//!  image ──pieces──▶ reading thread ──▶ packing thread ──bounded channel──▶ whoever asked
//! ```

mod lineage;
mod stream;
mod taking;

pub(crate) use lineage::{begin_lineage, lineage_of};
pub(crate) use stream::write_to_stream;
pub(crate) use taking::{Taking, Wanted};
