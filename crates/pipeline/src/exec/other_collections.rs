//! The other collections that a pipeline reads, so that all are read in one view.

use super::Stage;

/// Returns database (if it is a different one) and name of every collection that stages read
/// besides their input; with duplicates. The engine opens views of all of them at one instant,
/// before the first row is read.
pub fn other_collections(stages: &[Stage]) -> Vec<(Option<&str>, &str)> {
    let mut found = Vec::new();
    collect_collections(stages, &mut found);
    found
}

/// Adds the collections that stages and their nested pipelines read. A graph lookup's collection is
/// always in the pipeline's database. All stages are listed, so that the compiler requires new ones
/// to be added.
fn collect_collections<'s>(stages: &'s [Stage], found: &mut Vec<(Option<&'s str>, &'s str)>) {
    for stage in stages {
        match stage {
            Stage::Lookup(lookup) => {
                found.push((lookup.database.as_deref(), &lookup.collection));
                collect_collections(&lookup.stages, found);
            }
            Stage::UnionWith(union) => {
                found.push((union.database.as_deref(), &union.collection));
                collect_collections(&union.stages, found);
            }
            Stage::GraphLookup(graph) => found.push((None, &graph.collection)),
            Stage::Facet(parts) => {
                parts.iter().for_each(|(_, stages)| collect_collections(stages, found))
            }
            Stage::Match(_)
            | Stage::Project(_)
            | Stage::AddFields(_)
            | Stage::Sort { .. }
            | Stage::Limit(_)
            | Stage::Skip(_)
            | Stage::Count(_)
            | Stage::Distinct(_)
            | Stage::Group(_)
            | Stage::Unwind(_)
            | Stage::ReplaceRoot { .. }
            | Stage::Sample(_)
            | Stage::BucketAuto(_)
            | Stage::Redact(_)
            | Stage::Documents(_) => {}
        }
    }
}
