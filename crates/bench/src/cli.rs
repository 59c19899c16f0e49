//! Executes the parsed command line. Results go to standard output, progress and failures to
//! standard error.

use std::io::{self, Write};

use serde_json::json;

use crate::{
    args::{Bench, Growth, Mode, Run, Start},
    closed_loop::LoadTarget,
    compare,
    cosmos::{self, Cosmos, One, Rest},
    entry::{self, Entry},
    error::Result,
    figures::Figures,
    growth,
    mongo::Mongo,
    options::{Compare, Load},
    protocol::{Protocol, Settings},
    report::{self, Pair},
    start,
};

/// Executes a command. Creates a runtime, so it must not be called from within one.
pub(crate) fn main(bench: Bench) -> Result<()> {
    match bench.mode {
        Mode::List => print_text(&entry::list_entries(Mongo::WORKS)),
        Mode::Run(Run { target, data_dir, server_pid, load }) => {
            on_runtime(load.threads, measure_one(target, data_dir, server_pid, load))
        }
        Mode::Compare(args) => on_runtime(args.load.threads, compare_servers(args)),
        Mode::Start(start) => on_runtime(1, self::measure_start(start)),
        Mode::Growth(growth) => on_runtime(growth.threads, measure_growth(growth)),
        Mode::Cosmos(cosmos) => self::run_cosmos(*cosmos),
    }
}

/// Executes a command for the REST API, where measuring one server needs no subcommand.
fn run_cosmos(typed: Cosmos) -> Result<()> {
    match typed.mode {
        None => {
            let One { url, key, server_pid, load } = typed.one;
            on_runtime(load.threads, measure_one(url, key, server_pid, load))
        }
        Some(cosmos::Mode::List) => print_text(&entry::list_entries(Rest::WORKS)),
        Some(cosmos::Mode::Compare(args)) => on_runtime(args.load.threads, compare_servers(*args)),
    }
}

/// Runs the work on this many threads. With one thread the calling thread is used, so that the
/// runtime's own threads do not affect the measured times.
fn on_runtime(threads: usize, work: impl Future<Output = Result<()>>) -> Result<()> {
    let mut builder = match threads {
        0 | 1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads.max(1)).enable_all().build()?.block_on(work)
}

/// Measures one server, workload by workload, and prints all figures at the end. In reports the
/// name of the server is its address. `detail` is an additional parameter of the protocol. `pid` is
/// the process of the server, for its CPU time and memory. After a failure the data are left for
/// inspection.
async fn measure_one<P: Protocol>(
    address: P::Address,
    detail: P::Detail,
    pid: Option<u32>,
    load: Load<P>,
) -> Result<()> {
    let works = load.named_works(pid.is_some())?;
    let settings = load.round_settings(0);
    let mut target = P::reach_server(&address.to_string(), address, detail, pid).await?;
    let mut runs = Vec::new();
    for entry in works {
        print_progress(&format!("{}: {}", target.label(), entry.name));
        runs.push(measure_once::<P>(entry, &mut target, &settings).await?);
    }
    P::remove_data(&mut target).await?;
    print_runs(&runs, load.json)
}

/// Measures two servers and prints their medians side by side. CPU time and memory are measured
/// only if the processes of both servers are given.
async fn compare_servers<P: Protocol>(args: Compare<P>) -> Result<()> {
    let works = args.load.named_works(args.ours_pid.is_some() && args.peer_pid.is_some())?;
    let [ours, peer] = args.details.into();
    let mut ours = P::reach_server(&args.ours_name, args.ours, ours, args.ours_pid).await?;
    let mut peer = P::reach_server(&args.peer_name, args.peer, peer, args.peer_pid).await?;
    let mut pairs = Vec::new();
    for entry in works {
        let once = async |target: &mut P::Target, round: usize| {
            print_progress(&format!("{}, round {}: {}", entry.name, round + 1, target.label()));
            measure_once::<P>(entry, target, &args.load.round_settings(round)).await
        };
        pairs.extend(compare::in_turn(args.rounds, &mut ours, &mut peer, once).await?);
    }
    P::remove_data(&mut ours).await?;
    P::remove_data(&mut peer).await?;
    print_pairs(&pairs, &args.ours_name, &args.peer_name, args.load.json)
}

/// Runs a workload once and returns its measurements, labelled with the workload's name.
async fn measure_once<P: Protocol>(
    entry: &Entry<P::Work>,
    target: &mut P::Target,
    settings: &Settings<P::Sizes>,
) -> Result<Figures> {
    let plan = settings.plan_run(entry.connections);
    let figures = P::run_work(entry.work, target, plan, settings).await?;
    Ok(Figures { work: entry.name, ..figures })
}

/// Measures how a server starts; needs no address because it starts the server itself.
async fn measure_start(args: Start) -> Result<()> {
    let figures = start::run_starts(&args.spawn, args.times).await?;
    print_runs(&[figures], args.json)
}

/// Measures servers with growing numbers of documents, which it starts itself.
async fn measure_growth(args: Growth) -> Result<()> {
    let sizes = growth::run_growth(&args, print_progress).await?;
    if args.json {
        return print_runs(&sizes, true);
    }
    print_text(&report::growth_markdown(&sizes))
}

/// Prints runs as a table or as a JSON array.
fn print_runs(runs: &[Figures], json: bool) -> Result<()> {
    if json {
        let runs: Vec<_> = runs.iter().map(report::to_json).collect();
        return print_text(&format!("{:#}\n", json!(runs)));
    }
    print_text(&report::runs_table(runs))
}

/// Prints pairs as markdown or as a JSON array, `[{"work", "ours", "peer"}]`. Markdown has no
/// column for failures, so their first reasons go to standard error.
fn print_pairs(pairs: &[Pair], ours: &str, peer: &str, json: bool) -> Result<()> {
    if json {
        let pairs = pairs.iter().map(|pair| {
            json!({
                "work": pair.ours.work,
                "ours": report::to_json(&pair.ours),
                "peer": report::to_json(&pair.peer),
            })
        });
        return print_text(&format!("{:#}\n", json!(pairs.collect::<Vec<_>>())));
    }
    let failures = pairs.iter().flat_map(|pair| [(ours, &pair.ours), (peer, &pair.peer)]);
    for (label, figures) in failures {
        if let Some(failure) = &figures.failure {
            let (work, count) = (figures.work, figures.failures);
            print_progress(&format!("{label}, {work}: {count} failed, first: {failure}"));
        }
    }
    print_text(&report::pairs_markdown(pairs, ours, peer))
}

/// Writes to standard output. A closed pipe is an error, like any other failure.
fn print_text(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// Prints a progress line; errors are ignored.
fn print_progress(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
