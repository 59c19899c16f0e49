//! Chains of backups: a full one followed by incremental ones, each continuing at the end of the
//! previous. Where the files are stored is irrelevant here.

use crate::{
    Error,
    header::{Header, Kind},
};

/// A backup in a chain of a full backup and the incremental ones that continue it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Name of the backup's file.
    pub name: String,
    /// Header of this backup, with its id.
    pub header: Header,
    /// Database clock at the end of the backup, milliseconds.
    pub clock_ms: i64,
}

impl Link {
    /// Returns an instant: a chain that ends with this backup contains every commit that was
    /// acknowledged before it. A missing commit has a later stamp than the last entry, and became
    /// visible after the backup had started. `clock_ms` is later than this instant, since writes
    /// continued during the backup.
    fn complete_ms(&self) -> i64 {
        self.header.last_stamp.at_ms.max(self.header.began_ms)
    }

    /// Sort key of a backup in its chain; several backups may end at the same entry.
    fn sort_key(&self) -> (u64, i64, i64) {
        (self.header.last_entry, self.clock_ms, self.header.began_ms)
    }

    /// Returns whether this backup continues at the end of `before`.
    fn follows(&self, before: &Self) -> bool {
        before.sort_key() < self.sort_key() && check_next(&before.header, &self.header).is_ok()
    }

    /// Returns whether this is an incremental backup that starts at or after the end of `other`.
    fn is_after(&self, other: &Self) -> bool {
        let has_more = other.header.last_entry < self.header.last_entry;
        self.header.kind == Kind::Incremental
            && (other.clock_ms < self.clock_ms || (other.clock_ms == self.clock_ms && has_more))
    }
}

/// Refuses a backup that does not continue another one.
pub fn check_next(before: &Header, next: &Header) -> Result<(), String> {
    let expected = (before.lineage, before.last_entry, Some(before.last_stamp));
    if next.kind != Kind::Incremental {
        return Err("it is not an incremental backup".to_owned());
    }
    if next.lineage != before.lineage {
        return Err("it belongs to a different database".to_owned());
    }
    if before.last_entry < next.after_entry {
        let (end, after) = (before.last_entry, next.after_entry);
        return Err(format!("entries {} to {after} are missing before it", end + 1));
    }
    match (next.lineage, next.after_entry, next.after_stamp) == expected {
        true => Ok(()),
        false => Err("it does not follow the previous backup".to_owned()),
    }
}

/// Returns the newest chain from which the state at the instant `to`, or the newest state if `to`
/// is `None`, can be restored. The chain is a full backup that ended at or before `to`, followed by
/// incremental backups until one contains all commits up to `to`. Fails if no full backup ended in
/// time, if an incremental backup is missing, or if the last backup of the chain was started before
/// `to`.
pub fn check_chain(mut links: Vec<Link>, to: Option<i64>) -> Result<Vec<Link>, Error> {
    links.sort_by_key(Link::sort_key);
    let is_base =
        |link: &&Link| link.header.kind == Kind::Full && to.is_none_or(|to| link.clock_ms <= to);
    let base = links.iter().filter(is_base).max_by_key(|link| link.clock_ms);
    let Some(base) = base else {
        return Err(Error::Refused(match to {
            None => "there is no full backup".to_owned(),
            Some(_) => "there is no full backup that ended by that instant".to_owned(),
        }));
    };
    let (mut chain, mut last) = (vec![base.clone()], base);
    // The next backup may have further commits at the instant of this backup's last entry.
    while to.is_none_or(|to| last.complete_ms() <= to) {
        let Some(next) = links.iter().find(|link| link.follows(last)) else {
            check_end(last, &links, to)?;
            break;
        };
        chain.push(next.clone());
        last = next;
    }
    Ok(chain)
}

/// Checks the end of a chain: `last` is its last backup, and none of the backups `links` continues
/// it. Fails if a later backup does not fit, or if the chain may lack commits before `to`.
fn check_end(last: &Link, links: &[Link], to: Option<i64>) -> Result<(), Error> {
    // The backup has everything that was acknowledged before the instant at which it was started.
    if to.is_some_and(|to| to <= last.header.began_ms) {
        return Ok(());
    }
    let stray = links.iter().filter(|link| link.is_after(last)).min_by_key(|link| link.clock_ms);
    let is_too_late =
        |link: &&Link| link.header.kind == Kind::Full && to.is_some_and(|to| to < link.clock_ms);
    let full = links.iter().filter(is_too_late).min_by_key(|link| link.clock_ms);
    let full =
        full.filter(|full| stray.is_none_or(|stray| full.header.began_ms <= stray.header.began_ms));
    let last_name = &last.name;
    let why = match (full, stray, to) {
        (Some(full), _, _) => format!(
            "no backup is complete up to that instant: --to must be no later than the start of \
             {last_name}, or no earlier than the end of {}",
            full.name
        ),
        (None, Some(stray), _) => {
            let why = check_next(&last.header, &stray.header).err().unwrap_or_default();
            format!("{} cannot be used: {why}", stray.name)
        }
        (None, None, Some(to)) if to <= last.clock_ms => format!(
            "{last_name}, the newest backup, was started before that instant and lacks the writes \
             in between: take another incremental backup, or omit --to to restore all of it"
        ),
        (None, None, Some(_)) => {
            "the newest backup ended before that instant: omit --to to restore all of it".to_owned()
        }
        (None, None, None) => return Ok(()),
    };
    Err(Error::Refused(why))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::header::{Clock, Stamp};

    fn link(name: &str, lineage: u128, (after, last): (u64, u64), clock_ms: i64) -> Link {
        let stamp = |entry: u64| Stamp { seq: entry * 10, at_ms: entry as i64 };
        let header = Header {
            kind: if after == 0 { Kind::Full } else { Kind::Incremental },
            ebb: "0".to_owned(),
            id: Uuid::from_u128(u128::from(last)),
            lineage: Uuid::from_u128(lineage),
            after_entry: after,
            after_stamp: (0 < after).then(|| stamp(after)),
            last_entry: last,
            last_stamp: stamp(last),
            clock: Clock::Manual,
            began_ms: clock_ms,
        };
        Link { name: name.to_owned(), header, clock_ms }
    }

    /// Creates a backup whose writing took from `began_ms` to `clock_ms`; `last_ms` is the time of
    /// its last entry.
    fn slow(
        name: &str,
        entries: (u64, u64),
        (began_ms, last_ms, clock_ms): (i64, i64, i64),
        after_ms: i64,
    ) -> Link {
        let mut link = link(name, 1, entries, clock_ms);
        link.header.began_ms = began_ms;
        link.header.last_stamp.at_ms = last_ms;
        link.header.after_stamp.iter_mut().for_each(|stamp| stamp.at_ms = after_ms);
        link
    }

    fn names(links: &[Link], to: Option<i64>) -> Result<Vec<String>, String> {
        let chain = check_chain(links.to_vec(), to).map_err(|error| error.to_string())?;
        Ok(chain.into_iter().map(|link| link.name).collect())
    }

    #[test]
    fn a_chain_goes_on_where_each_backup_ended() {
        let links = [
            link("c", 1, (20, 30), 300),
            link("old", 1, (0, 5), 50),
            link("b", 1, (10, 20), 200),
            link("a", 1, (0, 10), 100),
            // Nothing was written between this backup and the previous one.
            link("d", 1, (30, 30), 400),
        ];
        assert_eq!(names(&links, None).unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(names(&links, Some(250)).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(&links, Some(200)).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(&links, Some(199)).unwrap(), ["a", "b"]);
        assert_eq!(names(&links[3..4], Some(100)).unwrap(), ["a"]);
        assert!(names(&links, Some(40)).unwrap_err().contains("no full backup that ended"));
        assert!(names(&links, Some(401)).unwrap_err().contains("omit --to"));
        assert!(names(&links[4..], None).unwrap_err().contains("no full backup"));
    }

    #[test]
    fn gaps_and_foreign_backups_are_refused() {
        let full = link("a", 1, (0, 10), 100);
        for (next, want) in [
            (link("x", 1, (20, 30), 300), "entries 11 to 20 are missing"),
            (link("x", 2, (10, 30), 300), "a different database"),
            (link("x", 1, (8, 30), 300), "does not follow the previous backup"),
        ] {
            let refused = names(&[full.clone(), next.clone()], None).unwrap_err();
            assert!(refused.contains(want) && refused.contains('x'), "{refused}");
            assert!(names(&[full.clone(), next], Some(100)).is_ok());
        }
        // After a database was reset and diverged, entry numbers repeat.
        let mut forked = link("x", 1, (10, 30), 300);
        forked.header.after_stamp = Some(Stamp { seq: 100, at_ms: 11 });
        assert!(
            names(&[full, forked], None)
                .unwrap_err()
                .contains("does not follow the previous backup")
        );
    }

    #[track_caller]
    fn assert_leads(links: &[Link], to: i64, want: Result<&[&str], &str>) {
        let found = names(links, Some(to));
        match want {
            Ok(want) => assert_eq!(
                found.as_deref(),
                Ok(&want.iter().map(|&n| n.to_owned()).collect::<Vec<_>>()[..]),
                "up to {to}"
            ),
            Err(want) => assert!(
                found.as_ref().is_err_and(|why| why.contains(want)),
                "up to {to}: {found:?}"
            ),
        }
    }

    #[test]
    fn instants_at_which_a_backup_was_being_taken_need_the_next_one() {
        let links = [
            slow("a", (0, 10), (100, 90, 150), 0),
            // A write came between the start of the backup and its last entry.
            slow("b", (10, 20), (200, 210, 250), 90),
            slow("c", (20, 30), (300, 290, 350), 210),
        ];
        let begun = "c, the newest backup, was started before";
        for (to, want) in [
            (149, Err("no full backup that ended")),
            (150, Ok(&["a", "b"][..])),
            (200, Ok(&["a", "b"])),
            (209, Ok(&["a", "b"])),
            // The next backup may have more commits at this instant.
            (210, Ok(&["a", "b", "c"])),
            (230, Ok(&["a", "b", "c"])),
            (250, Ok(&["a", "b", "c"])),
            (299, Ok(&["a", "b", "c"])),
            (300, Ok(&["a", "b", "c"])),
            (301, Err(begun)),
            (350, Err(begun)),
            (351, Err("ended before that instant")),
        ] {
            assert_leads(&links, to, want);
        }
        // The same chain without backup c.
        let begun = "b, the newest backup, was started before";
        for (to, want) in [
            (200, Ok(&["a", "b"][..])),
            (209, Ok(&["a", "b"])),
            (210, Err(begun)),
            (230, Err(begun)),
            (250, Err(begun)),
            (251, Err("ended before that instant")),
        ] {
            assert_leads(&links[..2], to, want);
        }
        // Writes made while the full backup was taken are missing from it.
        assert_leads(&links[..1], 150, Err("a, the newest backup, was started before"));
        assert_eq!(names(&links, None).unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn backups_of_which_several_are_at_one_entry_or_instant_follow_each_other_once() {
        let links = [
            slow("a", (0, 10), (100, 100, 100), 0),
            // A manual clock was moved between the backups.
            slow("b", (10, 20), (200, 190, 250), 100),
            // Nothing was written before this backup, and it ends at the same instant.
            slow("c", (20, 20), (250, 190, 250), 190),
            slow("c again", (20, 20), (250, 190, 250), 190),
            slow("d", (20, 20), (250, 190, 300), 190),
        ];
        for (to, want) in [
            (199, Ok(&["a", "b"][..])),
            (230, Ok(&["a", "b", "c"])),
            (250, Ok(&["a", "b", "c", "d"])),
            (251, Err("d, the newest backup, was started before")),
        ] {
            assert_leads(&links, to, want);
        }
        assert_eq!(names(&links, None).unwrap(), ["a", "b", "c", "d"]);
    }

    #[test]
    fn what_lies_between_two_chains_is_refused() {
        let links = [
            slow("a", (0, 10), (100, 100, 100), 0),
            slow("b", (10, 20), (200, 190, 200), 100),
            slow("full", (0, 30), (300, 290, 350), 0),
            slow("c", (30, 40), (400, 390, 400), 290),
        ];
        let between = "no later than the start of b, or no earlier than the end of full";
        for (to, want) in [
            (200, Ok(&["a", "b"][..])),
            (201, Err(between)),
            (320, Err(between)),
            (349, Err(between)),
            (350, Ok(&["full", "c"])),
        ] {
            assert_leads(&links, to, want);
        }
        // A missing backup is reported rather than a later full one.
        let links = [links[0].clone(), slow("x", (15, 20), (200, 190, 200), 100), links[2].clone()];
        assert_leads(&links, 150, Err("x cannot be used: entries 11 to 15 are missing"));
    }

    /// The clock of backup `a` is two seconds (a clock lease) after its last commit, as in a backup
    /// of a data directory that no server has open.
    #[test]
    fn a_backup_is_behind_a_full_one_whose_clock_is_ahead() {
        let links = [
            slow("a", (0, 10), (100, 90, 2_100), 0),
            slow("empty", (10, 10), (500, 90, 600), 90),
            slow("b", (10, 20), (1_000, 990, 1_100), 90),
            slow("c", (20, 30), (3_000, 2_990, 3_100), 990),
        ];
        assert_eq!(names(&links[..3], None).unwrap(), ["a", "b"]);
        assert_leads(&links[..3], 2_100, Err("ended before that instant"));
        assert_leads(&links, 2_100, Ok(&["a", "b", "c"]));
    }
}
