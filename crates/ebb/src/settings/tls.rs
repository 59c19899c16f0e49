//! TLS settings of `ebb serve` except the certificate: which addresses use TLS, and whether clients
//! present certificates.

use std::path::PathBuf;

use clap::Args;
use server::{ClientCertificates, TlsMode};

use super::{
    Wrong,
    values::{Optional, optional, parse_path},
};

/// The TLS settings, typed. A doc comment is the help of its flag.
#[derive(Clone, Debug, Args)]
pub(super) struct TlsValues {
    /// Whether the MongoDB API uses TLS: off, only for clients that start it, or for all
    #[arg(long, env = "EBB_MONGO_TLS", value_name = "off|allow|require", default_value = "allow", value_parser = parse_mode)]
    mongo_tls: TlsMode,
    /// Whether the portal, health and metrics use TLS: off, only for clients that start it, or for all
    #[arg(long, env = "EBB_ADMIN_TLS", value_name = "off|allow|require", default_value = "allow", value_parser = parse_mode)]
    admin_tls: TlsMode,
    /// Whether the NoSQL API uses TLS: off, only for clients that start it, or for all
    #[arg(long, env = "EBB_COSMOS_TLS", value_name = "off|allow|require", default_value = "allow", value_parser = parse_mode)]
    cosmos_tls: TlsMode,
    /// CA of client certificates for the MongoDB API [none requested]
    #[arg(long, env = "EBB_TLS_CLIENT_CA", value_name = "PATH", default_value = "", value_parser = optional(parse_path))]
    tls_client_ca: Optional<PathBuf>,
    /// Whether client certificates are required
    #[arg(long, env = "EBB_TLS_CLIENT_CERT", value_name = "allow|require", default_value = "allow", value_parser = parse_certificates)]
    tls_client_cert: ClientCertificates,
}

/// The TLS settings, after a check that they agree with each other.
pub(super) struct Checked {
    pub(super) mongo: TlsMode,
    pub(super) admin: TlsMode,
    pub(super) cosmos: TlsMode,
    pub(super) client_ca: Option<PathBuf>,
    pub(super) client_cert: ClientCertificates,
}

impl TlsValues {
    /// Returns the TLS settings, or an error if they cannot be combined.
    pub(super) fn checked(self) -> Result<Checked, Wrong> {
        let Self { mongo_tls, admin_tls, cosmos_tls, tls_client_ca, tls_client_cert } = self;
        let wrong = |text: &str| Err(Wrong(text.to_owned()));
        if tls_client_ca.0.is_some() && mongo_tls == TlsMode::Off {
            return wrong("--tls-client-ca needs --mongo-tls allow or require");
        }
        if tls_client_cert == ClientCertificates::Require {
            if tls_client_ca.0.is_none() {
                return wrong("--tls-client-cert require needs --tls-client-ca");
            }
            // Otherwise clients without a certificate could connect without TLS.
            if mongo_tls != TlsMode::Require {
                return wrong("--tls-client-cert require needs --mongo-tls require");
            }
        }
        Ok(Checked {
            mongo: mongo_tls,
            admin: admin_tls,
            cosmos: cosmos_tls,
            client_ca: tls_client_ca.0,
            client_cert: tls_client_cert,
        })
    }
}

/// Parses the TLS mode of an address.
fn parse_mode(text: &str) -> Result<TlsMode, String> {
    match text {
        "off" => Ok(TlsMode::Off),
        "allow" => Ok(TlsMode::Allow),
        "require" => Ok(TlsMode::Require),
        _ => Err("it is not off, allow or require".to_owned()),
    }
}

/// Parses the client certificate mode.
fn parse_certificates(text: &str) -> Result<ClientCertificates, String> {
    match text {
        "allow" => Ok(ClientCertificates::Allow),
        "require" => Ok(ClientCertificates::Require),
        _ => Err("it is not allow or require".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::config, *};

    #[test]
    fn settings_of_tls_go_together_or_are_refused() {
        let found = config(&[], None).unwrap();
        assert_eq!((found.mongo_tls, found.admin_tls), (TlsMode::Allow, TlsMode::Allow));
        assert_eq!(found.cosmos_tls, TlsMode::Allow);
        let found = config(&["--cosmos-tls=require"], None).unwrap();
        assert_eq!(found.cosmos_tls, TlsMode::Require);
        let all = ["--mongo-tls=require", "--tls-client-ca=ca", "--tls-client-cert=require"];
        let found = config(&all, None).unwrap();
        assert_eq!(found.mongo_tls, TlsMode::Require);
        assert_eq!(found.tls_client_cert, ClientCertificates::Require);
        assert_eq!(found.tls_client_ca.as_deref(), Some(std::path::Path::new("ca")));
        for (typed, want) in [
            (&["--mongo-tls=maybe"][..], "off, allow or require"),
            (&["--admin-tls=on"], "off, allow or require"),
            (&["--cosmos-tls=https"], "off, allow or require"),
            (&["--tls-client-cert=off"], "allow or require"),
            (&["--mongo-tls=off", "--tls-client-ca=ca"], "needs --mongo-tls"),
            (&["--mongo-tls=require", "--tls-client-cert=require"], "needs --tls-client-ca"),
            (&["--tls-client-ca=ca", "--tls-client-cert=require"], "needs --mongo-tls require"),
        ] {
            let wrong = config(typed, None).map(|_| ()).unwrap_err();
            assert!(wrong.contains(want), "{typed:?}: {wrong}");
        }
    }
}
