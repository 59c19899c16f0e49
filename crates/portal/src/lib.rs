//! The portal's part of the admin address: authentication, sessions, the files of the web pages,
//! and the requests that these pages make. It depends neither on the APIs' protocols nor on the
//! engine. It calls the APIs through the trait [`Apis`], which the server implements.
//!
//! ```text
//! request → gate (host, site, key or session) → route of the server
//!                                             → login, logout
//!                                             → relay → MongoDB API or NoSQL API
//!                                             → file of the web pages
//! ```

mod access;
mod activity;
mod apis;
mod body;
mod ended_sessions;
mod error;
mod files;
mod gate;
mod host;
mod login;
mod mount;
mod portal;
mod relay;
mod security;
mod session;

pub use access::Login;
pub use apis::{Apis, Refused, Sender};
pub use ended_sessions::{SessionStore, StoreText};
pub use error::Error;
pub use files::BUILT;
pub use gate::{BACKUP, CLIENT};
pub use mount::mount;
pub use portal::{Addresses, Portal, Settings};
