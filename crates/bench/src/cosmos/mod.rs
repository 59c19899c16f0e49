//! The load for the NoSQL REST API: signed requests over HTTP/1.1 connections that are kept, as the
//! Python SDK sends them. It shares nothing with the server and is not an SDK: one answer at a time, and no
//! more of it is parsed than a figure needs.

mod args;
mod call;
mod container;
mod date;
mod items;
mod key;
mod limits;
mod link;
mod load;
mod protocol;
mod response;
mod target;
mod url;
mod work;

pub(crate) use args::{Cosmos, Mode, One};
pub(crate) use protocol::Rest;
