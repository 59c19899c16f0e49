//! Load generator for the NoSQL REST API: signed requests over persistent HTTP/1.1 connections, as
//! the Python SDK sends them. It shares no code with the server and is not an SDK: it handles one
//! answer at a time and parses only what a figure needs.

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
