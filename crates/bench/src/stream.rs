//! A socket to a server, with or without TLS.

use std::{path::Path, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use crate::{
    address::Address,
    error::{Error, Result},
};

pub(crate) trait Duplex:
    AsyncRead + AsyncWrite + Unpin + Send + Sync + std::fmt::Debug
{
}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync + std::fmt::Debug> Duplex for T {}

pub(crate) type Stream = Box<dyn Duplex>;

pub(crate) async fn open_stream(address: &Address) -> Result<Stream> {
    let stream = TcpStream::connect(address.to_string()).await;
    let stream = stream.map_err(Error::io_error(format_args!("connecting to {address}")))?;
    stream.set_nodelay(true)?;
    let Some(file) = &address.tls else { return Ok(Box::new(stream)) };
    let name = address.host.trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(name).map_err(|error| {
        Error::Usage(format!("the host of {address} is not a valid TLS server name: {error}"))
    })?;
    let stream = connector(file)?.connect(name, stream).await;
    let stream = stream.map_err(Error::io_error(format_args!("TLS with {address}")))?;
    Ok(Box::new(stream))
}

/// Returns a TLS connector that trusts the certificates of this file.
fn connector(file: &Path) -> Result<TlsConnector> {
    let wrong = |why: &dyn std::fmt::Display| Error::Usage(format!("{}: {why}", file.display()));
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| wrong(&error))?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
