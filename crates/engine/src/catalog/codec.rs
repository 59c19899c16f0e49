//! Encodes catalog records as tagged, versioned BSON. Unknown fields are rejected, since a newer
//! version wrote them for a reason; fields added later are optional, so older records can be read.
//!
//! Field names are part of the format (`docs/format.md`) and never change, even if the code renames
//! the fields.

use document::{DocRef, Document, Number, Value, array, doc, validate};
use expiry::{DateRule, DefaultTtl, FloorPair, Floors, Settings};
use store::Stamp;

use super::{
    Capped, FeedSettings, FeedStart, ItemSettings, Record, ToldExpirations,
    fields::{RecordFields, missing_field},
    index_codec::{decode_index, encode_index},
    reap_floors::{decode_floors, encode_floors},
    record::CounterState,
};
use crate::{
    error::Error,
    names::{Model, Namespace, Partition},
};

/// Format version of the record; a newer one is rejected.
const FORMAT: i64 = 1;

/// Encodes a collection's record as stored in the catalog.
pub(crate) fn encode_record(record: &Record) -> Vec<u8> {
    let settings = &record.settings;
    let default = match settings.default {
        DefaultTtl::Off => Value::Null,
        DefaultTtl::Infinite => Value::Int64(-1),
        DefaultTtl::Seconds(n) => Value::Int64(n),
    };
    let counters = match record.counters {
        CounterState::Off => doc! { "build": 0_i64, "ready": true },
        CounterState::Building(build) => doc! { "build": saturated_int(build), "ready": false },
        CounterState::Ready(build) => doc! { "build": saturated_int(build), "ready": true },
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
        "books": counters,
        "created": saturated_int(record.created),
        "options": record.options.clone(),
    };
    if let Some(items) = &record.items {
        tree.push("items", encode_items(items));
    }
    // The field is omitted for other collections, so that earlier versions can read such records.
    if let Some(name) = &record.cluster_key {
        tree.push("cluster_key", name.as_str());
    }
    if record.temporary {
        tree.push("temporary", true);
    }
    if let Some(capped) = record.capped {
        let documents = capped.documents.map_or(Value::Null, Value::Int64);
        tree.push("capped", doc! { "bytes": capped.bytes, "documents": documents });
    }
    if let Some(told) = &record.told {
        tree.push("told", encode_told(told));
    }
    tree.to_buf().into_bytes().into()
}

/// Converts to a signed integer, saturating: stamps and build numbers are far below 2^63.
fn saturated_int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Encodes the settings that only item collections have.
fn encode_items(items: &ItemSettings) -> Document {
    doc! {
        "hash": i64::from(items.partition.hash_bytes),
        "values": i64::from(items.partition.values),
        "changed": saturated_int(items.changed),
        "changed_ts": items.changed_ts,
        "ruled_ts": items.ruled_ts,
        "feed": items.feed.as_ref().map_or(Value::Null, encode_feed),
    }
}

fn encode_feed(feed: &FeedSettings) -> Value {
    let begun =
        |begun: FeedStart| array![saturated_int(begun.since), begun.inherit_s, begun.explicit_s];
    Value::Document(doc! {
        "retention_s": feed.retention_s,
        "floor_s": feed.floor_s,
        "begun": feed.begun.map_or(Value::Null, begun),
    })
}

/// Decodes a feed's settings, or null.
fn decode_feed(value: Value) -> Result<Option<FeedSettings>, Error> {
    if value == Value::Null {
        return Ok(None);
    }
    let mut fields = RecordFields::of_document(value, "feed")?;
    let begun = match fields.take_value("begun")? {
        Value::Null => None,
        Value::Array(parts) => match parts.as_slice() {
            [Value::Int64(since), Value::Int64(inherit_s), Value::Int64(explicit_s)] => {
                let since = u64::try_from(*since).map_err(|_| missing_field("begun"))?;
                Some(FeedStart { since, inherit_s: *inherit_s, explicit_s: *explicit_s })
            }
            _ => return Err(missing_field("begun")),
        },
        _ => return Err(missing_field("begun")),
    };
    let feed = FeedSettings {
        retention_s: fields.take_int("retention_s")?,
        floor_s: fields.take_int("floor_s")?,
        begun,
    };
    fields.check_none_left()?;
    Ok(Some(feed))
}

fn decode_items(value: Value) -> Result<ItemSettings, Error> {
    let mut fields = RecordFields::of_document(value, "items")?;
    let mut byte = |name| u8::try_from(fields.take_int(name)?).map_err(|_| missing_field(name));
    let partition = Partition { hash_bytes: byte("hash")?, values: byte("values")? };
    let items = ItemSettings {
        partition,
        changed: fields.take_stamp("changed")?,
        changed_ts: fields.take_int("changed_ts")?,
        ruled_ts: fields.take_int("ruled_ts")?,
        feed: decode_feed(fields.take_value("feed")?)?,
    };
    fields.check_none_left()?;
    Ok(items)
}

fn decode_capped(value: Value) -> Result<Capped, Error> {
    let mut fields = RecordFields::of_document(value, "capped")?;
    let bytes = fields.take_int("bytes")?;
    let documents = fields.take_optional_int("documents")?;
    fields.check_none_left()?;
    Ok(Capped { bytes, documents })
}

fn encode_told(told: &ToldExpirations) -> Document {
    let begun = |floors: &Floors| Value::Binary { subtype: 0, bytes: encode_floors(floors) };
    doc! {
        "begun": told.begun.as_ref().map_or(Value::Null, begun),
        "ruled": array![saturated_int(told.ruled.seq), told.ruled.at_ms],
    }
}

fn decode_told(value: Value) -> Result<ToldExpirations, Error> {
    let mut fields = RecordFields::of_document(value, "told")?;
    let begun = match fields.take_value("begun")? {
        Value::Null => None,
        Value::Binary { bytes, .. } => Some(decode_floors(&bytes)?),
        _ => return Err(missing_field("begun")),
    };
    let ruled = decode_pair(fields.take_value("ruled")?)?;
    fields.check_none_left()?;
    let ruled = Stamp { seq: ruled.stamp, at_ms: ruled.floor_ms };
    Ok(ToldExpirations { begun, ruled })
}

fn encode_rule(rule: &DateRule) -> Value {
    Value::Document(doc! {
        "index": i64::from(rule.index),
        "after": rule.after_s.map_or(Value::Null, Value::Int64),
        "pairs": Value::Array(rule.pairs.iter().map(encode_pair).collect()),
    })
}

/// Decodes a record.
///
/// # Errors
///
/// [`Kind::Corrupt`](crate::error::Kind::Corrupt) for bytes that no version wrote, and for records
/// of a newer version.
pub(crate) fn decode_record(bytes: &[u8]) -> Result<Record, Error> {
    validate(bytes).map_err(|invalid| Error::corrupt(format!("catalog record: {invalid}")))?;
    let mut fields = RecordFields::new(DocRef::Raw(bytes).to_tree());
    if fields.take_int("format")? != FORMAT {
        return Err(Error::corrupt("a catalog record has the format of a newer version"));
    }
    let settings = Settings {
        default: match fields.take_optional_int("default")? {
            None => DefaultTtl::Off,
            Some(-1) => DefaultTtl::Infinite,
            Some(n) => DefaultTtl::Seconds(n),
        },
        inherit_floor: fields.take_int("inherit_floor")?,
        explicit_floor: fields.take_int("explicit_floor")?,
        dates: fields.take_list("dates")?.into_iter().map(decode_rule).collect::<Result<_, _>>()?,
    };
    let counters = decode_counters(fields.take_document("books")?, !settings.dates.is_empty())?;
    let record = Record {
        id: fields.take_id("id")?,
        model: u8::try_from(fields.take_int("model")?)
            .ok()
            .and_then(Model::from_code)
            .ok_or_else(|| missing_field("model"))?,
        namespace: Namespace {
            database: fields.take_text("database")?,
            collection: fields.take_text("collection")?,
        },
        settings,
        indexes: fields
            .take_list("indexes")?
            .into_iter()
            .map(decode_index)
            .collect::<Result<_, _>>()?,
        next_index: fields.take_id("next_index")?,
        dropped: fields.take_list("dropped")?.into_iter().map(id_of).collect::<Result<_, _>>()?,
        counters,
        created: fields.take_stamp("created")?,
        options: fields.take_document("options")?,
        items: fields.take_optional("items").map(decode_items).transpose()?,
        cluster_key: match fields.take_optional("cluster_key") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err(missing_field("cluster_key")),
        },
        temporary: match fields.take_optional("temporary") {
            None => false,
            Some(Value::Bool(temporary)) => temporary,
            Some(_) => return Err(missing_field("temporary")),
        },
        capped: fields.take_optional("capped").map(decode_capped).transpose()?,
        told: fields.take_optional("told").map(decode_told).transpose()?,
    };
    fields.check_none_left()?;
    Ok(record)
}

/// Decodes the state of the counters. Records of versions without counters by date have an empty
/// document for disabled counters. If the settings contain rules of date indexes (`dates`), the
/// counters of such a record still have to be built.
fn decode_counters(tree: Document, dates: bool) -> Result<CounterState, Error> {
    if tree.is_empty() {
        return Ok(if dates { CounterState::Building(0) } else { CounterState::Off });
    }
    let mut fields = RecordFields::new(tree);
    let build = fields.take_stamp("build")?;
    let counters = match (fields.take_bool("ready")?, build) {
        (true, 0) => CounterState::Off,
        (true, build) => CounterState::Ready(build),
        (false, build) => CounterState::Building(build),
    };
    fields.check_none_left()?;
    Ok(counters)
}

pub(super) fn encode_pair(pair: &FloorPair) -> Value {
    array![saturated_int(pair.stamp), pair.floor_ms]
}

pub(super) fn decode_pair(value: Value) -> Result<FloorPair, Error> {
    if let Value::Array(parts) = &value
        && let [Value::Int64(stamp), Value::Int64(floor_ms)] = parts.as_slice()
    {
        return Ok(FloorPair { stamp: u64::try_from(*stamp).unwrap_or(0), floor_ms: *floor_ms });
    }
    Err(missing_field("pairs"))
}

fn decode_rule(value: Value) -> Result<DateRule, Error> {
    let mut fields = RecordFields::of_document(value, "dates")?;
    let rule = DateRule {
        index: fields.take_id("index")?,
        after_s: fields.take_optional_int("after")?,
        pairs: fields.take_list("pairs")?.into_iter().map(decode_pair).collect::<Result<_, _>>()?,
    };
    fields.check_none_left()?;
    Ok(rule)
}

fn id_of(value: Value) -> Result<u32, Error> {
    let id = Number::of(value.as_ref()).and_then(Number::to_i64_exact);
    id.and_then(|id| u32::try_from(id).ok()).ok_or_else(|| missing_field("id"))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{IndexReason, IndexShape, IndexSpec, IndexedPath, Policy},
        *,
    };

    fn sample() -> Record {
        let mut settings = Settings::default();
        settings.change_default(DefaultTtl::Seconds(5), clock::Instant::from_ms(1));
        settings.date_rule(3).change_at(Some(7), 1, clock::Instant::from_ms(5));
        settings.date_rule(3).change_at(None, 2, clock::Instant::from_ms(9));
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
            shape: IndexShape::Fields,
            by_creation: false,
            collation: collation::Collation::new(&collation::Wanted {
                locale: "en".into(),
                ..collation::Wanted::default()
            })
            .ok()
            .map(std::sync::Arc::new),
        };
        Record {
            id: 7,
            model: Model::Documents,
            namespace: Namespace::new("db", "c"),
            settings,
            indexes: vec![index],
            next_index: 4,
            dropped: vec![1, 2],
            counters: CounterState::Building(6),
            created: 5,
            options: doc! { "uuid": "u" },
            items: None,
            cluster_key: None,
            temporary: false,
            capped: None,
            told: None,
        }
    }

    #[test]
    fn counters_of_dates_that_were_never_kept_are_built() {
        for (dates, want) in [(true, CounterState::Building(0)), (false, CounterState::Off)] {
            let mut record = sample();
            if !dates {
                record.settings.dates.clear();
            }
            for counters in [CounterState::Off, CounterState::Building(7), CounterState::Ready(7)] {
                record.counters = counters;
                assert_eq!(decode_record(&encode_record(&record)).unwrap().counters, counters);
            }
            let mut tree = DocRef::Raw(&encode_record(&record)).to_tree();
            tree.insert("books", doc! {});
            assert_eq!(decode_record(tree.to_buf().bytes()).unwrap().counters, want);
        }
    }

    #[test]
    fn records_of_containers_round_trip() {
        let policy = Policy(vec![super::super::PolicyRule {
            steps: vec![select::sarg::PathStep::Elements],
            below: true,
            included: false,
        }]);
        for begun in [None, Some(FeedStart { since: 4, inherit_s: i64::MIN, explicit_s: 9 })] {
            let mut record = sample();
            record.items = Some(ItemSettings {
                partition: Partition { hash_bytes: 16, values: 3 },
                changed: 8,
                changed_ts: -4,
                ruled_ts: 11,
                feed: Some(FeedSettings { retention_s: 600, floor_s: i64::MIN, begun }),
            });
            record.indexes[0].shape = IndexShape::Wild(policy.clone());
            assert_eq!(decode_record(&encode_record(&record)).unwrap(), record);
            let kept = |why| IndexedPath {
                steps: vec![select::sarg::PathStep::Property("a".into())],
                why,
                since_s: 7,
                used_s: 9,
            };
            for shape in [
                IndexShape::Tuple { scoped: true },
                IndexShape::Timeline,
                IndexShape::Allowed(policy.clone()),
                IndexShape::Path(kept(IndexReason::Query)),
                IndexShape::Path(kept(IndexReason::Name)),
            ] {
                record.indexes[0].shape = shape;
                record.indexes[0].by_creation ^= true;
                assert_eq!(decode_record(&encode_record(&record)).unwrap(), record);
            }
        }
    }

    #[test]
    fn records_of_capped_collections_round_trip() {
        for documents in [None, Some(7)] {
            let mut record = sample();
            record.capped = Some(Capped { bytes: 512, documents });
            record.add_insertion_order(true);
            assert_eq!(decode_record(&encode_record(&record)).unwrap(), record);
        }
    }

    #[test]
    fn records_round_trip_and_unknown_fields_are_refused() {
        let clustered = Record { cluster_key: Some("k".into()), temporary: true, ..sample() };
        assert_eq!(decode_record(&encode_record(&clustered)).unwrap(), clustered);
        let record = sample();
        let bytes = encode_record(&record);
        assert_eq!(decode_record(&bytes).unwrap(), record);
        let mut tree = DocRef::Raw(&bytes).to_tree();
        tree.push("later", 1);
        let refused = decode_record(tree.to_buf().bytes()).unwrap_err();
        assert!(refused.message.contains("later"), "{refused}");
        for end in 0..bytes.len() {
            decode_record(&bytes[..end]).unwrap_err();
        }
    }
}
