//! Records as stored: tagged, versioned BSON. An unknown field is refused, since a newer version
//! wrote it for a reason.

use document::{DocRef, Document, Number, Value, array, doc, validate};
use expiry::{DateRule, Default, FloorPair, Settings};

use super::{
    FeedBegun, FeedSettings, IndexSpec, ItemSettings, Policy, Record, Shape,
    fields::{Fields, missing},
    record::Books,
};
use crate::{
    error::Error,
    names::{Model, Namespace, Partition},
};

const FORMAT: i64 = 1;

pub(crate) fn encode(record: &Record) -> Vec<u8> {
    let settings = &record.settings;
    let default = match settings.default {
        Default::Off => Value::Null,
        Default::Infinite => Value::Int64(-1),
        Default::Seconds(n) => Value::Int64(n),
    };
    let books = match record.books {
        Books::Off => doc! { "build": 0_i64, "ready": true },
        Books::Building(build) => doc! { "build": int(build), "ready": false },
        Books::Ready(build) => doc! { "build": int(build), "ready": true },
    };
    let mut tree = doc! {
        "format": FORMAT,
        "id": i64::from(record.id),
        "model": i64::from(record.model.code()),
        "database": record.namespace.database.as_str(),
        "collection": record.namespace.collection.as_str(),
        "default": default,
        "inherit_floor": settings.inherit_floor,
        "explicit_floor": settings.explicit_floor,
        "dates": Value::Array(settings.dates.iter().map(encode_rule).collect()),
        "indexes": Value::Array(record.indexes.iter().map(encode_index).collect()),
        "next_index": i64::from(record.next_index),
        "dropped": Value::Array(record.dropped.iter().map(|id| i64::from(*id).into()).collect()),
        "books": books,
        "created": int(record.created),
        "options": record.options.clone(),
    };
    if let Some(items) = &record.items {
        tree.push("items", encode_items(items));
    }
    tree.to_buf().into_bytes().into()
}

fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn encode_items(items: &ItemSettings) -> Document {
    doc! {
        "hash": i64::from(items.partition.hash_bytes),
        "values": i64::from(items.partition.values),
        "changed": int(items.changed),
        "changed_ts": items.changed_ts,
        "ruled_ts": items.ruled_ts,
        "feed": items.feed.as_ref().map_or(Value::Null, encode_feed),
    }
}

fn encode_feed(feed: &FeedSettings) -> Value {
    let begun = |begun: FeedBegun| array![int(begun.since), begun.inherit_s, begun.explicit_s];
    Value::Document(doc! {
        "retention_s": feed.retention_s,
        "floor_s": feed.floor_s,
        "begun": feed.begun.map_or(Value::Null, begun),
    })
}

fn decode_feed(value: Value) -> Result<Option<FeedSettings>, Error> {
    if value == Value::Null {
        return Ok(None);
    }
    let mut fields = Fields::of(value, "feed")?;
    let begun = match fields.take("begun")? {
        Value::Null => None,
        Value::Array(parts) => match parts.as_slice() {
            [Value::Int64(since), Value::Int64(inherit_s), Value::Int64(explicit_s)] => {
                let since = u64::try_from(*since).map_err(|_| missing("begun"))?;
                Some(FeedBegun { since, inherit_s: *inherit_s, explicit_s: *explicit_s })
            }
            _ => return Err(missing("begun")),
        },
        _ => return Err(missing("begun")),
    };
    let feed = FeedSettings {
        retention_s: fields.int("retention_s")?,
        floor_s: fields.int("floor_s")?,
        begun,
    };
    fields.finish()?;
    Ok(Some(feed))
}

fn decode_items(value: Value) -> Result<ItemSettings, Error> {
    let mut fields = Fields::of(value, "items")?;
    let mut byte = |name| u8::try_from(fields.int(name)?).map_err(|_| missing(name));
    let partition = Partition { hash_bytes: byte("hash")?, values: byte("values")? };
    let items = ItemSettings {
        partition,
        changed: fields.stamp("changed")?,
        changed_ts: fields.int("changed_ts")?,
        ruled_ts: fields.int("ruled_ts")?,
        feed: decode_feed(fields.take("feed")?)?,
    };
    fields.finish()?;
    Ok(items)
}

fn encode_rule(rule: &DateRule) -> Value {
    let pair = |pair: &FloorPair| array![int(pair.stamp), pair.floor_ms];
    Value::Document(doc! {
        "index": i64::from(rule.index),
        "after": rule.after_s.map_or(Value::Null, Value::Int64),
        "pairs": Value::Array(rule.pairs.iter().map(pair).collect()),
    })
}

fn encode_index(index: &IndexSpec) -> Value {
    let part = |(path, descending): &(String, bool)| array![path.as_str(), *descending];
    let mut tree = doc! {
        "id": i64::from(index.id),
        "name": index.name.as_str(),
        "key": Value::Array(index.key.iter().map(part).collect()),
        "unique": index.unique,
        "sparse": index.sparse,
        "partial": index.partial.clone().map_or(Value::Null, Value::Document),
        "hidden": index.hidden,
        "expire_after": index.expire_after.map_or(Value::Null, Value::Int64),
        "system_ttl": index.system_ttl,
        "multikey": index.multikey,
        "ready": index.ready,
        "shown": index.shown.clone(),
    };
    match &index.shape {
        Shape::Fields => {}
        Shape::Wild(policy) => tree.push("wild", policy.to_array()),
        Shape::Tuple { scoped } => tree.push("tuple", *scoped),
        Shape::Timeline => tree.push("timeline", true),
    }
    Value::Document(tree)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Record, Error> {
    validate(bytes).map_err(|invalid| Error::corrupt(format!("catalog record: {invalid}")))?;
    let mut fields = Fields::new(DocRef::Raw(bytes).to_tree());
    if fields.int("format")? != FORMAT {
        return Err(Error::corrupt("a catalog record has a format of a newer version"));
    }
    let settings = Settings {
        default: match fields.optional_int("default")? {
            None => Default::Off,
            Some(-1) => Default::Infinite,
            Some(n) => Default::Seconds(n),
        },
        inherit_floor: fields.int("inherit_floor")?,
        explicit_floor: fields.int("explicit_floor")?,
        dates: fields.list("dates")?.into_iter().map(decode_rule).collect::<Result<_, _>>()?,
    };
    let books = decode_books(fields.document("books")?, !settings.dates.is_empty())?;
    let record = Record {
        id: fields.id("id")?,
        model: u8::try_from(fields.int("model")?)
            .ok()
            .and_then(Model::from_code)
            .ok_or_else(|| missing("model"))?,
        namespace: Namespace {
            database: fields.text("database")?,
            collection: fields.text("collection")?,
        },
        settings,
        indexes: fields.list("indexes")?.into_iter().map(decode_index).collect::<Result<_, _>>()?,
        next_index: fields.id("next_index")?,
        dropped: fields.list("dropped")?.into_iter().map(id_of).collect::<Result<_, _>>()?,
        books,
        created: fields.stamp("created")?,
        options: fields.document("options")?,
        items: fields.optional("items").map(decode_items).transpose()?,
    };
    fields.finish()?;
    Ok(record)
}

/// Records once had nothing for books that are off, and no sums by date were kept then.
fn decode_books(tree: Document, dates: bool) -> Result<Books, Error> {
    if tree.is_empty() {
        return Ok(if dates { Books::Building(0) } else { Books::Off });
    }
    let mut fields = Fields::new(tree);
    let build = fields.stamp("build")?;
    let books = match (fields.bool("ready")?, build) {
        (true, 0) => Books::Off,
        (true, build) => Books::Ready(build),
        (false, build) => Books::Building(build),
    };
    fields.finish()?;
    Ok(books)
}

fn decode_rule(value: Value) -> Result<DateRule, Error> {
    let mut fields = Fields::of(value, "dates")?;
    let pair = |value: Value| match &value {
        Value::Array(parts) => match parts.as_slice() {
            [Value::Int64(stamp), Value::Int64(floor_ms)] => {
                Ok(FloorPair { stamp: u64::try_from(*stamp).unwrap_or(0), floor_ms: *floor_ms })
            }
            _ => Err(missing("pairs")),
        },
        _ => Err(missing("pairs")),
    };
    let rule = DateRule {
        index: fields.id("index")?,
        after_s: fields.optional_int("after")?,
        pairs: fields.list("pairs")?.into_iter().map(pair).collect::<Result<_, _>>()?,
    };
    fields.finish()?;
    Ok(rule)
}

fn decode_index(value: Value) -> Result<IndexSpec, Error> {
    let mut fields = Fields::of(value, "indexes")?;
    let part = |value: Value| match value {
        Value::Array(parts) => match parts.as_slice() {
            [Value::String(path), Value::Bool(descending)] => Ok((path.clone(), *descending)),
            _ => Err(missing("key")),
        },
        _ => Err(missing("key")),
    };
    let index = IndexSpec {
        id: fields.id("id")?,
        name: fields.text("name")?,
        key: fields.list("key")?.into_iter().map(part).collect::<Result<_, _>>()?,
        unique: fields.bool("unique")?,
        sparse: fields.bool("sparse")?,
        partial: match fields.take("partial")? {
            Value::Null => None,
            Value::Document(filter) => Some(filter),
            _ => return Err(missing("partial")),
        },
        hidden: fields.bool("hidden")?,
        expire_after: fields.optional_int("expire_after")?,
        system_ttl: fields.bool("system_ttl")?,
        multikey: fields.bool("multikey")?,
        ready: fields.bool("ready")?,
        shown: fields.document("shown")?,
        shape: decode_shape(&mut fields)?,
    };
    fields.finish()?;
    Ok(index)
}

fn decode_shape(fields: &mut Fields) -> Result<Shape, Error> {
    if let Some(policy) = fields.optional("wild") {
        return Policy::from_array(policy).map(Shape::Wild).ok_or_else(|| missing("wild"));
    }
    match (fields.optional("tuple"), fields.optional("timeline")) {
        (None, None) => Ok(Shape::Fields),
        (Some(Value::Bool(scoped)), None) => Ok(Shape::Tuple { scoped }),
        (None, Some(Value::Bool(true))) => Ok(Shape::Timeline),
        _ => Err(missing("tuple")),
    }
}

fn id_of(value: Value) -> Result<u32, Error> {
    let id = Number::of(value.as_ref()).and_then(Number::to_i64_exact);
    id.and_then(|id| u32::try_from(id).ok()).ok_or_else(|| missing("id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Record {
        let mut settings = Settings::default();
        settings.change_default(Default::Seconds(5), clock::Instant::from_ms(1));
        settings.date_rule(3).change(Some(7), 1, clock::Instant::from_ms(5));
        settings.date_rule(3).change(None, 2, clock::Instant::from_ms(9));
        let index = IndexSpec {
            id: 3,
            name: "a_1".into(),
            key: vec![("a".into(), false), ("b".into(), true)],
            unique: true,
            sparse: false,
            partial: Some(doc! { "x": 1 }),
            hidden: true,
            expire_after: Some(9),
            system_ttl: false,
            multikey: true,
            ready: true,
            shown: doc! { "v": 2 },
            shape: Shape::Fields,
        };
        Record {
            id: 7,
            model: Model::Documents,
            namespace: Namespace::new("db", "c"),
            settings,
            indexes: vec![index],
            next_index: 4,
            dropped: vec![1, 2],
            books: Books::Building(6),
            created: 5,
            options: doc! { "uuid": "u" },
            items: None,
        }
    }

    #[test]
    fn books_of_dates_that_were_never_kept_are_built() {
        for (dates, want) in [(true, Books::Building(0)), (false, Books::Off)] {
            let mut record = sample();
            if !dates {
                record.settings.dates.clear();
            }
            for books in [Books::Off, Books::Building(7), Books::Ready(7)] {
                record.books = books;
                assert_eq!(decode(&encode(&record)).unwrap().books, books);
            }
            let mut tree = DocRef::Raw(&encode(&record)).to_tree();
            tree.insert("books", doc! {});
            assert_eq!(decode(tree.to_buf().bytes()).unwrap().books, want);
        }
    }

    #[test]
    fn records_of_containers_round_trip() {
        let policy = Policy(vec![super::super::PolicyRule {
            steps: vec![select::sarg::PathStep::Elements],
            below: true,
            included: false,
        }]);
        for begun in [None, Some(FeedBegun { since: 4, inherit_s: i64::MIN, explicit_s: 9 })] {
            let mut record = sample();
            record.items = Some(ItemSettings {
                partition: Partition { hash_bytes: 16, values: 3 },
                changed: 8,
                changed_ts: -4,
                ruled_ts: 11,
                feed: Some(FeedSettings { retention_s: 600, floor_s: i64::MIN, begun }),
            });
            record.indexes[0].shape = Shape::Wild(policy.clone());
            assert_eq!(decode(&encode(&record)).unwrap(), record);
            for shape in [Shape::Tuple { scoped: true }, Shape::Timeline] {
                record.indexes[0].shape = shape;
                assert_eq!(decode(&encode(&record)).unwrap(), record);
            }
        }
    }

    #[test]
    fn records_round_trip_and_unknown_fields_are_refused() {
        let record = sample();
        let bytes = encode(&record);
        assert_eq!(decode(&bytes).unwrap(), record);
        let mut tree = DocRef::Raw(&bytes).to_tree();
        tree.push("later", 1);
        let refused = decode(tree.to_buf().bytes()).unwrap_err();
        assert!(refused.message.contains("later"), "{refused}");
        for end in 0..bytes.len() {
            decode(&bytes[..end]).unwrap_err();
        }
    }
}
