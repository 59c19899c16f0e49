//! Reads a password from a file or standard input, never from the command line, which is visible to
//! other users of the machine.

use std::io::{BufRead, IsTerminal};

use clap::{Arg, ArgMatches};

/// Returns the flag for the password file.
pub(crate) fn password_flag() -> Arg {
    Arg::new("password-file")
        .long("password-file")
        .value_name("PATH")
        .help("File with the password [read from standard input]")
}

/// Checks that the file can be opened, so that a missing file is reported as a usage error.
pub(crate) fn parse_readable(path: &str) -> Result<String, String> {
    std::fs::File::open(path).map(|_| path.to_owned()).map_err(|error| error.to_string())
}

/// Reads the password from the given file, or from the first line of standard input.
pub(crate) fn typed_password(matches: &ArgMatches) -> Result<String, String> {
    let text = match matches.get_one::<String>("password-file") {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| format!("--password-file {path}: {error}"))?,
        None => {
            let input = std::io::stdin();
            if input.is_terminal() {
                return Err(
                    "give --password-file PATH, or the password on standard input".to_owned()
                );
            }
            let mut line = String::new();
            input.lock().read_line(&mut line).map_err(|error| format!("the password: {error}"))?;
            line
        }
    };
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
