//! Where the value of a setting comes from, and its text there.

use clap::{ArgMatches, parser::ValueSource};

/// The origin of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Flag,
    Environment,
    File,
    Default,
}

/// Returns the source of a value: command line, environment or default. A value from the file
/// counts as a default here.
pub(super) fn find_source(matches: &ArgMatches, name: &str) -> Source {
    match matches.value_source(&name.replace('-', "_")) {
        Some(ValueSource::CommandLine) => Source::Flag,
        Some(ValueSource::EnvVariable) => Source::Environment,
        _ => Source::Default,
    }
}

/// Returns the text of a setting as given; several values are joined by commas.
pub(super) fn typed_text(matches: &ArgMatches, name: &str) -> String {
    let texts = matches.get_raw(&name.replace('-', "_")).into_iter().flatten();
    texts.map(|text| text.to_string_lossy()).collect::<Vec<_>>().join(",")
}
