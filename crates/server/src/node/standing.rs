//! What a node says of itself when another asks: how far it is with each shard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a node says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Standing {
    /// The last entry that it has applied of each shard, by their numbers.
    #[serde(default)]
    pub(super) applied: Vec<u64>,
    /// For each shard, what it is to it.
    #[serde(default)]
    pub(super) roles: Vec<String>,
    /// For each shard that it does not serve, why it cannot take it over now.
    #[serde(default)]
    pub(super) unready: BTreeMap<u32, String>,
}

impl Standing {
    /// How many entries it is behind what is committed, of all shards together.
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
        let standing = Standing { applied: vec![3, 9], ..Standing::default() };
        assert_eq!(standing.behind(&[5, 9]), 2);
        assert_eq!(standing.behind(&[1, 10]), 1);
        assert_eq!(standing.behind(&[]), 0);
        // What a later version adds is passed over.
        let told = r#"{"applied": [1], "more": true}"#;
        assert_eq!(serde_json::from_str::<Standing>(told).unwrap().applied, [1]);
    }
}
