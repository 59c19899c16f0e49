//! Parses the paths of a wildcard index: those below a path, or those of its `wildcardProjection`.
//!
//! ```text
//! {"a.$**": 1}                                     `a` and all paths below it
//! {"$**": 1}, wildcardProjection: {a: 1, b: 1}     `a`, `b` and all paths below them
//! {c: 1, "$**": 1}, wildcardProjection: {c: 0}     all paths but `c`, within each value of `c`
//! ```
//!
//! In a compound index, the paths of the wildcard must not contain the other fields.

use document::{DocRef, ValueRef};
use engine::WildcardPaths;

use super::index_key::{check_path, refuse};
use crate::{
    arguments::Args,
    errors::{Error, FailedToParse, Result},
};

/// Maximum number of paths in a `wildcardProjection`. mongod has no limit. Here every write compares
/// each path of the document with all of them, without a time limit.
const MAX_PROJECTED_PATHS: usize = 1000;

/// Returns the paths of the wildcard below `above`, or those of the option `wildcardProjection`.
/// `key` are the fields of the index.
///
/// Fails with 9 if the projection is empty or belongs to a wildcard below a path, and with the
/// errors of a projection. For a compound index it also fails with 67 if it has no projection for
/// `$**`, 7246204, 7246208, 7246209 or 7246210 if the wildcard contains one of the other fields,
/// and 7246200 if paths of the projection contain each other.
pub(super) fn parse_paths(
    above: &str,
    key: &[(String, bool)],
    options: &Args<'_>,
) -> Result<WildcardPaths> {
    let others: Vec<&str> =
        key.iter().map(|(path, _)| path.as_str()).filter(|path| !path.ends_with("$**")).collect();
    let Some(projection) = options.document("wildcardProjection")? else {
        if above.is_empty() {
            if others.is_empty() {
                return Ok(WildcardPaths::default());
            }
            let message = "A compound index with the wildcard '$**' needs a 'wildcardProjection' \
                           that excludes its other fields";
            return Err(refuse(message));
        }
        if let Some(other) = others.iter().find(|other| is_at_or_below(other, above)) {
            let message = format!(
                "A wildcard index field should not overlap with and index key fields if wildcard \
                 projection is empty, however '{other}' is overlapping with the wildcard index field."
            );
            return Err(Error::new(7_246_204, message));
        }
        let with_id = above == "_id" || above.starts_with("_id.");
        return Ok(WildcardPaths { included: true, paths: vec![above.to_owned()], with_id });
    };
    if projection.is_empty() {
        let message = "The 'wildcardProjection' field can't be an empty object";
        return Err(Error::new(FailedToParse, message));
    }
    if !above.is_empty() {
        let message = format!(
            "The field 'wildcardProjection' is only allowed when 'key' is {{\"$**\": 1}}, not {{\"{above}.$**\": 1}}"
        );
        return Err(Error::new(FailedToParse, message));
    }
    let mut parsed = Projection { is_compound: !others.is_empty(), ..Projection::default() };
    parsed.add_fields(projection, "")?;
    if parsed.is_compound {
        parsed.check_others(&others)?;
    }
    let Projection { included, paths, with_id, .. } = parsed;
    // Only `_id: 0` excludes `_id` from all other paths; only `_id: 1` includes nothing else.
    let included = included.unwrap_or(with_id == Some(true));
    Ok(WildcardPaths { included, paths, with_id: with_id.unwrap_or(false) })
}

/// Returns whether `path` equals `above` or continues it.
fn is_at_or_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A `wildcardProjection`, as far as it was parsed.
#[derive(Default)]
struct Projection {
    /// Whether the paths are included or excluded; `None` before the first.
    included: Option<bool>,
    paths: Vec<String>,
    with_id: Option<bool>,
    /// Whether the index is compound, which has errors of its own.
    is_compound: bool,
}

impl Projection {
    /// Adds the fields of a projection below a path.
    ///
    /// Fails with 31254 or 31253 if it includes some paths and excludes others, and with 9 if a
    /// field is computed; for a compound index the codes are 7246211 and 51271.
    fn add_fields(&mut self, fields: DocRef<'_>, above: &str) -> Result<()> {
        for (name, value) in fields.iter() {
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
            check_path(&path)?;
            match value {
                ValueRef::Document(inner) if !inner.is_empty() => {
                    self.add_fields(inner, &path)?;
                    continue;
                }
                ValueRef::Bool(_) => {}
                value if value.is_number() => {}
                _ => {
                    let message = format!(
                        "Bad projection specification, cannot use computed fields when parsing wildcardProjection: '{path}'"
                    );
                    let code = if self.is_compound { 51271 } else { FailedToParse };
                    return Err(Error::new(code, message));
                }
            }
            let included = value.is_truthy();
            if path == "_id" {
                self.with_id = Some(included);
                continue;
            }
            match self.included {
                Some(before) if before != included && self.is_compound => {
                    let message = "Inclusion and exclusion statements cannot combine in the \
                                   wildcardProjection with an exception of explicitly including \
                                   _id field";
                    return Err(Error::new(7_246_211, message));
                }
                Some(true) if !included => {
                    let message =
                        format!("Cannot do exclusion on field {path} in inclusion projection");
                    return Err(Error::new(31254, message));
                }
                Some(false) if included => {
                    let message =
                        format!("Cannot do inclusion on field {path} in exclusion projection");
                    return Err(Error::new(31253, message));
                }
                _ => self.included = Some(included),
            }
            self.paths.push(path);
            if MAX_PROJECTED_PATHS < self.paths.len() {
                return Err(refuse(format!(
                    "a wildcardProjection may have at most {MAX_PROJECTED_PATHS} paths"
                )));
            }
        }
        Ok(())
    }

    /// Fails if the wildcard of a compound index contains one of its other fields, or if a path of
    /// the projection contains another one.
    fn check_others(&self, others: &[&str]) -> Result<()> {
        let mut paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        // By components, so that a path is next to those below it.
        paths.sort_unstable_by(|a, b| a.split('.').cmp(b.split('.')));
        let overlaps = |pair: &&[&str]| matches!(pair, [a, b] if is_at_or_below(b, a));
        if let Some([one, other]) = paths.windows(2).find(overlaps) {
            let message = format!(
                "Fields in Wildcard Projection cannot overlap, however '{one}' is overlapped with '{other}'"
            );
            return Err(Error::new(7_246_200, message));
        }
        let within = |other: &str, paths: &[&str]| {
            paths.iter().find(|path| is_at_or_below(other, path)).map(|path| (*path).to_owned())
        };
        let excludes_id = self.with_id == Some(false);
        let excluded = match self.included {
            Some(false) => [paths, if excludes_id { vec!["_id"] } else { Vec::new() }].concat(),
            included => {
                let id = (self.with_id == Some(true)).then_some("_id");
                let included_paths: Vec<&str> = paths.into_iter().chain(id).collect();
                let found =
                    others.iter().find_map(|other| Some((other, within(other, &included_paths)?)));
                if let Some((other, path)) = found {
                    let message = format!(
                        "Index Key and Wildcard Projection cannot contain overlapping fields, however '{other}' index field is ovverlapping with '{path}' wildcardProjection path."
                    );
                    return Err(Error::new(7_246_208, message));
                }
                if included.is_some() || !excludes_id {
                    return Ok(());
                }
                vec!["_id"]
            }
        };
        match others.iter().find(|other| within(other, &excluded).is_none()) {
            None => Ok(()),
            Some(other) => {
                // The first code is that of a field before the last of the excluded paths.
                let is_before = excluded.iter().any(|path| other < path);
                let code = if is_before { 7_246_209 } else { 7_246_210 };
                let message = format!(
                    "wildcardProjection paths must exclude all regular index fields, however '{other}'is not excluded."
                );
                Err(Error::new(code, message))
            }
        }
    }
}
