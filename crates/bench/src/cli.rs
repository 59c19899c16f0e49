//! Carries out what was typed and prints what came of it.

use std::io::{self, Write};

use serde_json::json;

use crate::{
    args::{Bench, Compare, Load, Mode, Run, Start},
    compare, cosmos,
    error::{Error, Result},
    figures::Figures,
    report::{self, Pair},
    start,
    target::Target,
    work::{self, WORKS},
};

/// Does it. Runs a runtime of its own, so it must not be called from within one.
pub fn main(bench: Bench) -> Result<()> {
    match bench.mode {
        Mode::List => list(),
        Mode::Run(run) => on_runtime(run.load.threads, self::run(run)),
        Mode::Compare(compare) => on_runtime(compare.load.threads, self::compare(compare)),
        Mode::Start(start) => on_runtime(1, self::start(start)),
        Mode::Cosmos(cosmos) => on_runtime(cosmos.threads(), cosmos::run(*cosmos)),
    }
}

fn on_runtime(threads: usize, work: impl Future<Output = Result<()>>) -> Result<()> {
    let mut builder = match threads {
        0 | 1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads.max(1)).enable_all().build()?.block_on(work)
}

fn list() -> Result<()> {
    print(&names(WORKS.iter().map(|entry| (entry.name, entry.about))))
}

/// Names and what they mean, one a line.
pub(crate) fn names<'a>(rows: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.map(|(name, about)| format!("{name:width$}  {about}\n")).collect()
}

async fn run(args: Run) -> Result<()> {
    let works = args.load.works().map_err(Error::Usage)?;
    let settings = args.load.settings();
    let label = args.target.to_string();
    let mut target = Target::new(&label, args.target, args.server_pid, args.data_dir);
    let mut runs = Vec::new();
    for entry in works {
        progress(&format!("{label}: {}", entry.name));
        runs.push(work::run(entry, &mut target, &settings).await?);
    }
    target.forget().await?;
    print_runs(&runs, args.load.json)
}

async fn compare(args: Compare) -> Result<()> {
    let works = args.load.works().map_err(Error::Usage)?;
    let Load { json, .. } = args.load;
    let mut ours = Target::new(&args.ours_name, args.ours, args.ours_pid, args.ours_data_dir);
    let mut peer = Target::new(&args.peer_name, args.peer, args.peer_pid, args.peer_data_dir);
    let mut pairs = Vec::new();
    for entry in works {
        let once = async |target: &mut Target, round: usize| {
            let mut settings = args.load.settings();
            settings.seed = settings.seed.wrapping_add(round as u64);
            progress(&format!("{}, round {}: {}", entry.name, round + 1, target.label));
            work::run(entry, target, &settings).await
        };
        pairs.extend(compare::in_turn(args.rounds, &mut ours, &mut peer, once).await?);
    }
    ours.forget().await?;
    peer.forget().await?;
    print_pairs(&pairs, &args.ours_name, &args.peer_name, json)
}

async fn start(args: Start) -> Result<()> {
    let figures = start::run(&args.spawn, args.times).await?;
    print_runs(&[figures], args.json)
}

pub(crate) fn print_runs(runs: &[Figures], json: bool) -> Result<()> {
    if json {
        let runs: Vec<_> = runs.iter().map(report::to_json).collect();
        return print(&format!("{:#}\n", json!(runs)));
    }
    print(&report::table(runs))
}

pub(crate) fn print_pairs(pairs: &[Pair], ours: &str, peer: &str, json: bool) -> Result<()> {
    if json {
        let pairs = pairs.iter().map(|pair| {
            json!({
                "work": pair.ours.work,
                "ours": report::to_json(&pair.ours),
                "peer": report::to_json(&pair.peer),
            })
        });
        return print(&format!("{:#}\n", json!(pairs.collect::<Vec<_>>())));
    }
    let failures = pairs.iter().flat_map(|pair| [(ours, &pair.ours), (peer, &pair.peer)]);
    for (label, figures) in failures {
        if let Some(failure) = &figures.failure {
            let (work, count) = (figures.work, figures.failures);
            progress(&format!("{label}, {work}: {count} failed, first: {failure}"));
        }
    }
    print(&report::markdown(pairs, ours, peer))
}

pub(crate) fn print(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// A line for whoever waits. Losing it does no harm.
pub(crate) fn progress(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
