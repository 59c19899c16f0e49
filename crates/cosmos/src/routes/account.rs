//! The account, and the certificate that tools fetch before they trust it.

use engine::Store;

use crate::{
    account,
    door::Door,
    failure::{Failure, Result},
    reply::Reply,
    request::Request,
    request_units::Work,
};

/// Where clients go on.
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

/// The certificate as text.
pub(crate) fn read_certificate<S: Store>(door: &Door<S>) -> Result<Reply> {
    let certificate = door.settings.certificate.as_ref().ok_or_else(Failure::no_resource)?;
    Ok(Reply {
        content_type: Some("application/x-pem-file"),
        ..Reply::json(200, certificate.certificate().as_bytes().to_vec())
    })
}
