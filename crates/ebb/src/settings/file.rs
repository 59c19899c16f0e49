//! The file of `--config`: its settings by name, with line numbers. It does not interpret the
//! values. Errors name file and line and, for an unknown setting, the most similar name.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::Wrong;

/// Minimum similarity, from 0 to 1, for a suggested name.
const LIKELY: f64 = 0.8;

/// The settings of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfigFile {
    /// Path as it was given.
    path: String,
    /// Text and line number of each setting, by name.
    settings: BTreeMap<String, (String, usize)>,
}

impl ConfigFile {
    /// Parses a file. An unknown name is an error, because it would otherwise be ignored silently.
    pub(super) fn parse(path: &str, text: &str, names: &[&str]) -> Result<Self, Wrong> {
        let line_at = |at: usize| {
            let before = text.bytes().take(at);
            1 + before.filter(|byte| *byte == b'\n').count()
        };
        let no_toml = |error: toml::de::Error| {
            let line = line_at(error.span().map_or(0, |span| span.start));
            Wrong(format!("--config {path}:{line}: {}", error.message()))
        };
        let places = DeTable::parse(text).map_err(no_toml)?;
        let mut values: toml::Table = text.parse().map_err(no_toml)?;
        let mut settings = BTreeMap::new();
        for name in places.get_ref().keys() {
            let line = line_at(name.span().start);
            let name: &str = name.get_ref();
            if !names.contains(&name) {
                let text = format!("--config {path}:{line}: there is no setting '{name}'");
                return Err(Wrong(match likely(name, names) {
                    Some(likely) => format!("{text}; did you mean '{likely}'?"),
                    None => format!("{text}; 'ebb serve --help' lists all"),
                }));
            }
            let value = values.remove(name).as_ref().map(plain_text);
            settings.insert(name.to_owned(), (value.unwrap_or_default(), line));
        }
        Ok(Self { path: path.to_owned(), settings })
    }

    /// Returns the text of a setting, if the file has it.
    pub(super) fn text(&self, name: &str) -> Option<&String> {
        self.settings.get(name).map(|(text, _)| text)
    }

    /// Prefixes an error about a value with the position of its setting.
    pub(super) fn at_its_line(&self, wrong: Wrong) -> Wrong {
        let is_meant = |name: &&String| {
            let flag = format!("'--{name}");
            wrong
                .0
                .split_once(&flag)
                .is_some_and(|(_, rest)| rest.starts_with([' ', '\'', '=', '[']))
        };
        match self.settings.keys().find(is_meant).and_then(|name| self.settings.get(name)) {
            Some((_, line)) => Wrong(format!("--config {}:{line}: {}", self.path, wrong.0)),
            None => wrong,
        }
    }
}

/// Returns the known name that is most similar to an unknown one.
fn likely<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase().replace('_', "-");
    let ranked = names.iter().map(|known| (strsim::jaro(&name, known), *known));
    let (likeness, known) = ranked.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (LIKELY <= likeness).then_some(known)
}

/// Returns a value in the form in which it would be typed on the command line, so that one parser
/// serves file and flags.
fn plain_text(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(values) => values.iter().map(plain_text).collect::<Vec<_>>().join(","),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["clock", "mongo-addr", "admin-addr", "data-dir", "admin-host"];

    fn refused(text: &str) -> String {
        ConfigFile::parse("a/ebb.toml", text, &NAMES).unwrap_err().0
    }

    #[test]
    fn values_are_read_as_they_would_be_typed() {
        let text = "clock = \"manual\"\n\ndata-dir = 7\nadmin-host = [\"a\", \"b\"] # c\n";
        let file = ConfigFile::parse("f", text, &NAMES).unwrap();
        for (name, want) in [("clock", "manual"), ("data-dir", "7"), ("admin-host", "a,b")] {
            assert_eq!(file.text(name).map(String::as_str), Some(want));
        }
        assert_eq!(file.text("mongo-addr"), None);
        let wrong = |text: &str| file.at_its_line(Wrong(text.to_owned())).0;
        let about = "invalid value '7' for '--data-dir <PATH>': no";
        assert_eq!(wrong(about), format!("--config f:3: {about}"));
        let other = "invalid value '7' for '--data-dirs <PATH>': no";
        assert_eq!(wrong(other), other);
    }

    #[test]
    fn an_unknown_name_has_its_line_and_the_likely_name() {
        for (text, line, name, likely) in [
            ("mongo_addr = 1", 1, "mongo_addr", "did you mean 'mongo-addr'?"),
            ("clock = \"manual\"\n\nclok = 1", 3, "clok", "did you mean 'clock'?"),
            ("# a\nMONGO-ADR = 1", 2, "MONGO-ADR", "did you mean 'mongo-addr'?"),
            ("datadir = 1", 1, "datadir", "did you mean 'data-dir'?"),
            ("colour = 1", 1, "colour", "'ebb serve --help' lists all"),
        ] {
            let want =
                format!("--config a/ebb.toml:{line}: there is no setting '{name}'; {likely}");
            assert_eq!(refused(text), want);
        }
    }

    #[test]
    fn a_file_that_is_no_toml_has_the_line_too() {
        for (text, line) in [("clock =", 1), ("clock = \"manual\"\nmongo-addr\n", 2)] {
            let wrong = refused(text);
            assert!(wrong.starts_with(&format!("--config a/ebb.toml:{line}: ")), "{wrong}");
            assert!(!wrong.contains('\n'), "{wrong}");
        }
    }
}
