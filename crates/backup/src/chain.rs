//! Which backups belong together: a full one, then incremental ones, each going on where the one before
//! ended. Where they lie is not known here.

use crate::{
    error::Error,
    header::{Header, Kind},
};

/// A backup in a chain: what a person calls it, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The name of its file.
    pub name: String,
    /// What it says of itself.
    pub header: Header,
    /// The instant of the database clock at its end, milliseconds.
    pub clock_ms: i64,
}

/// Refuses a backup that does not follow another one.
pub fn check_next(before: &Header, next: &Header) -> Result<(), String> {
    let expected = (before.lineage, before.last_entry, Some(before.last_stamp));
    if next.kind != Kind::Incremental {
        return Err("it is not an incremental backup".to_owned());
    }
    if next.lineage != before.lineage {
        return Err("it is of another database".to_owned());
    }
    if before.last_entry < next.after_entry {
        let (end, after) = (before.last_entry, next.after_entry);
        return Err(format!("entries {} to {after} are missing before it", end + 1));
    }
    match (next.lineage, next.after_entry, next.after_stamp) == expected {
        true => Ok(()),
        false => Err("it follows another backup than the one before it".to_owned()),
    }
}

/// Returns the newest chain that leads up to `to`, or to the end: a full backup that ended no later than
/// that, and the incremental ones behind it, up to the first that has all that is wanted. Refused where
/// there is none, and where one is missing in between.
pub fn check_chain(mut links: Vec<Link>, to: Option<i64>) -> Result<Vec<Link>, Error> {
    links.sort_by_key(|link| (link.header.last_entry, link.clock_ms));
    let is_base =
        |link: &&Link| link.header.kind == Kind::Full && to.is_none_or(|to| link.clock_ms <= to);
    let base = links.iter().filter(is_base).max_by_key(|link| link.clock_ms);
    let Some(base) = base else {
        return Err(Error::Refused(match to {
            None => "there is no full backup".to_owned(),
            Some(_) => "there is no full backup that ended by that instant".to_owned(),
        }));
    };
    let mut chain = vec![base.clone()];
    while let Some(last) = chain.last() {
        let ended = last.clock_ms;
        // One that ends at that very instant may be followed by more of it.
        if to.is_some_and(|to| to < ended) {
            return Ok(chain);
        }
        let is_later = |link: &&Link| {
            let has_more = last.header.last_entry < link.header.last_entry;
            link.header.kind == Kind::Incremental
                && (ended < link.clock_ms || (ended == link.clock_ms && has_more))
        };
        let next = links.iter().filter(is_later).find(|link| follows(&last.header, link));
        match next {
            Some(next) => chain.push(next.clone()),
            None => {
                let first = links.iter().filter(is_later).min_by_key(|link| link.clock_ms);
                return match (first, to) {
                    (_, Some(to)) if to == ended => Ok(chain),
                    (Some(first), _) => {
                        let why = check_next(&last.header, &first.header).err();
                        let why = why.unwrap_or_default();
                        let text = format!("{} cannot be used: {why}", first.name);
                        Err(Error::Refused(text))
                    }
                    (None, Some(_)) => Err(Error::Refused(
                        "the newest backup ended before that instant: leave --to out to restore all \
                         of it"
                            .to_owned(),
                    )),
                    (None, None) => Ok(chain),
                };
            }
        }
    }
    Ok(chain)
}

fn follows(before: &Header, next: &Link) -> bool {
    check_next(before, &next.header).is_ok()
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
            // Nothing was written before it.
            link("d", 1, (30, 30), 400),
        ];
        assert_eq!(names(&links, None).unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(names(&links, Some(250)).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(&links, Some(200)).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(&links, Some(199)).unwrap(), ["a", "b"]);
        assert_eq!(names(&links[3..4], Some(100)).unwrap(), ["a"]);
        assert!(names(&links, Some(40)).unwrap_err().contains("no full backup that ended"));
        assert!(names(&links, Some(401)).unwrap_err().contains("leave --to out"));
        assert!(names(&links[4..], None).unwrap_err().contains("no full backup"));
    }

    #[test]
    fn gaps_and_foreign_backups_are_refused() {
        let full = link("a", 1, (0, 10), 100);
        for (next, want) in [
            (link("x", 1, (20, 30), 300), "entries 11 to 20 are missing"),
            (link("x", 2, (10, 30), 300), "another database"),
            (link("x", 1, (8, 30), 300), "follows another backup"),
        ] {
            let refused = names(&[full.clone(), next.clone()], None).unwrap_err();
            assert!(refused.contains(want) && refused.contains('x'), "{refused}");
            assert!(names(&[full.clone(), next], Some(100)).is_ok());
        }
        // The numbers of a database that was set back and went on otherwise are the same.
        let mut forked = link("x", 1, (10, 30), 300);
        forked.header.after_stamp = Some(Stamp { seq: 100, at_ms: 11 });
        assert!(names(&[full, forked], None).unwrap_err().contains("follows another backup"));
    }
}
