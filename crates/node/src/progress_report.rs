//! The report of a node on its progress in each shard, which other nodes request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A node's report of its progress, which other nodes request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct ProgressReport {
    /// Number of the last entry applied in each shard, by shard number.
    #[serde(default)]
    pub(super) applied: Vec<u64>,
    /// Name of the node's role in each shard.
    #[serde(default)]
    pub(super) roles: Vec<String>,
    /// For each shard that the node does not serve, why it cannot take over now.
    #[serde(default)]
    pub(super) unready: BTreeMap<u32, String>,
}

impl ProgressReport {
    /// Returns the number of entries by which the node lags, summed over all shards.
    pub(super) fn behind(&self, committed: &[u64]) -> u64 {
        let lags = self.applied.iter().zip(committed);
        lags.map(|(applied, committed)| committed.saturating_sub(*applied)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_is_what_is_committed_and_not_applied() {
        let progress_report = ProgressReport { applied: vec![3, 9], ..ProgressReport::default() };
        assert_eq!(progress_report.behind(&[5, 9]), 2);
        assert_eq!(progress_report.behind(&[1, 10]), 1);
        assert_eq!(progress_report.behind(&[]), 0);
        // Fields of later versions are ignored.
        let told = r#"{"applied": [1], "more": true}"#;
        assert_eq!(serde_json::from_str::<ProgressReport>(told).unwrap().applied, [1]);
    }
}
