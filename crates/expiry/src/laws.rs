//! Tests of expiry over random histories against a model that records which documents have
//! expired.
//!
//! The model has no floors: between two events it applies the rules (docs/ttl.md, section 3) at
//! every relevant instant and marks the expired documents. Expiry must be permanent, and no later
//! write may be expired by an earlier floor.

use clock::Instant;

use crate::{
    class::{Class, Lifetime},
    floors::Floors,
    header::{Header, HeaderDraft, body_checksum},
    settings::{DefaultTtl, Settings},
};

const HISTORIES: u64 = 20_000;
const INDEXES: u32 = 2;

#[derive(Debug)]
struct Doc {
    row: Vec<u8>,
    /// Second in which `row` was written; its other properties are `ttl` and `dates` (index id,
    /// milliseconds).
    ts: i64,
    ttl: Option<i64>,
    dates: Vec<(u32, i64)>,
    died: bool,
}

#[derive(Debug, Default)]
struct Model {
    settings: Settings,
    default: Option<i64>,
    /// Seconds from the date to expiration, for each date index.
    after: [Option<i64>; INDEXES as usize],
    docs: Vec<Doc>,
    now_ms: i64,
    stamp: u64,
    reap: Vec<Floors>,
}

fn default_of(naive: Option<i64>) -> DefaultTtl {
    match naive {
        None => DefaultTtl::Off,
        Some(-1) => DefaultTtl::Infinite,
        Some(n) => DefaultTtl::Seconds(n),
    }
}

impl Model {
    /// Marks the documents that have expired now under the current settings.
    fn mark_expired(&mut self) {
        let now_s = self.now_ms.div_euclid(1000);
        for doc in &mut self.docs {
            let by_ts = match (self.default, doc.ttl) {
                (None, _) | (_, Some(-1)) | (Some(-1), None) => false,
                (Some(_), Some(n)) | (Some(n), None) => doc.ts + n <= now_s,
            };
            let by_date = doc.dates.iter().any(|(index, date)| {
                let after = self.after.get(*index as usize).copied().flatten();
                after.is_some_and(|n| date + 1000 * n <= self.now_ms)
            });
            doc.died |= by_ts || by_date;
        }
    }

    fn check(&self, context: &str) {
        let at = Instant::from_ms(self.now_ms);
        let floors = self.settings.floors_at(at);
        for doc in &self.docs {
            let (header, _) = Header::split(&doc.row).unwrap();
            assert_eq!(self.settings.is_live(&header, at), !doc.died, "{context} {doc:?} {self:?}");
            assert_eq!(floors.has_expired(&header), doc.died, "{context} {doc:?}");
            for floors in &self.reap {
                assert!(
                    !floors.has_expired(&header) || doc.died,
                    "{context} reaped while live {doc:?}"
                );
            }
        }
    }

    fn write(&mut self, rng: &mut fastrand::Rng) {
        self.stamp += 1;
        let ts = self.now_ms.div_euclid(1000);
        let ttl = [None, None, Some(-1), Some(rng.i64(1..6))][rng.usize(0..4)];
        let lifetime = match ttl {
            None => Lifetime::Inherit,
            Some(-1) => Lifetime::Never,
            Some(n) => Lifetime::After(n),
        };
        let date = self.now_ms + rng.i64(-9000..3000);
        let dates: Vec<_> =
            (0..INDEXES).filter(|_| rng.bool()).map(|index| (index, date)).collect();
        let draft = HeaderDraft {
            lifetime,
            creation_stamp: None,
            dates: dates.clone(),
            body_checksum: body_checksum(b""),
        };
        let row = draft.encode_stamped(self.stamp, ts);
        assert_eq!(
            Header::split(&row).unwrap().0.class,
            match ttl {
                None => Class::Inherit,
                Some(-1) => Class::Never,
                Some(n) => Class::Explicit { deadline: ts + n },
            }
        );
        let doc = Doc { row, ts, ttl, dates, died: false };
        self.docs.push(doc);
    }

    fn step(&mut self, rng: &mut fastrand::Rng) {
        let at = Instant::from_ms(self.now_ms);
        match rng.u8(0..11) {
            0..=3 => self.write(rng),
            4 | 5 => self.now_ms += [1, 250, 999, 1000, 2500][rng.usize(0..5)],
            6 => {
                self.default = [None, Some(-1), Some(rng.i64(1..6))][rng.usize(0..3)];
                self.settings.change_default(default_of(self.default), at);
            }
            7 | 8 => {
                self.stamp += 1;
                let index = rng.u32(0..INDEXES);
                let after = [None, Some(rng.i64(0..6))][rng.usize(0..2)];
                self.after[index as usize] = after;
                self.settings.date_rule(index).change_at(after, self.stamp, at);
            }
            9 => {
                let second = at.seconds() - rng.i64(1..5);
                self.settings.expire_written_up_to(second);
                let written = self.docs.iter_mut().filter(|doc| doc.ttl.is_none());
                written.for_each(|doc| doc.died |= doc.ts <= second);
            }
            _ => {
                let floors = self.settings.floors_at(at).bounded_by_stamp(self.stamp + 1);
                let least = self.reap.last().map(|held| held.lower_of_both(&floors));
                self.reap.extend(least);
                self.reap.push(floors);
            }
        }
    }
}

#[test]
fn expired_is_monotone_and_no_floor_binds_what_comes_later() {
    for seed in 0..HISTORIES {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut model = Model { now_ms: rng.i64(-3000..3000), ..Model::default() };
        for step in 0..24 {
            model.step(&mut rng);
            model.mark_expired();
            model.check(&format!("seed {seed} step {step}"));
        }
    }
}

#[test]
fn seconds_at_the_edges_of_calendars_do_not_wrap() {
    let row = |ttl, ts| {
        let draft = HeaderDraft {
            lifetime: Lifetime::After(ttl),
            creation_stamp: None,
            dates: vec![],
            body_checksum: 0,
        };
        draft.encode_stamped(1, ts)
    };
    let mut settings = Settings::default();
    settings.change_default(DefaultTtl::Infinite, Instant::from_ms(0));
    for (ttl, ts) in [
        (20, 2_147_483_647),
        (2_147_483_647, 2_147_483_647),
        (2_147_483_647, 4_294_967_295),
        (1, 4_294_967_295),
        (2_147_483_647, -1),
    ] {
        let bytes = row(ttl, ts);
        let (header, _) = Header::split(&bytes).unwrap();
        assert!(settings.is_live(&header, Instant::from_ms((ts + ttl) * 1000 - 1)), "{ttl} {ts}");
        assert!(!settings.is_live(&header, Instant::from_ms((ts + ttl) * 1000)), "{ttl} {ts}");
    }
}
