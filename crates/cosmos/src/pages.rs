//! Static pages served at this API's address. The program that starts the API may provide pages,
//! such as a data explorer, so that browsers load pages and data from the same origin. Requests for
//! pages need no signature.

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
