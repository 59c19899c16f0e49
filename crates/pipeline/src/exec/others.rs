//! Which other collections a pipeline reads, so that all of them can be looked at together.

use super::Stage;

/// Database, when it is another one, and name of every collection that stages read beside their
/// input; some may come twice. The engine opens views of all of them at one instant, before the
/// first row is read.
pub fn other_collections(stages: &[Stage]) -> Vec<(Option<&str>, &str)> {
    let mut found = Vec::new();
    collect_collections(stages, &mut found);
    found
}

/// Adds the collections that stages read, those of pipelines inside them included.
/// A graph's collection is always in the database of the pipeline. All stages are listed, so that
/// a new one cannot be forgotten here.
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
