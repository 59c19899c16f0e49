//! `ebb cert`: the certificate of a server, for clients that must trust it.
//!
//! ```text
//! ebb cert export ebb.pem
//! SSL_CERT_FILE=ebb.pem dotnet run
//! ```

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Arg, ArgMatches, Command, builder::OsStr};

use crate::{FAILED, USAGE, complain, print_text};

/// Instructions for making clients trust a certificate, shown by `--help` and after an export.
const TRUST: &str = "\
Trust it for a program:

    .NET (Linux)      SSL_CERT_FILE=FILE
    Java              keytool -importcert -noprompt -alias ebb -file FILE -keystore ebb.p12 -storepass changeit
                      java -Djavax.net.ssl.trustStore=ebb.p12 -Djavax.net.ssl.trustStorePassword=changeit
    Python, Node.js   REQUESTS_CA_BUNDLE=FILE, NODE_EXTRA_CA_CERTS=FILE
    curl, mongosh     --cacert FILE, --tlsCAFile FILE

For tests the check can be disabled: DisableServerCertificateValidation=True in the connection
string of .NET, the system property COSMOS.EMULATOR_SERVER_CERTIFICATE_VALIDATION_DISABLED=true in
Java.";

/// Timeout of the request for the certificate.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn command() -> Command {
    let address = Arg::new("cosmos-addr")
        .long("cosmos-addr")
        .env(OsStr::from("EBB_COSMOS_ADDR"))
        .value_name("HOST:PORT")
        .default_value("127.0.0.1:8081")
        .help("The NoSQL address of a running server");
    let data = Arg::new("data-dir")
        .long("data-dir")
        .value_name("PATH")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Read the certificate of this data directory instead");
    let file = Arg::new("file")
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help("File to write [print it]");
    let export = Command::new("export")
        .about("Write a server's certificate")
        .args([address, data, file])
        .after_help(TRUST);
    Command::new("cert")
        .about("Export the server's certificate, which clients in direct mode must trust")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(TRUST)
        .subcommand(export)
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let Some(("export", typed)) = matches.subcommand() else { return ExitCode::from(USAGE) };
    let address = typed.get_one::<String>("cosmos-addr").map_or("", String::as_str);
    let read = match typed.get_one::<PathBuf>("data-dir") {
        Some(folder) => server::read_kept_certificate(folder).map_err(|error| {
            format!("cannot read the certificate of {}: {error}", folder.display())
        }),
        None => fetch(address),
    };
    match (read, typed.get_one::<PathBuf>("file")) {
        (Err(message), _) => complain(message, FAILED),
        (Ok(certificate), None) => {
            print_text(certificate);
            ExitCode::SUCCESS
        }
        (Ok(certificate), Some(file)) => write(file, &certificate),
    }
}

/// Writes the certificate and prints how to trust it.
fn write(file: &Path, certificate: &str) -> ExitCode {
    let shown = file.display();
    if let Err(error) = fs::write(file, certificate) {
        return complain(format!("{shown}: {error}"), FAILED);
    }
    print_text(format!("wrote the certificate to {shown} (FILE below)\n\n{TRUST}\n"));
    ExitCode::SUCCESS
}

/// Reads the certificate from a running server. The connection does not verify the certificate: the
/// user decides to trust it.
fn fetch(address: &str) -> Result<String, String> {
    let agent = ureq::Agent::config_builder()
        .tls_config(transfer::http_without_verification())
        .http_status_as_error(false)
        .timeout_global(Some(PATIENCE))
        .proxy(None)
        .build();
    let url = format!("https://{address}/_explorer/emulator.pem");
    let wrong = |error: ureq::Error| {
        format!(
            "no certificate from {address}: {error}. Is the server running, and its --cosmos-tls \
             not off? Choose another address with --cosmos-addr"
        )
    };
    let mut answer = ureq::Agent::new_with_config(agent).get(url).call().map_err(wrong)?;
    match answer.status().as_u16() {
        200 => answer.body_mut().read_to_string().map_err(wrong),
        status => Err(format!("no certificate from {address}: it returned {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(typed: &[&str]) -> ExitCode {
        run(&command().try_get_matches_from(typed).unwrap())
    }

    #[test]
    fn the_certificate_of_a_data_directory_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir_all(data.join("nosql")).unwrap();
        let (from, to) = (data.to_str().unwrap(), folder.path().join("ebb.pem"));
        let typed = ["cert", "export", "--data-dir", from, to.to_str().unwrap()];
        assert_eq!(exit(&typed), ExitCode::from(FAILED), "no certificate exists yet");
        fs::write(data.join("nosql/certificate.pem"), "-----BEGIN\n").unwrap();
        assert_eq!(exit(&typed), ExitCode::SUCCESS);
        assert_eq!(fs::read_to_string(to).unwrap(), "-----BEGIN\n");
    }

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let message = fetch("127.0.0.1:1").unwrap_err();
        assert!(message.contains("127.0.0.1:1") && message.contains("--cosmos-addr"), "{message}");
    }
}
