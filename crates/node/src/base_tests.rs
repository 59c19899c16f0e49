//! Bases (full copies of a shard) written on request: the journal before a base is deleted, and
//! nodes that join later start from the base.

use cluster::{Ledger as _, Reply, Request};
use document::doc;
use serde_json::json;

use super::tests::{ledger, start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_is_made_when_somebody_asks_for_one_at_any_node() {
    let ledger = ledger("manual").await;
    let (one, two) = (start(&ledger, "one").await, start(&ledger, "two").await);
    one.server.run_command(doc! { "create": "c", "$db": "test" }).await;
    let mut last = 0;
    for (round, node) in [&one, &two, &one].into_iter().enumerate() {
        node.insert(i32::try_from(round).unwrap()).await;
        let told = node.server.ask_well("POST", "/_ebb/cluster/base", "{}").await;
        let (entry, base) = (told["entry"].as_u64().unwrap(), told["base"].as_u64().unwrap());
        assert!(last < base && entry <= base, "{told} behind {last}");
        last = base;
        let shard = ledger.execute(Request::ReadShard { shard: 0 }).await.unwrap();
        let Reply::Shard(Some(record)) = shard else { panic!("{shard:?}") };
        assert_eq!(record.bases.last().unwrap().n, base);
        // A base that includes the entry exists already: none is written.
        let body = json!({ "shard": 0, "entry": entry }).to_string();
        let again = node.server.ask_well("POST", "/_ebb/cluster/base", &body).await;
        assert_eq!(again["base"].as_u64().unwrap(), base);
    }
    let refused = two.server.ask_admin("POST", "/_ebb/cluster/base", r#"{"shard": 1}"#).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    let refused = two.server.ask_admin("POST", "/_ebb/cluster/base", r#"{"shards": 0}"#).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    // A new node gets all data and can own it.
    let three = start(&ledger, "three").await;
    one.hand_over_to("three").await;
    assert_eq!(three.ids().await, [0, 1, 2]);
    for node in [one, two, three] {
        node.server.stop().await;
    }
}
