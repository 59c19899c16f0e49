//! The admin address: the portal's access control, the admin API, the sample data of `ebb
//! quickstart`, another project's data explorer, and the statistics of the last day. It reaches
//! documents only through the APIs.

pub mod early_admin;
pub mod explorer;
pub mod figures;
pub mod own_key;
pub mod pages;
mod quickstart;
pub mod reaping;
pub mod relayed;
pub mod routes;
pub mod serve_stream;
