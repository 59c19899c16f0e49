//! `ebb keys`: creates a key file for `--key-file`.
//!
//! ```text
//! ebb keys new account.keys
//! ebb serve --key-file account.keys
//! ```

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Arg, ArgMatches, Command};

use crate::{FAILED, USAGE, complain, end_failed, print_text};

/// Description of the key file in `--help`.
const FORMAT: &str = "\
A key file has a key on each line, in base64, of 16 to 256 bytes:

    # text after '#' is a comment
    primary            = BASE64   reads and writes; required
    secondary          = BASE64   the same, so that keys can be rotated without downtime
    primary-readonly   = BASE64   reads
    secondary-readonly = BASE64   the same

A key alone on its line is the primary. A world-readable file is refused.

Start a server with it:   ebb serve --key-file FILE
Reload its files:         send it SIGHUP";

pub(crate) fn command() -> Command {
    let new = Command::new("new")
        .about("Generate four new keys")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("File to create, readable only by its owner [print them]"),
        )
        .after_help(FORMAT);
    Command::new("keys")
        .about("Generate keys for the NoSQL API and the portal, for --key-file")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(FORMAT)
        .subcommand(new)
}

/// Runs the parsed subcommand and returns the exit code.
pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let Some(("new", typed)) = matches.subcommand() else { return ExitCode::from(USAGE) };
    let made = match server::new_key_file() {
        Ok(made) => made,
        Err(failure) => return end_failed(failure),
    };
    let Some(path) = typed.get_one::<PathBuf>("file") else {
        print_text(made.text().unwrap_or_default());
        return ExitCode::SUCCESS;
    };
    let shown = path.display();
    match write_new(path, made.bytes()) {
        Ok(()) => {
            print_text(format!("wrote four new keys to {shown}: ebb serve --key-file {shown}\n"));
            ExitCode::SUCCESS
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => complain(
            format!("{shown} already exists and was not changed: name another file"),
            FAILED,
        ),
        Err(error) => complain(format!("{shown}: {error}"), FAILED),
    }
}

/// Writes a new file that only its owner may read; fails if it exists.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_server_takes_the_file_that_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        let typed = ["keys", "new", file.to_str().unwrap()];
        let matches = command().try_get_matches_from(typed).unwrap();
        assert_eq!(run(&matches), ExitCode::SUCCESS);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let first = server::first_key(&file).unwrap();
        assert_eq!(first.bytes().len(), 88);
        assert_eq!(run(&matches), ExitCode::from(FAILED), "it is not overwritten");
        assert_eq!(server::first_key(&file).unwrap().bytes(), first.bytes());
    }

    #[test]
    fn help_says_what_is_in_a_key_file() {
        let help = command().render_help().to_string();
        for line in ["primary            = BASE64", "secondary-readonly = BASE64", "a comment"] {
            assert!(help.contains(line), "{help}");
        }
    }
}
