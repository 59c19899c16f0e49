//! Pages that a browser asks this door for. Code that opens the door may have pages
//! served by it too, such as those of a data explorer, so that pages and data have one origin. This
//! door knows nothing of them, and asks for no signature.

use std::{fmt, future::Future, pin::Pin};

use bytes::Bytes;
use http::{Response, request::Parts};

/// A response that is on its way.
pub type PageAnswer = Pin<Box<dyn Future<Output = Response<Bytes>> + Send>>;

/// Pages that are served beside resources.
pub trait Pages: fmt::Debug + Send + Sync {
    /// Returns the response to a request for one of them; `None` where the request is for the door.
    fn answer(&self, request: &Parts) -> Option<PageAnswer>;
}
