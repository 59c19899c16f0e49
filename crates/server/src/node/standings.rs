//! How far nodes are with each shard, asked over the link: a node's record in the ledger says nothing of
//! what it has applied.

use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};

use cosmos::Duplex;
use memory::Account;
use tokio::{io::AsyncWriteExt, task::JoinSet};
use uuid::Uuid;

use super::{
    facts::Facts,
    link::{Purpose, read_piece, write_piece},
    route::Route,
    routes::Routes,
    standing::Standing,
};

/// How long a node may take to answer. One that takes longer is shown without it.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a hand-over waits for a newer record of its target. Nodes write and read records with every
/// beat, each 750 ms, so this is four beats.
const NEWER_RECORD: Duration = Duration::from_secs(3);
/// Bytes of an answer at the most: there are at most 64 shards.
const ANSWER_MAX: usize = 64 << 10;

/// What this node says of itself.
fn own(routes: &Routes) -> Standing {
    let unready = |route: &Route| {
        let why = route.here().is_none().then(|| route.facts.why_unready()).flatten();
        why.map(|why| (route.facts.number, why))
    };
    Standing {
        applied: routes.all().map(|route| route.facts.seen_shard().applied).collect(),
        roles: routes.all().map(|route| route.facts.role_word().to_owned()).collect(),
        unready: routes.all().filter_map(unready).collect(),
    }
}

/// Answers another node that asks.
pub(super) async fn tell(routes: &Routes, mut stream: Box<dyn Duplex>) {
    let text = serde_json::to_vec(&own(routes)).unwrap_or_default();
    let written = async {
        write_piece(&mut *stream, &text).await?;
        stream.flush().await
    };
    // Whoever asked finds that the answer is not whole.
    let _ = tokio::time::timeout(PATIENCE, written).await;
}

/// Asks the node at this address; `None`: it does not answer, or does not know the question.
pub(super) async fn ask(route: &Route, peer: &str) -> Option<Standing> {
    let asked = async {
        let mut stream = route.dialer.call(peer, Purpose::Standing, None).await.ok()?;
        let account = Account::new(ANSWER_MAX);
        let text = read_piece(&mut *stream, &mut account.share()).await.ok()?;
        serde_json::from_slice(&text).ok()
    };
    tokio::time::timeout(PATIENCE, asked).await.ok().flatten()
}

/// What all nodes say that answer, this one included.
pub(super) async fn of_all(routes: &Routes) -> BTreeMap<Uuid, Standing> {
    let facts = routes.facts();
    let mut asking = JoinSet::new();
    for (node, peer) in facts.other_peers() {
        let route = routes.first().clone();
        asking.spawn(async move { (node, ask(&route, &peer).await) });
    }
    let mut found = BTreeMap::from([(facts.node, own(routes))]);
    while let Some(asked) = asking.join_next().await {
        if let Ok((node, Some(standing))) = asked {
            found.insert(node, standing);
        }
    }
    found
}

/// Checks that an operator may have a node own a shard now; an error says why not. A node that has just
/// started, or that goes on after a pause, may be ready before this node has read its newest record: that
/// one is waited for.
pub(super) async fn may_own(route: &Route, target: Uuid, name: &str) -> Result<(), String> {
    let facts = &route.facts;
    let peer_of_live = |facts: &Facts| {
        facts.node_state(target).filter(|state| state.is_up()).and_then(|_| facts.peer_of(target))
    };
    let Some(mut peer) = newer_record(facts, peer_of_live).await else {
        let state = facts.node_state(target).map_or("not known", |state| state.word());
        return Err(format!("node {name} is {state}: its heartbeat has stopped"));
    };
    let standing = loop {
        if let Some(standing) = ask(route, &peer).await {
            break standing;
        }
        // A node of a version that does not know the question still hears a word.
        if route.tell(&peer, Purpose::Look, PATIENCE).await {
            return Ok(());
        }
        // A node that has just restarted listens on another port than the record that is seen here names.
        let moved = |facts: &Facts| facts.peer_of(target).filter(|moved| *moved != peer);
        match newer_record(facts, moved).await {
            Some(moved) => peer = moved,
            None => return Err(format!("node {name} does not answer on the link at {peer}")),
        }
    };
    match standing.unready.get(&facts.number) {
        Some(why) => Err(format!("node {name} cannot take the shard over now: {why}")),
        None => Ok(()),
    }
}

/// Returns what `wanted` finds in the records of the nodes, and waits for newer ones until it finds it;
/// `None` after [`NEWER_RECORD`].
async fn newer_record<T>(facts: &Facts, wanted: impl Fn(&Facts) -> Option<T>) -> Option<T> {
    let mut view = facts.view.clone();
    let found = async {
        loop {
            // Marked before it is looked at, so that a change in between is not missed.
            view.borrow_and_update();
            match wanted(facts) {
                Some(found) => return Some(found),
                None => view.changed().await.ok()?,
            }
        }
    };
    tokio::time::timeout(NEWER_RECORD, found).await.ok().flatten()
}

/// Notes what an operator or placement says of a shard: whether it is kept here.
pub(super) fn note_kept(route: &Route, word: Purpose) {
    match word {
        Purpose::Keep => route.kept.store(true, Ordering::SeqCst),
        Purpose::GoFirst | Purpose::HoldBack => route.kept.store(false, Ordering::SeqCst),
        _ => {}
    }
}
