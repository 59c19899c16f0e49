//! Running a bound SELECT: properties of the query that the caller needs before it scans, and one
//! page of its results.

mod ahead;
mod any_order;
mod ask;
mod firsts;
mod groups;
mod in_order;
mod inner;
mod kept;
mod mark;
mod page;
mod rest;
mod run;
mod source;

pub use ask::SystemReads;
pub use mark::Resume;
pub use page::{Flow, Output, Page, PageLimit};
pub use rest::Rest;
pub use run::Run;
