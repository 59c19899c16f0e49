//! Carries out what was typed for the REST API and prints what came of it.

use super::{
    args::{Compare, Cosmos, Mode, One},
    target::Target,
    work::{self, WORKS},
};
use crate::{
    cli::{names, print, print_pairs, print_runs, progress},
    compare,
    error::{Error, Result},
};

/// Does it.
pub(crate) async fn run(cosmos: Cosmos) -> Result<()> {
    match cosmos.mode {
        None => one(cosmos.one).await,
        Some(Mode::List) => print(&names(WORKS.iter().map(|entry| (entry.name, entry.about)))),
        Some(Mode::Compare(args)) => compare(*args).await,
    }
}

async fn one(args: One) -> Result<()> {
    let works = args.load.works(args.server_pid.is_some()).map_err(Error::Usage)?;
    let label = args.url.to_string();
    let mut target = Target::reach(&label, args.url, args.key, args.server_pid).await?;
    let settings = args.load.settings(0);
    let mut runs = Vec::new();
    for entry in works {
        progress(&format!("{label}: {}", entry.name));
        runs.push(work::run(entry, &mut target, &settings).await?);
    }
    target.forget().await?;
    print_runs(&runs, args.load.json)
}

async fn compare(args: Compare) -> Result<()> {
    let known = args.ours_pid.is_some() && args.peer_pid.is_some();
    let works = args.load.works(known).map_err(Error::Usage)?;
    let mut ours = Target::reach(&args.ours_name, args.ours, args.ours_key, args.ours_pid).await?;
    let mut peer = Target::reach(&args.peer_name, args.peer, args.peer_key, args.peer_pid).await?;
    let mut pairs = Vec::new();
    for entry in works {
        let once = async |target: &mut Target, round: usize| {
            progress(&format!("{}, round {}: {}", entry.name, round + 1, target.label));
            work::run(entry, target, &args.load.settings(round)).await
        };
        pairs.extend(compare::in_turn(args.rounds, &mut ours, &mut peer, once).await?);
    }
    ours.forget().await?;
    peer.forget().await?;
    print_pairs(&pairs, &args.ours_name, &args.peer_name, args.load.json)
}
