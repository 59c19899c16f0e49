//! The rule by which compactions may drop data of a collection: the same for the node that owns the
//! store and for the copies on other nodes, which read it from the catalog. `expire::reap` decides
//! when it takes effect.

use document::{DocRef, Value, doc, validate};
use expiry::{DateFloor, Floors, Header};
use store::Space;

use super::{
    codec::{decode_pair, encode_pair},
    fields::{RecordFields, missing_field},
};
use crate::{error::Error, keys};

/// The data that may be dropped from one collection. The bounds only rise: data that may be dropped
/// once may always be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReapFloors {
    /// Rows and entries that have expired by these floors (times up to which documents have
    /// permanently expired) may be dropped.
    pub(crate) floors: Floors,
    /// Dropped indexes whose remaining entries may be removed by compactions.
    pub(crate) dropped: Vec<u32>,
    /// Feed events recorded before this second may be removed by compactions.
    pub(crate) events_before_s: i64,
}

/// Format version of the record; a newer one is rejected.
const FORMAT: i64 = 1;

impl ReapFloors {
    /// Returns whether a row or an entry of the collection may be dropped.
    pub(crate) fn drops(&self, space: Space, key: &[u8], value: &[u8]) -> bool {
        // All entries of a dropped index may be dropped, whether or not their rows have expired.
        let entries = matches!(space, Space::Index(_)) && !self.dropped.is_empty();
        if entries && keys::index_of(key).is_some_and(|id| self.dropped.contains(&id)) {
            return true;
        }
        // Events are stored among the index entries and have no deadline: they are dropped by the
        // second in which they were recorded.
        let events = matches!(space, Space::Index(_)) && i64::MIN < self.events_before_s;
        if events && keys::index_of(key) == Some(keys::EVENTS) {
            return Header::split(value).is_ok_and(|(header, _)| header.ts < self.events_before_s);
        }
        Header::split(value).is_ok_and(|(header, _)| self.floors.has_expired(&header))
    }

    /// Encodes the floors as a catalog record.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let date = |date: &DateFloor| {
            Value::Document(doc! {
                "index": i64::from(date.index),
                "floor": date.floor_ms,
                "pairs": Value::Array(date.pairs.iter().map(encode_pair).collect()),
            })
        };
        let tree = doc! {
            "format": FORMAT,
            "inherit": self.floors.inherit_s,
            "explicit": self.floors.explicit_s,
            "dates": Value::Array(self.floors.dates.iter().map(date).collect()),
            "dropped": Value::Array(self.dropped.iter().map(|id| i64::from(*id).into()).collect()),
            "events": self.events_before_s,
        };
        tree.to_buf().into_bytes().into()
    }

    /// Decodes a catalog record; rejects unknown fields.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        validate(bytes).map_err(|_| missing_field("floors"))?;
        let mut fields = RecordFields::new(DocRef::Raw(bytes).to_tree());
        if fields.take_int("format")? != FORMAT {
            return Err(Error::corrupt("the reap floors have the format of a newer version"));
        }
        let date = |value: Value| {
            let mut fields = RecordFields::of_document(value, "dates")?;
            let pairs = fields.take_list("pairs")?.into_iter().map(decode_pair);
            let pairs = pairs.collect::<Result<_, _>>()?;
            let (index, floor_ms) = (fields.take_id("index")?, fields.take_int("floor")?);
            fields.check_none_left()?;
            Ok(DateFloor { index, floor_ms, pairs })
        };
        let id = |value: Value| match value {
            Value::Int64(id) => u32::try_from(id).map_err(|_| missing_field("dropped")),
            _ => Err(missing_field("dropped")),
        };
        let dates = fields.take_list("dates")?.into_iter().map(date);
        let floors = Floors {
            dates: dates.collect::<Result<_, Error>>()?,
            inherit_s: fields.take_int("inherit")?,
            explicit_s: fields.take_int("explicit")?,
        };
        let dropped = fields.take_list("dropped")?.into_iter().map(id);
        let dropped = dropped.collect::<Result<_, _>>()?;
        let events_before_s = fields.take_int("events")?;
        fields.check_none_left()?;
        Ok(Self { floors, dropped, events_before_s })
    }
}

/// Encodes floors alone, for records of which expirations are in the change log.
pub(crate) fn encode_floors(floors: &Floors) -> Vec<u8> {
    let (floors, dropped) = (floors.clone(), Vec::new());
    ReapFloors { floors, dropped, events_before_s: i64::MIN }.encode()
}

/// Decodes what [`encode_floors`] has encoded.
pub(crate) fn decode_floors(bytes: &[u8]) -> Result<Floors, Error> {
    Ok(ReapFloors::decode(bytes)?.floors)
}

#[cfg(test)]
mod tests {
    use document::array;
    use expiry::FloorPair;

    use super::*;

    #[test]
    fn floors_are_read_as_they_were_written() {
        let pairs =
            vec![FloorPair { stamp: 9, floor_ms: -4 }, FloorPair { stamp: 12, floor_ms: 7 }];
        let dates = vec![DateFloor { index: 3, floor_ms: i64::MIN, pairs }];
        let floors = Floors { inherit_s: -5, explicit_s: i64::MAX, dates };
        let some = ReapFloors { floors, dropped: vec![1, u32::MAX], events_before_s: 100 };
        let none = ReapFloors { floors: Floors::NONE, dropped: Vec::new(), events_before_s: 0 };
        for floors in [some, none] {
            assert_eq!(ReapFloors::decode(&floors.encode()).unwrap(), floors);
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let floors = ReapFloors { floors: Floors::NONE, dropped: Vec::new(), events_before_s: 0 };
        let tree = DocRef::Raw(&floors.encode()).to_tree();
        for (name, value) in [
            ("format", Value::Int64(2)),
            ("dates", array![1_i64]),
            ("dropped", array!["a"]),
            ("new", Value::Null),
        ] {
            let mut other = tree.clone();
            other.remove(name);
            other.push(name, value);
            assert!(ReapFloors::decode(other.to_buf().bytes()).is_err(), "{name}");
        }
        assert!(ReapFloors::decode(&floors.encode()[1..]).is_err());
    }
}
