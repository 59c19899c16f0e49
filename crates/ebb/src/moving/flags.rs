//! Flags that `ebb export` and `ebb import` have in common: the server, the collection or
//! container, and the file format.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, builder::OsStr, parser::ValueSource};
use server::{Secret, WELL_KNOWN_KEY};
use transfer::{Format, MongoAddress, NoSqlAddress};

use crate::{
    client,
    password::{password_flag, typed_password},
};

/// URL of the server if no flag selects one.
const LOCAL: &str = "mongodb://127.0.0.1:27017";

/// The server to copy from or to, by API.
#[derive(Debug)]
pub(super) enum Server {
    Mongo(MongoAddress),
    NoSql(NoSqlAddress),
}

/// The parsed flags that import and export have in common.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) server: Server,
    pub(super) database: String,
    pub(super) collection: String,
    pub(super) format: Format,
    /// Identifies the job, so that only the same job is resumed: server, database and collection as
    /// one text, without credentials.
    pub(super) job: String,
}

/// Returns the flags that import and export have in common.
pub(super) fn common_flags() -> Vec<Arg> {
    let [_, key, tls, authority] = client::client_flags();
    let value = |id: &'static str, name: &'static str| Arg::new(id).long(id).value_name(name);
    vec![
        value("uri", "URI").env(OsStr::from("EBB_URI")).hide_env_values(true).help(
            "The server's MongoDB API: mongodb://[USER@]HOST[:PORT][/?authSource=DATABASE&tls=true&\
             tlsCAFile=PATH] [default: mongodb://127.0.0.1:27017]",
        ),
        value("nosql", "URL")
            .help("Use the server's NoSQL API instead: http://HOST:PORT or https://HOST:PORT"),
        key.help("File with the key of the NoSQL API [the public emulator key]"),
        password_flag().help(
            "File with the password of the user in --uri [read from standard input if --uri has \
             none]",
        ),
        tls.help("Use TLS for the MongoDB API"),
        authority.help(
            "Use TLS, and trust this CA or certificate: a server keeps its generated one in \
             DATA-DIR/nosql/certificate.pem [the system's CAs]",
        ),
        value("db", "DATABASE").short('d').required(true).help("The database"),
        value("collection", "COLLECTION")
            .short('c')
            .visible_alias("container")
            .required(true)
            .help("The collection or container"),
        value("format", "FORMAT").value_parser(["extended-json", "jsonl", "csv"]).help(
            "extended-json: Extended JSON v2, one document per line, preserves all types [default \
             for the MongoDB API]; jsonl: plain JSON, one document per line [default for the NoSQL \
             API]; csv: a table. JSON files to import may also be one array",
        ),
        Arg::new("resume")
            .long("resume")
            .action(ArgAction::SetTrue)
            .help("Resume an interrupted run with the same arguments, if there is one"),
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the result as JSON"),
    ]
}

/// Returns the `--fields` flag; each command adds its own help.
pub(super) fn fields_flag() -> Arg {
    Arg::new("fields").short('f').long("fields").value_name("NAME,...").value_delimiter(',')
}

/// Returns the value of a flag, or an empty text.
pub(super) fn text(matches: &ArgMatches, id: &str) -> String {
    matches.get_one::<String>(id).cloned().unwrap_or_default()
}

/// Returns the names in `--fields`.
pub(super) fn fields(matches: &ArgMatches) -> Vec<String> {
    matches.get_many::<String>("fields").into_iter().flatten().cloned().collect()
}

impl Common {
    /// Parses the common flags; fails if they cannot be combined. `relaxed` selects relaxed
    /// Extended JSON. `from_standard` is true if documents are read from standard input; the
    /// password must then come from a file.
    pub(super) fn from_matches(
        matches: &ArgMatches,
        relaxed: bool,
        from_standard: bool,
    ) -> Result<Self, String> {
        let authority = Some(text(matches, "tls-ca")).filter(|path| !path.is_empty());
        let authority = authority.map(PathBuf::from);
        let nosql = text(matches, "nosql");
        if !nosql.is_empty() && matches.value_source("uri") == Some(ValueSource::CommandLine) {
            return Err("--uri and --nosql exclude each other".to_owned());
        }
        let (server, shown) = if nosql.is_empty() {
            let address = mongo_address(matches, authority, from_standard)?;
            let shown = address.shown();
            (Server::Mongo(address), shown)
        } else {
            let key = match client::key_file(matches) {
                Some(path) => server::first_key(path).map_err(|failure| failure.to_string())?,
                None => Secret::from_text(WELL_KNOWN_KEY.to_owned()),
            };
            let key = key.text().unwrap_or_default();
            (Server::NoSql(NoSqlAddress::parse(&nosql, key, authority)?), nosql)
        };
        let usual = if matches!(server, Server::Mongo(_)) { "extended-json" } else { "jsonl" };
        let typed = matches.get_one::<String>("format").map_or(usual, String::as_str);
        let format = match typed {
            "csv" => Format::Csv(fields(matches)),
            "jsonl" => Format::Plain,
            _ if relaxed => Format::Relaxed,
            _ => Format::Canonical,
        };
        if relaxed && format != Format::Relaxed {
            return Err("--relaxed is a form of --format extended-json".to_owned());
        }
        let (database, collection) = (text(matches, "db"), text(matches, "collection"));
        let job = format!("{shown} {database}.{collection}");
        Ok(Self { server, database, collection, format, job })
    }
}

/// Returns the address of the MongoDB API, with the user's password.
fn mongo_address(
    matches: &ArgMatches,
    authority: Option<PathBuf>,
    from_standard: bool,
) -> Result<MongoAddress, String> {
    let typed = Some(text(matches, "uri")).filter(|uri| !uri.is_empty());
    let mut address = MongoAddress::parse(typed.as_deref().unwrap_or(LOCAL))?;
    if matches.get_flag("tls") {
        address.with_tls();
    }
    if let Some(authority) = authority {
        address.with_authority(authority);
    }
    let has_file = matches.contains_id("password-file");
    if address.wants_password() && from_standard && !has_file {
        return Err("standard input is used for the documents: give --password-file".to_owned());
    }
    if address.wants_password() || has_file {
        address.set_password(Secret::from_text(typed_password(matches)?));
    }
    Ok(address)
}
