//! Carries out what was typed and prints what came of it.

use std::io::{self, Write};

use serde_json::json;

use crate::{
    args::{Bench, Compare, Load, Mode, Run, Start},
    error::{Error, Result},
    figures::{Figures, medians},
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
    let width = WORKS.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in WORKS {
        text += &format!("{:width$}  {}\n", entry.name, entry.about);
    }
    print(&text)
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
        let mut runs = [Vec::new(), Vec::new()];
        for round in 0..args.rounds.max(1) {
            let mut settings = args.load.settings();
            settings.seed = settings.seed.wrapping_add(round as u64);
            let mut sides = [(0, &mut ours), (1, &mut peer)];
            if round % 2 == 1 {
                sides.reverse();
            }
            for (side, target) in sides {
                progress(&format!("{}, round {}: {}", entry.name, round + 1, target.label));
                runs[side].push(work::run(entry, target, &settings).await?);
            }
        }
        let [ours, peer] = runs.map(|runs| medians(&runs));
        if let (Some(ours), Some(peer)) = (ours, peer) {
            pairs.push(Pair { ours, peer });
        }
    }
    ours.forget().await?;
    peer.forget().await?;
    print_pairs(&pairs, &args.ours_name, &args.peer_name, json)
}

async fn start(args: Start) -> Result<()> {
    let figures = start::run(&args.spawn, args.times).await?;
    print_runs(&[figures], args.json)
}

fn print_runs(runs: &[Figures], json: bool) -> Result<()> {
    if json {
        let runs: Vec<_> = runs.iter().map(report::to_json).collect();
        return print(&format!("{:#}\n", json!(runs)));
    }
    print(&report::table(runs))
}

fn print_pairs(pairs: &[Pair], ours: &str, peer: &str, json: bool) -> Result<()> {
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

fn print(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// A line for whoever waits. Losing it does no harm.
fn progress(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
