//! The records that a backup contains after its data: the clock and the server's feature switches.

use backup::{Header, Part};
use clock::Checkpoint;
use server_base::{failure::Failure, features::Features};

use super::stopped_clock::stopped_clock;

/// Clock and feature switches, which a backup contains after the data.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    pub(super) clock: Option<Checkpoint>,
    /// Whether documents' own `ttl` counts in the MongoDB API; `None` if not in the backup.
    pub(super) per_document_ttl: Option<bool>,
}

impl Ending {
    /// Stores the clock or the feature switches that a part of the backup contains; does nothing
    /// for a part with data.
    pub(super) fn note(&mut self, part: Part) -> Result<(), Failure> {
        match part {
            Part::Clock(bytes) => {
                let clock = Checkpoint::decode_whole(&bytes);
                self.clock = Some(clock.ok_or_else(|| wrong("its clock is damaged"))?);
            }
            Part::Switches(bytes) => {
                let on = Features::parse_stored(&bytes);
                self.per_document_ttl =
                    Some(on.map_err(|why| {
                        wrong(format!("its feature switches cannot be used: {why}"))
                    })?);
            }
            Part::Piece(_) | Part::Entries(_) => {}
        }
        Ok(())
    }

    /// Refuses clock values that no database can have.
    pub(super) fn check(&self, header: &Header) -> Result<(), Failure> {
        let clock = self.clock()?;
        if clock.ms < 0 {
            return Err(wrong(format!("its clock is at {} ms, before 1970", clock.ms)));
        }
        if clock.manual != (header.clock == backup::Clock::Manual) {
            return Err(wrong("its clock does not match its clock mode"));
        }
        stopped_clock(&clock).map(drop).map_err(Failure::Failed)
    }

    pub(super) fn clock(&self) -> Result<Checkpoint, Failure> {
        self.clock.ok_or_else(|| wrong("it has no clock"))
    }
}

fn wrong(why: impl Into<String>) -> Failure {
    Failure::Failed(why.into())
}

#[cfg(test)]
mod tests {
    use backup::{Clock, Kind, Stamp};
    use bytes::Bytes;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_no_database_has_at_its_end_is_refused() {
        let header = Header {
            kind: Kind::Full,
            ebb: String::new(),
            id: Uuid::nil(),
            lineage: Uuid::nil(),
            after_entry: 0,
            after_stamp: None,
            last_entry: 1,
            last_stamp: Stamp { seq: 1, at_ms: 1 },
            clock: Clock::Manual,
            began_ms: 1,
        };
        let clock = Checkpoint {
            number: 1,
            boot_id: [0; 16],
            boot_ns: 0,
            ms: 5,
            reap_until_ms: i64::MAX,
            accepted_at_ms: 0,
            manual: true,
            wall_ms: None,
        };
        let switches = |text: &str| Part::Switches(Bytes::copy_from_slice(text.as_bytes()));
        let of = |clock: &Checkpoint| Part::Clock(clock.encode().into());
        for (parts, want) in [
            (vec![of(&clock)], None),
            (vec![], Some("no clock")),
            (vec![Part::Clock(Bytes::from_static(b"x"))], Some("damaged")),
            (vec![of(&Checkpoint { ms: -1, ..clock })], Some("before 1970")),
            (vec![of(&Checkpoint { manual: false, ..clock })], Some("clock mode")),
            (vec![of(&clock), switches("{\"../x\":1}")], Some("switches")),
            (vec![of(&clock), switches("[")], Some("switches")),
        ] {
            let mut ending = Ending::default();
            let noted = parts.into_iter().try_for_each(|part| ending.note(part));
            let checked = noted.and_then(|()| ending.check(&header));
            match (checked, want) {
                (Ok(()), None) => {}
                (Err(failure), Some(want)) => {
                    assert!(failure.to_string().contains(want), "{failure}");
                }
                (checked, want) => panic!("{checked:?} instead of {want:?}"),
            }
        }
    }
}
