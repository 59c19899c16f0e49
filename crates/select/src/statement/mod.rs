//! Running a bound SELECT: properties of the query that the caller needs before it scans, and one
//! page of its results.

mod ahead;
mod any_order;
mod ask;
mod buffered;
mod firsts;
mod groups;
mod in_order;
mod inner;
mod page;
mod rest;
mod resume_position;
mod run;
mod source;

pub use ask::SystemReads;
pub use page::{Flow, Output, Page, PageLimit};
pub use rest::RemainingResults;
pub use resume_position::Resume;
pub use run::Run;
