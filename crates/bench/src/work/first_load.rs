//! Measures loading the first documents into a new collection, with and without a secondary index.
//! Every insert is durable when it is acknowledged. A load ends after a number of documents, not
//! after a time.

use super::Settings;
use crate::{
    commands,
    error::Result,
    figures::Figures,
    inserts::{self, LoadFigures},
    limits::LOADERS,
    records,
    target::Target,
};

const COLLECTION: &str = "loads";

/// Loads a collection, which the caller has dropped. `indexed` names the field of its secondary
/// index; `None` for no index.
pub(super) async fn run_first_load(
    target: &Target,
    settings: &Settings,
    indexed: Option<&str>,
) -> Result<Figures> {
    target.drop_collection(COLLECTION).await?;
    if let Some(field) = indexed {
        let mut link = target.connect_link().await?;
        link.call_command(commands::create_index(COLLECTION, &[(field, 1)], None)).await?;
    }
    let (count, concern) = (settings.sizes.records, settings.sizes.write_concern());
    let LoadFigures { rate, server_cpu } =
        inserts::measure_inserts(target, COLLECTION, count, concern, records::user_record).await?;
    let mut figures = Figures { connections: LOADERS, ..Figures::default() };
    figures.add_extra("documents per second", rate);
    figures.add_extra("CPU us a document", server_cpu);
    target.drop_collection(COLLECTION).await?;
    target.wait_until_idle().await?;
    Ok(figures)
}
