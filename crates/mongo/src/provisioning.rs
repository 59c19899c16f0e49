//! The provisioning of collections and databases: the shard key and the throughput that clients
//! give them. Both are stored and returned. The throughput is enforced if the server is configured
//! to do so; the shard key has no effect.
//!
//! ```text
//! a collection   an option:   provisioning: {shardKey: {a: "hashed"}, offerThroughput: 400}
//! a database     a record:    "mongodb database" / <database>: {maxThroughput: 4000}
//! ```
//!
//! `listCollections` omits this option, since other servers could not restore a dump that contains
//! it.

use std::sync::Arc;

use document::{DocRef, Document, Number, Value, ValueRef};
use engine::{Engine, Expected, Resource, ResourceChange};
use throughput::{OutOfBounds, Throughput};

use crate::{
    arguments::Args,
    errors::{BadValue, Error, Result},
    reserved_property::RESERVED,
};

/// The option of a collection that contains its provisioning.
const OPTION: &str = "provisioning";
/// First component of the catalog paths of database records.
const DATABASES: &str = "mongodb database";
/// Name of the field with the shard key in a record.
const SHARD_KEY: &str = "shardKey";
/// Name of the field with a manual throughput, in arguments and in records.
const MANUAL: &str = "offerThroughput";
/// Name of the field with the settings of autoscale, in arguments and in replies.
const AUTOSCALE: &str = "autoScaleSettings";
/// Name of the field with the maximum throughput of autoscale.
const MAXIMUM: &str = "maxThroughput";

/// The shard key and the throughput of a collection. A database has only a throughput.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Provisioning {
    /// The shard key pattern, such as `{a: "hashed"}`.
    pub(crate) shard_key: Option<Document>,
    /// The collection's or database's own throughput; `None` if it has none. A collection without
    /// one shares that of its database.
    pub(crate) throughput: Option<Throughput>,
}

impl Provisioning {
    /// Returns the provisioning that a collection's options contain.
    pub(crate) fn of_options(options: &Document) -> Self {
        match options.get(OPTION) {
            Some(Value::Document(stored)) => Self::of_stored(stored),
            _ => Self::default(),
        }
    }

    /// Parses the stored form of a provisioning.
    fn of_stored(stored: &Document) -> Self {
        let number = |name| stored.get(name).and_then(|it| Number::of(it.as_ref())?.to_i64_exact());
        let shard_key = match stored.get(SHARD_KEY) {
            Some(Value::Document(key)) => Some(key.clone()),
            _ => None,
        };
        let most = number(MAXIMUM).map(|most| Throughput::Autoscale(most, None));
        let throughput = most.or_else(|| number(MANUAL).map(Throughput::Manual));
        Self { shard_key, throughput }
    }

    /// Returns the provisioning in its stored form.
    fn to_stored(&self) -> Document {
        let mut stored = Document::new();
        if let Some(key) = &self.shard_key {
            stored.push(SHARD_KEY, key.clone());
        }
        match self.throughput {
            Some(Throughput::Manual(units)) => stored.push(MANUAL, Value::Int64(units)),
            Some(Throughput::Autoscale(most, _)) => stored.push(MAXIMUM, Value::Int64(most)),
            None => {}
        }
        stored
    }

    /// Returns a collection's options with this provisioning in place of any other.
    pub(crate) fn in_options(&self, options: &Document) -> Document {
        let mut options = without_provisioning(options);
        let stored = self.to_stored();
        if !stored.is_empty() {
            options.push(OPTION, stored);
        }
        options
    }
}

/// Returns a collection's options without its provisioning, as `listCollections` returns them and
/// `create` compares them.
pub(crate) fn without_provisioning(options: &Document) -> Document {
    let mut options = options.clone();
    options.remove(OPTION);
    options
}

/// Parses the throughput, manual or autoscale, in the arguments of a command.
///
/// Fails with 14 if the throughput is not a number, 40415 or 40414 if a field of the autoscale
/// settings is unknown or missing, and 2 if both kinds of throughput are given or a throughput is
/// out of bounds or not a multiple of its step.
pub(crate) fn parse_throughput(args: &Args<'_>) -> Result<Option<Throughput>> {
    let manual = whole_number(args, MANUAL)?.map(Throughput::Manual);
    let of = format!("{}.{AUTOSCALE}", args.of);
    let settings = args.document(AUTOSCALE)?.map(|settings| Args::new(&of, settings));
    let scaled = match settings {
        None => None,
        Some(settings) => {
            settings.allow_only(&[MAXIMUM])?;
            let most = whole_number(&settings, MAXIMUM)?;
            Some(Throughput::Autoscale(most.ok_or_else(|| settings.missing_field(MAXIMUM))?, None))
        }
    };
    let given = match (manual, scaled) {
        (Some(_), Some(_)) => {
            let text = format!("'{MANUAL}' and '{AUTOSCALE}' cannot be given together");
            return Err(Error::new(BadValue, text));
        }
        (manual, scaled) => manual.or(scaled),
    };
    given.map(Throughput::check_bounds).transpose().map_err(|bounds| {
        let OutOfBounds { least, most, step } = bounds;
        let name = if manual.is_some() { MANUAL } else { MAXIMUM };
        let text = format!("'{name}' must be a multiple of {step} from {least} to {most}");
        Error::new(BadValue, text)
    })
}

/// Parses a whole number of any numeric type; fails with 2 if it has a fraction, and with 14 if the
/// value is not a number.
pub(crate) fn whole_number(args: &Args<'_>, name: &str) -> Result<Option<i64>> {
    let Some(value) = args.get(name) else { return Ok(None) };
    let Some(number) = Number::of(value) else {
        return Err(args.wrong_type(name, value, "s '[long, int, decimal, double]'"));
    };
    let whole = number.to_i64_exact();
    let text = || format!("'{name}' must be a whole number");
    whole.map(Some).ok_or_else(|| Error::new(BadValue, text()))
}

/// Returns the shard key pattern that hashes the value at a path: `{path: "hashed"}`.
pub(crate) fn shard_key_of_path(path: &str) -> Result<Document> {
    check_path(path)?;
    let mut key = Document::new();
    key.push(path, "hashed");
    Ok(key)
}

/// Parses a shard key pattern: fields with the value 1 or, at most once, "hashed".
pub(crate) fn shard_key_of_pattern(pattern: DocRef<'_>) -> Result<Document> {
    let refuse = |text: &str| Err(Error::new(BadValue, text));
    if pattern.is_empty() {
        return refuse("a shard key must have a field");
    }
    let mut key = Document::new();
    let mut hashed = 0;
    for (path, value) in pattern.iter() {
        check_path(path)?;
        match value {
            ValueRef::String("hashed") => hashed += 1,
            value if Number::of(value).and_then(Number::to_i64_exact) == Some(1) => {}
            _ => return refuse("a field of a shard key must be 1 or \"hashed\""),
        }
        if key.get(path).is_some() {
            return refuse("a shard key has a field twice");
        }
        key.push(path, value.to_value());
    }
    if 1 < hashed { refuse("a shard key can have one \"hashed\" field") } else { Ok(key) }
}

/// Fails with 2 if a path cannot be part of a shard key.
fn check_path(path: &str) -> Result<()> {
    let is_bad = |part: &str| part.is_empty() || part.starts_with('$');
    if path.split('.').any(is_bad) || path.contains('\0') || path == RESERVED {
        let shown: String = path.chars().take(100).collect();
        return Err(Error::new(BadValue, format!("'{shown}' cannot be the path of a shard key")));
    }
    Ok(())
}

/// Returns the record of a database; `None` if no command has created one.
pub(crate) fn database_record(engine: &Engine, database: &str) -> Option<Arc<Resource>> {
    engine.resource_at(&[DATABASES, database])
}

/// Returns the names of all databases with a record.
pub(crate) fn recorded_databases(engine: &Engine) -> Vec<String> {
    let records = engine.resources_below(&[DATABASES]);
    records.iter().filter_map(|record| record.path.last().cloned()).collect()
}

/// Returns the throughput of a database, which its collections share.
pub(crate) fn database_throughput(engine: &Engine, database: &str) -> Option<Throughput> {
    Provisioning::of_stored(&database_record(engine, database)?.body).throughput
}

/// Creates the record of a database. Returns false if it already exists.
pub(crate) async fn create_database(
    engine: &Engine,
    database: &str,
    throughput: Option<Throughput>,
) -> std::result::Result<bool, engine::Error> {
    let body = Provisioning { shard_key: None, throughput }.to_stored();
    match engine.put_resource(&[DATABASES, database], body, Expected::Absent).await {
        Ok(_) => Ok(true),
        Err(engine::Error { kind: engine::Kind::Exists(_), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets the throughput of a database; creates its record if it has none.
pub(crate) async fn set_database_throughput(
    engine: &Engine,
    database: &str,
    throughput: Throughput,
) -> std::result::Result<(), engine::Error> {
    let body = Provisioning { shard_key: None, throughput: Some(throughput) }.to_stored();
    let path = [DATABASES, database];
    loop {
        match engine.put_resource(&path, body.clone(), Expected::Present).await {
            Err(engine::Error { kind: engine::Kind::NotFound(_), .. }) => {}
            replaced => return replaced.map(|_| ()),
        }
        match engine.put_resource(&path, body.clone(), Expected::Absent).await {
            Err(engine::Error { kind: engine::Kind::Exists(_), .. }) => {}
            created => return created.map(|_| ()),
        }
    }
}

/// Removes the record of a database; returns whether it had one.
pub(crate) async fn remove_database(
    engine: &Engine,
    database: &str,
) -> std::result::Result<bool, engine::Error> {
    if database_record(engine, database).is_none() {
        return Ok(false);
    }
    let change = ResourceChange::remove(&[DATABASES, database], Expected::Present);
    match engine.change_resources(vec![change]).await {
        Ok(_) => Ok(true),
        // Another client removed it.
        Err(engine::Error { kind: engine::Kind::NotFound(_), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    fn throughput_of(arguments: &Document) -> std::result::Result<Option<Throughput>, i32> {
        let arguments = arguments.to_buf();
        parse_throughput(&Args::new("customAction", arguments.as_ref())).map_err(|it| it.code)
    }

    #[test]
    fn throughput_takes_whole_numbers_of_each_type() {
        let auto = |most: Value| doc! { "autoScaleSettings": doc! { "maxThroughput": most } };
        for (arguments, want) in [
            (doc! {}, Ok(None)),
            (doc! { "offerThroughput": 400 }, Ok(Some(Throughput::Manual(400)))),
            (doc! { "offerThroughput": 500_i64 }, Ok(Some(Throughput::Manual(500)))),
            (doc! { "offerThroughput": 600.0 }, Ok(Some(Throughput::Manual(600)))),
            (doc! { "offerThroughput": Value::Null }, Ok(None)),
            (doc! { "offerThroughput": 450 }, Err(2)),
            (doc! { "offerThroughput": 300 }, Err(2)),
            (doc! { "offerThroughput": 400.5 }, Err(2)),
            (doc! { "offerThroughput": -400 }, Err(2)),
            (doc! { "offerThroughput": i64::MAX }, Err(2)),
            (doc! { "offerThroughput": f64::NAN }, Err(2)),
            (doc! { "offerThroughput": "400" }, Err(14)),
            (auto(4000.into()), Ok(Some(Throughput::Autoscale(4000, None)))),
            (auto(Value::Int64(20_000)), Ok(Some(Throughput::Autoscale(20_000, None)))),
            (auto(1_500.into()), Err(2)),
            (auto("4000".into()), Err(14)),
            (auto(Value::Null), Err(40414)),
            (doc! { "autoScaleSettings": 4000 }, Err(14)),
            (doc! { "autoScaleSettings": doc! { "max": 4000 } }, Err(40415)),
        ] {
            assert_eq!(throughput_of(&arguments), want, "{arguments:?}");
        }
        let mut both = auto(4000.into());
        both.push("offerThroughput", 400);
        assert_eq!(throughput_of(&both), Err(2));
    }

    #[test]
    fn shard_keys() {
        assert_eq!(shard_key_of_path("a.b").unwrap(), doc! { "a.b": "hashed" });
        for path in ["", ".", "a.", ".a", "a..b", "$a", "a.$b", "_ts", "a\0b"] {
            assert_eq!(shard_key_of_path(path).unwrap_err().code, BadValue, "{path:?}");
        }
        for (pattern, good) in [
            (doc! { "a": "hashed" }, true),
            (doc! { "a": 1, "b.c": "hashed" }, true),
            (doc! { "a": 1.0 }, true),
            (doc! {}, false),
            (doc! { "a": -1 }, false),
            (doc! { "a": "text" }, false),
            (doc! { "a": "hashed", "b": "hashed" }, false),
            (doc! { "a": doc! {} }, false),
            (doc! { "$a": 1 }, false),
        ] {
            let found = shard_key_of_pattern(DocRef::Tree(&pattern));
            assert_eq!(found.is_ok(), good, "{pattern:?}");
            assert!(found.is_err() || found.unwrap() == pattern);
        }
    }

    #[test]
    fn it_is_kept_beside_the_other_options() {
        let options = doc! { "storageEngine": doc! {} };
        for throughput in
            [None, Some(Throughput::Manual(400)), Some(Throughput::Autoscale(4000, None))]
        {
            for shard_key in [None, Some(doc! { "a": "hashed" })] {
                let kept = Provisioning { shard_key, throughput };
                let stored = kept.in_options(&options);
                assert_eq!(Provisioning::of_options(&stored), kept);
                assert_eq!(without_provisioning(&stored), options);
                let replaced = Provisioning::default().in_options(&stored);
                assert_eq!(replaced, options);
            }
        }
    }
}
