//! Explains what a write would do to the documents it finds, without writing: updates are applied
//! to copies to see whether they would change anything.

use std::sync::Arc;

use collation::Collation;
use document::{DocRef, Document, doc};
use engine::{Find, Plan};
use evaluation::Context;
use pipeline::{Filter, edit::Edit};

use super::{Explained, Outcome, search_plan, shape::shortest_int};
use crate::{
    arguments::Args,
    commands::find_and_modify,
    errors::{BadValue, Error, Result},
    parsers::statements::{
        UPDATE_FIELDS, check_delete, check_update, deletes_many, parse_edit, parse_search,
    },
};

/// An explained write, with counts of the changes it would have made so far.
pub(super) struct PlannedWrite {
    /// The change to a document; `None` removes it.
    edit: Option<Edit>,
    /// Whether the write inserts a document if none matches.
    upsert: bool,
    /// Whether the write returns the matched document.
    answers: bool,
    found: u64,
    modified: u64,
}

/// Explains a statement of `update`.
pub(super) fn explain_update(
    args: &Args<'_>,
    collation: Option<Arc<Collation>>,
) -> Result<Explained> {
    check_update(args, &UPDATE_FIELDS)?;
    let many = args.bool("multi")?.unwrap_or(false);
    let update = args.get("u").ok_or_else(|| args.missing_field("u"))?;
    let edit = parse_edit(update, args, many)?;
    let upsert = args.bool("upsert")?.unwrap_or(false);
    explain_search(
        args,
        "q",
        parse_search(args, "q")?,
        many,
        PlannedWrite::new(Some(edit), upsert, false),
        collation,
    )
}

/// Explains a statement of `delete`.
pub(super) fn explain_delete(
    args: &Args<'_>,
    collation: Option<Arc<Collation>>,
) -> Result<Explained> {
    check_delete(args)?;
    let many = deletes_many(args)?;
    let change = PlannedWrite::new(None, false, false);
    explain_search(args, "q", parse_search(args, "q")?, many, change, collation)
}

/// Explains a `findAndModify`, which matches one document.
pub(super) fn explain_find_and_modify(
    args: &Args<'_>,
    collation: Option<Arc<Collation>>,
) -> Result<Explained> {
    let remove = args.lax_bool("remove")?.unwrap_or(false);
    let upsert = args.lax_bool("upsert")?.unwrap_or(false);
    let edit = args.get("update").map(|update| parse_edit(update, args, false)).transpose()?;
    // Exactly one of the two arguments is required, as when the command runs.
    if edit.is_none() != remove {
        let message = "Either an update or remove=true must be specified";
        return Err(Error::new(BadValue, message));
    }
    let find = find_and_modify::parse_find(args)?;
    explain_search(args, "query", find, false, PlannedWrite::new(edit, upsert, true), collation)
}

/// Returns the explanation of the search of a write's documents, with the write as the last stage
/// of the plan.
fn explain_search(
    args: &Args<'_>,
    filter: &str,
    find: Find,
    many: bool,
    change: PlannedWrite,
    collation: Option<Arc<Collation>>,
) -> Result<Explained> {
    let filter = args.document(filter)?.map(DocRef::to_tree).unwrap_or_default();
    let (plan, bounded): (Plan, bool) = search_plan(find, many);
    Ok(Explained { plan, bounded, filter, then: Outcome::Write(Box::new(change)), collation })
}

impl PlannedWrite {
    fn new(edit: Option<Edit>, upsert: bool, answers: bool) -> Self {
        Self { edit, upsert, answers, found: 0, modified: 0 }
    }

    /// Counts a matched document. If the edit would change the document, also counts it as
    /// modified.
    pub(super) fn count_found(
        &mut self,
        document: DocRef<'_>,
        filter: &Filter,
        context: &Context,
    ) -> Result<()> {
        self.found += 1;
        if let Some(edit) = &self.edit {
            self.modified += u64::from(edit.apply(document, Some(filter), context)?.changed);
        }
        Ok(())
    }

    /// Returns MongoDB's name of the write's stage in the plan.
    pub(super) fn stage_name(&self) -> &'static str {
        if self.edit.is_some() { "UPDATE" } else { "DELETE" }
    }

    /// Returns the number of documents that the write would return.
    pub(super) fn returned_count(&self) -> usize {
        usize::from(self.answers && 0 < self.found)
    }

    /// Returns the write's stage of the explanation, with the numbers of documents that the write
    /// would have affected.
    pub(super) fn stage_stats(&self) -> Document {
        let mut out = doc! { "stage": self.stage_name(), "nReturned": shortest_int(self.returned_count() as u64) };
        if self.edit.is_some() {
            out.push("nMatched", shortest_int(self.found));
            out.push("nWouldModify", shortest_int(self.modified));
            // If nothing matches, one document would be inserted.
            out.push("nWouldUpsert", shortest_int(u64::from(self.upsert && self.found == 0)));
        } else {
            out.push("nWouldDelete", shortest_int(self.found));
        }
        out
    }
}
