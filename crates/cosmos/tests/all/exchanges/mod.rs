//! Requests captured from Microsoft.Azure.Cosmos and EF Core for .NET, replayed against an API,
//! with the expected responses. `README.md` documents the file format; `EBB_UPDATE=1` writes the
//! actual responses into the files.

mod player;
mod script;

use std::{fs, path::PathBuf};

use player::Player;
use script::{Block, Step};

/// Replays the exchanges of a file in order and compares all responses.
async fn replay(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/all/exchanges").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let mut blocks = script::parse(&text);
    let mut player = Player::new().await;
    let (mut different, mut count) = (Vec::new(), 0);
    for block in &mut blocks {
        let Block { step, answer, .. } = block;
        match step {
            Step::Note => {}
            Step::Make(path, headers, body) => player.make(path, headers, body).await,
            Step::Remove(path, key) => player.remove(path, key).await,
            Step::Advance(seconds) => player.client.advance(*seconds),
            Step::Exchange(request) => {
                let found = player.exchange(request).await;
                if found != *answer {
                    let (want, found) = (answer.join("\n"), found.join("\n"));
                    different.push(format!("{}:\n{want}\n-- found:\n{found}\n", request.name));
                }
                count += 1;
                *answer = found;
            }
        }
    }
    if std::env::var_os("EBB_UPDATE").is_some() {
        fs::write(path, script::print(&blocks)).unwrap();
        return;
    }
    assert!(0 < count, "{name} has no exchange");
    assert!(different.is_empty(), "{} of {count}:\n{}", different.len(), different.join("\n"));
}

#[tokio::test]
async fn databases_containers_and_throughput() {
    replay("containers.txt").await;
}

#[tokio::test]
async fn items() {
    replay("items.txt").await;
}

#[tokio::test]
async fn transactional_batches() {
    replay("batches.txt").await;
}

#[tokio::test]
async fn bulk_requests() {
    replay("bulks.txt").await;
}

#[tokio::test]
async fn queries_and_plans() {
    replay("queries.txt").await;
}

#[tokio::test]
async fn change_feeds_and_leases() {
    replay("feeds.txt").await;
}

#[tokio::test]
async fn entity_framework_10() {
    replay("efcore10.txt").await;
}

#[tokio::test]
async fn entity_framework_11() {
    replay("efcore11.txt").await;
}
