//! TLS to Cassandra: trusted authorities and the client certificate. A node's certificate has to be
//! valid for its address, by which the driver identifies nodes, or for the host name of a contact
//! point.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use secret::Secret;
use store::{Error, Kind};
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, UnixTime,
        pem::{self, PemObject},
    },
};

/// Paths of certificate files in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    /// Authority that issues the certificates of the Cassandra nodes.
    pub authority: PathBuf,
    /// Client certificate and key, if Cassandra requires one.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Reads the certificate files; an error names the invalid file.
pub(crate) fn config(
    files: &Certificates,
    contact_points: &[String],
) -> Result<Arc<ClientConfig>, Error> {
    let authority = &files.authority;
    let mut roots = RootCertStore::empty();
    for root in certificates(authority)? {
        roots.add(root).map_err(|error| wrong(authority, error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let inner = inner.build().map_err(|error| wrong(authority, error))?;
    let verifier = Arc::new(NodeVerifier { inner, names: names_of(contact_points) });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(authority, error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match &files.own {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let text = fs::read(key).map(Secret::from_bytes).map_err(|error| wrong(key, error))?;
            let private =
                PrivateKeyDer::from_pem_slice(text.bytes()).map_err(|error| match error {
                    pem::Error::NoItemsFound => wrong(key, "it contains no private key"),
                    error => wrong(key, error),
                })?;
            let built = builder.with_client_auth_cert(certificates(chain)?, private);
            built.map_err(|error| wrong(chain, error))?
        }
    };
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found: Vec<_> = read.map_err(|error| wrong(path, error))?;
    if found.is_empty() { Err(wrong(path, "it contains no certificate")) } else { Ok(found) }
}

fn wrong(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(Kind::Invalid, format!("{}, for TLS to Cassandra: {error}", path.display()))
}

/// Returns the host names among `host:port`, without addresses.
fn names_of(contact_points: &[String]) -> Vec<ServerName<'static>> {
    let hosts = contact_points.iter().filter_map(|point| point.rsplit_once(':'));
    let names = hosts.filter_map(|(host, _)| ServerName::try_from(host.to_owned()).ok());
    names.filter(|name| matches!(name, ServerName::DnsName(_))).collect()
}

/// Verifies the certificate of a node of which the driver knows only the address.
#[derive(Debug)]
struct NodeVerifier {
    inner: Arc<WebPkiServerVerifier>,
    /// Host names that a certificate may have instead of the node's address.
    names: Vec<ServerName<'static>>,
}

impl ServerCertVerifier for NodeVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        address: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let is_for = |name: &ServerName<'_>| {
            self.inner.verify_server_cert(end_entity, intermediates, name, ocsp, now)
        };
        match is_for(address) {
            Err(error) if is_for_another(&error) => {
                self.names.iter().find_map(|name| is_for(name).ok()).ok_or(error)
            }
            answer => answer,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Returns whether a certificate is valid, but for another name.
fn is_for_another(error: &rustls::Error) -> bool {
    matches!(
        error,
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        )
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed setup fails the test")]

    use std::{fs, net::TcpListener, thread};

    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    use tempfile::TempDir;
    use tokio_rustls::rustls::{
        ClientConnection, ServerConfig, ServerConnection, Stream, server::WebPkiClientVerifier,
    };

    use super::*;

    type Authority = CertifiedIssuer<'static, KeyPair>;

    fn authority() -> Authority {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    }

    /// Returns certificate and key for a name or an address, in PEM.
    fn issued(authority: &Authority, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, authority).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn points(points: &[&str]) -> Vec<String> {
        points.iter().map(|point| (*point).to_owned()).collect()
    }

    /// Returns why a handshake fails with a node at 127.0.0.1 that presents a certificate for
    /// `shown` and requires a client certificate.
    fn handshake(client: Arc<ClientConfig>, authority: &Authority, shown: &str) -> Option<String> {
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let asks = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
        let (chain, key) = issued(authority, shown);
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(asks.build().unwrap())
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
            )
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut connection = ServerConnection::new(server.into()).unwrap();
            let mut stream = Stream::new(&mut connection, &mut socket);
            std::io::Write::write_all(&mut stream, b"hello").map_err(|error| error.to_string())
        });
        let name = ServerName::IpAddress(address.ip().into());
        let mut connection = ClientConnection::new(client, name).unwrap();
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        let mut stream = Stream::new(&mut connection, &mut socket);
        let read = std::io::Read::read_exact(&mut stream, &mut [0; 5]);
        drop(socket);
        let served = serving.join().unwrap();
        read.err().map(|error| error.to_string()).or(served.err())
    }

    #[test]
    fn a_node_is_believed_by_its_address_or_the_name_of_a_contact_point() {
        let folder = TempDir::new().unwrap();
        let (ours, others) = (authority(), authority());
        let (chain, key) = issued(&ours, "client");
        let own = (file(&folder, "own.pem", &chain), file(&folder, "own.key", &key));
        let files = |authority: &Authority, own| Certificates {
            authority: file(&folder, "ca.pem", &authority.pem()),
            own,
        };
        let named = &["db.example:9042", "10.0.0.1:9042"];
        for (believed, points_given, shown, why) in [
            (&ours, &["127.0.0.1:9042"][..], "127.0.0.1", None),
            (&ours, named, "127.0.0.1", None),
            (&ours, named, "db.example", None),
            (&ours, named, "10.0.0.1", Some("not valid for name")),
            (&ours, named, "other.example", Some("not valid for name")),
            (&others, named, "127.0.0.1", Some("invalid peer certificate")),
            (&others, named, "db.example", Some("invalid peer certificate")),
        ] {
            let client = config(&files(believed, Some(own.clone())), &points(points_given));
            let failed = handshake(client.unwrap(), &ours, shown);
            match (&failed, why) {
                (None, None) => {}
                (Some(text), Some(why)) => assert!(text.contains(why), "{shown}: {text}"),
                _ => panic!("{shown}: {failed:?}"),
            }
        }
        let client = config(&files(&ours, None), &points(named)).unwrap();
        assert!(handshake(client, &ours, "127.0.0.1").is_some(), "it shows nothing");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        let folder = TempDir::new().unwrap();
        let ours = authority();
        let ((chain, key), (_, other)) = (issued(&ours, "a"), issued(&ours, "b"));
        let good = file(&folder, "ca.pem", &ours.pem());
        let (chain, key) = (file(&folder, "a.pem", &chain), file(&folder, "a.key", &key));
        let (other, noise) = (file(&folder, "b.key", &other), file(&folder, "noise", "noise"));
        let nowhere = folder.path().join("nowhere");
        let own = |chain: &PathBuf, key: &PathBuf| Some((chain.clone(), key.clone()));
        for (authority, own, named) in [
            (&nowhere, None, "nowhere"),
            (&noise, None, "noise, for TLS to Cassandra: it contains no certificate"),
            (&key, None, "a.key"),
            (&good, own(&nowhere, &key), "nowhere"),
            (&good, own(&noise, &key), "noise"),
            (&good, own(&chain, &nowhere), "nowhere"),
            (&good, own(&chain, &noise), "noise, for TLS to Cassandra: it contains no private key"),
            (&good, own(&chain, &chain), "a.pem"),
            (&good, own(&chain, &other), "a.pem"),
        ] {
            let files = Certificates { authority: authority.clone(), own };
            let error = config(&files, &[]).unwrap_err();
            assert_eq!(error.kind, Kind::Invalid, "{error}");
            assert!(error.to_string().contains(named), "{named}: {error}");
        }
        config(&Certificates { authority: good, own: own(&chain, &key) }, &[]).unwrap();
    }
}
