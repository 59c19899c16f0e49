//! Runs the conformance tests on the memory store, alone and inside the fault-injecting wrapper.

use store::{
    Commit, Condition, Fault, FaultyStore, MemoryStore, Mutation, Space, Store,
    laws::{self, Bench, ManualTime},
};

#[derive(Default)]
struct Memory {
    time: ManualTime,
}

impl Bench for Memory {
    type Store = MemoryStore;
    type Opened = Box<MemoryStore>;

    async fn open(&mut self) -> Box<MemoryStore> {
        Box::new(MemoryStore::new(self.time.commit_clock()))
    }

    async fn crash(&mut self, store: Box<MemoryStore>) -> Box<MemoryStore> {
        Box::new(store.reopen(self.time.commit_clock()))
    }

    fn time(&self) -> &ManualTime {
        &self.time
    }
}

#[derive(Default)]
struct Faulty(Memory);

impl Bench for Faulty {
    type Store = FaultyStore;
    type Opened = Box<FaultyStore>;

    async fn open(&mut self) -> Self::Opened {
        Box::new(FaultyStore::new(*self.0.open().await))
    }

    async fn crash(&mut self, store: Self::Opened) -> Self::Opened {
        let inner = Box::new(store.inner_store().clone());
        Box::new(FaultyStore::new(*self.0.crash(inner).await))
    }

    fn time(&self) -> &ManualTime {
        self.0.time()
    }
}

#[tokio::test]
async fn memory_keeps_the_laws() {
    laws::check(&mut Memory::default()).await;
}

#[tokio::test]
async fn the_wrapper_without_faults_keeps_the_laws() {
    laws::check(&mut Faulty::default()).await;
}

#[tokio::test]
async fn faults_come_when_planned_and_only_then() {
    let store = Faulty::default().open().await;
    let put = || {
        let (key, value) = ("k".into(), "v".into());
        Commit::new(vec![], move |_| vec![Mutation::Put { space: Space::Catalog, key, value }])
    };
    store.fail_nth(Fault::CommitLost, 2);
    store.commit(vec![put()]).await.unwrap();
    let before = store.published();
    store.commit(vec![put()]).await.unwrap_err();
    assert_eq!(store.published(), before, "nothing was written");
    store.fail_nth(Fault::AnswerLost, 1);
    store.commit(vec![put()]).await.unwrap_err();
    assert_eq!(store.published(), before + 1, "it was written, and nobody was told");
    store.fail_nth(Fault::Read, 1);
    store.snapshot().get(Space::Catalog, b"k").await.unwrap_err();
    assert!(store.snapshot().get(Space::Catalog, b"k").await.unwrap().is_some());
}

#[tokio::test]
async fn a_held_commit_is_in_flight_and_its_conditions_bind_others() {
    let mut bench = Memory::default();
    bench.time.set(10);
    let store = bench.open().await;
    let gate = store.gate();
    gate.shut();
    let held = {
        let store = store.clone();
        let commit = Commit::new(vec![], |_| {
            vec![Mutation::Put { space: Space::Catalog, key: "k".into(), value: "v".into() }]
        });
        tokio::spawn(async move { store.commit(vec![commit]).await })
    };
    tokio::task::yield_now().await;
    let (since, batch) = store.in_flight().oldest_commit().unwrap();
    assert_eq!((since, store.published()), (10, 0));
    assert_eq!(store.snapshot().get(Space::Catalog, b"k").await.unwrap(), None);
    gate.open();
    store.in_flight().wait_until_finished(batch).await;
    held.await.unwrap().unwrap();
    assert_eq!(store.in_flight().oldest_commit(), None);
    let stale = Condition::NotNewer { space: Space::Catalog, key: b"k".to_vec().into(), seq: 0 };
    let outcomes = store.commit(vec![Commit::new(vec![stale], |_| vec![])]).await.unwrap();
    assert!(matches!(outcomes[0], store::Outcome::Refused(_)));
}

#[tokio::test]
async fn a_bounded_store_refuses_what_needs_room_and_lets_deletes_go_on() {
    let time = ManualTime::default();
    let store = MemoryStore::bounded(100_000, time.commit_clock());
    let key = |at: u32| bytes::Bytes::copy_from_slice(&at.to_be_bytes());
    let put = |at: u32| {
        let (key, value) = (key(at), vec![7; 1000].into());
        Commit::new(vec![], move |_| vec![Mutation::Put { space: Space::Catalog, key, value }])
    };
    let mut held = 0;
    let refused = loop {
        match store.commit(vec![put(held)]).await {
            Ok(_) => held += 1,
            Err(error) => break error,
        }
        assert!(held < 200, "nothing is refused");
    };
    assert_eq!((refused.kind, 50 < held), (store::Kind::Full, true));
    assert!(matches!(store.health(), store::Health::Refusing(_)));
    let snapshot = store.snapshot();
    for at in 0..held {
        let key = key(at);
        let delete =
            Commit::new(vec![], move |_| vec![Mutation::Delete { space: Space::Catalog, key }]);
        store.commit(vec![delete.freeing()]).await.unwrap();
    }
    // Deleted versions that a snapshot can still see count towards the limit.
    store.commit(vec![put(0)]).await.unwrap_err();
    drop(snapshot);
    store.commit(vec![put(0)]).await.unwrap();
    assert_eq!(store.health(), store::Health::Good);
    assert!(store.disk_bytes() < 2_000, "{}", store.disk_bytes());
}
