//! Routes of the account document, and of the server's certificate, which tools download before
//! they trust it.

use throughput::request_units::Work;

use crate::{
    account,
    api::{NoSqlApi, Settings},
    failure::{Failure, Result},
    reply::Reply,
    request::Request,
};

/// `GET /`. SDKs send it first, since it contains the endpoint for further requests.
pub(crate) fn read_account(api: &NoSqlApi, request: &Request) -> Result<Reply> {
    let endpoint = match (&api.settings.endpoint, request.host()) {
        (Some(endpoint), _) => endpoint.clone(),
        // Clients send further requests to the address in the account document, so it is the
        // address to which they sent this one.
        (None, Some(host)) => format!("{}://{host}/", request.scheme),
        (None, None) => return Err(Failure::bad_request("There is no header 'host'.")),
    };
    let body = account::account_document(&api.settings.account, &endpoint);
    Ok(Reply::json(200, body).with_units(Work::PointRead, 0))
}

/// `GET /_explorer/emulator.pem`, as in Azure Cosmos DB's emulator: scripts download the
/// certificate there, without a signature and before they trust the server.
pub(crate) fn read_certificate(settings: &Settings) -> Result<Reply> {
    let certificate = settings.certificate.as_ref().ok_or_else(Failure::no_resource)?;
    Ok(Reply {
        content_type: Some("application/x-pem-file"),
        ..Reply::json(200, certificate.load().certificate().as_bytes().to_vec())
    })
}
