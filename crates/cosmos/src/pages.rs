//! Static pages served at this API's address. The program that opens the API may add pages, such as
//! those of a data explorer, so that pages and data have one origin. They need no signature.

use std::{fmt, future::Future, pin::Pin};

use bytes::Bytes;
use http::{Response, request::Parts};

/// A future that resolves to a page's response.
pub type PageAnswer = Pin<Box<dyn Future<Output = Response<Bytes>> + Send>>;

/// A provider of static pages.
pub trait Pages: fmt::Debug + Send + Sync {
    /// Returns the response to a request for one of the pages; `None` if the request is for the
    /// API.
    fn answer(&self, request: &Parts) -> Option<PageAnswer>;
}
