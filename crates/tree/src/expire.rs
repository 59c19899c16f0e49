//! Files that end as a whole: body files whose bodies have all ended, and tables whose values have.
//! They are removed without being read.

use std::sync::Arc;

use crate::{
    error::Result,
    hooks::End,
    shared::Shared,
    space::Space,
    table::Table,
    tree::Tree,
    version::{Edit, Version},
};

/// The files that [`Tree::expire`] has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// Number of removed body files.
    pub body_files: u64,
    /// Number of removed tables, without their bodies.
    pub tables: u64,
    /// Bytes of all these files.
    pub bytes: u64,
}

impl Tree {
    /// Removes the files in which all values have ended. Keys with a body in a removed file are
    /// absent from then on; what remains of them goes with the next compactions.
    ///
    /// A table is removed only if no older table may contain one of its keys, so that no older
    /// version can surface.
    pub fn expire(&self) -> Result<Expired> {
        let mut expired = Expired::default();
        for space in self.shared.all_spaces().values() {
            expire_space(&self.shared, space, &mut expired)?;
        }
        Ok(expired)
    }
}

fn expire_space(shared: &Arc<Shared>, space: &Arc<Space>, expired: &mut Expired) -> Result<()> {
    let version = Arc::clone(&space.load().version);
    let has_ended = |end: End| shared.maker.hooks.has_ended(space.number, end);
    let (mut edits, mut claims, mut found) = (Vec::new(), Vec::new(), *expired);
    for body in version.bodies.values() {
        if !body.meta.end.is_some_and(has_ended) {
            continue;
        }
        let Some(claim) = shared.claim(vec![body.meta.id]) else { continue };
        claims.push(claim);
        // A flush may have extended the file since the version was loaded.
        let current = space.load().version.bodies.get(&body.meta.id).map(|of| of.meta.clone());
        let Some(current) = current.filter(|current| current.end.is_some_and(has_ended)) else {
            continue;
        };
        found.body_files += 1;
        found.bytes += current.bytes;
        edits.push(Edit::EndBody { space: space.number, body: current.id });
    }
    for table in ended_tables(&version, has_ended) {
        let Some(claim) = shared.claim(vec![table.meta.id]) else { continue };
        claims.push(claim);
        let listed = |version: &Version| version.tables().any(|of| of.meta.id == table.meta.id);
        if !listed(&space.load().version) {
            continue;
        }
        found.tables += 1;
        found.bytes += table.meta.bytes;
        edits.push(Edit::RemoveTable { space: space.number, table: table.meta.id });
    }
    if !edits.is_empty() && shared.edit(space, edits, &[], |_| true)?.is_some() {
        *expired = found;
    }
    Ok(())
}

/// Returns the tables in which every value has ended and with whose keys no older table overlaps.
fn ended_tables(version: &Version, has_ended: impl Fn(End) -> bool) -> Vec<Arc<Table>> {
    let ends = |table: &Table| {
        let mut endings = table.meta.endings.iter();
        table.meta.endless == 0
            && endings.all(|ending| has_ended(End { kind: ending.kind, at: ending.last }))
    };
    let mut ended = Vec::new();
    for (level, run, table) in version.places().filter(|(_, _, table)| ends(table)) {
        let is_older = |place: &(u8, u64, &Arc<Table>)| {
            level < place.0 || level == 0 && place.0 == 0 && place.1 < run
        };
        let (first, last) = (&table.meta.first_key, &table.meta.last_key);
        let mut older = version.places().filter(is_older);
        if !older.any(|(_, _, older)| older.meta.overlaps(first, last)) {
            ended.push(Arc::clone(table));
        }
    }
    ended
}
