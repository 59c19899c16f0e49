//! The account, and the certificate that tools fetch before they trust it.

use engine::Store;

use crate::{
    account,
    door::{Door, Settings},
    failure::{Failure, Result},
    reply::Reply,
    request::Request,
    request_units::Work,
};

/// `GET /`. It tells a client where to go on, so it is the first request of every SDK.
pub(crate) fn read_account<S: Store>(door: &Door<S>, request: &Request) -> Result<Reply> {
    let endpoint = match (&door.settings.endpoint, request.host()) {
        (Some(endpoint), _) => endpoint.clone(),
        // As clients go on with what it says, it is the address under which they came.
        (None, Some(host)) => format!("{}://{host}/", request.scheme),
        (None, None) => return Err(Failure::bad_request("There is no header 'host'.")),
    };
    let body = account::account_document(&door.settings.account, &endpoint);
    Ok(Reply::json(200, body).with_units(Work::PointRead, 0))
}

/// `GET /_explorer/emulator.pem`, as the service's emulator has it: scripts fetch it there, without
/// a signature and before they trust the server.
pub(crate) fn read_certificate(settings: &Settings) -> Result<Reply> {
    let certificate = settings.certificate.as_ref().ok_or_else(Failure::no_resource)?;
    Ok(Reply {
        content_type: Some("application/x-pem-file"),
        ..Reply::json(200, certificate.load().certificate().as_bytes().to_vec())
    })
}
