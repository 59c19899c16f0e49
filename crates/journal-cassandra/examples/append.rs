//! Measures two ways to append to a journal in Cassandra, and prints a table. D writes a group of
//! entries at a quorum and then reads the shard record at a quorum; B writes the group at a quorum
//! and then raises a guard (a row with the number of the last group) by a lightweight transaction.
//! Needs EBB_CASSANDRA:
//! `tests/cluster/cassandra run cargo run --release -p journal-cassandra --example append`

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the machine's clock")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the example prints its measurements"
)]

use std::{
    error::Error,
    time::{Duration, Instant},
};

use bytes::Bytes;
use cluster::{EntryPart, Ledger, Reply, Request};
use futures_util::{StreamExt, stream};
use journal_cassandra::{CassandraLedger, Options, Replication};
use scylla::{
    client::{session::Session, session_builder::SessionBuilder},
    statement::{Consistency, SerialConsistency, prepared::PreparedStatement},
    value::{CqlValue, Row},
};
use tokio::sync::watch;

type Failure = Box<dyn Error + Send + Sync>;

const SIZES: [usize; 4] = [1 << 10, 16 << 10, 256 << 10, 1 << 20];
const DEPTHS: [usize; 3] = [1, 2, 4];
/// Size of the parts into which entries are divided: the default, and, in `OTHER_PARTS`, sizes that
/// are measured with the largest group.
const PART_BYTES: usize = 256 << 10;
const OTHER_PARTS: [usize; 3] = [64 << 10, 128 << 10, 1 << 20];
/// Maximum number of attempts without a reply before the program gives up.
const MAX_ATTEMPTS: u32 = 100;
const SEGMENT_BYTES: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    D,
    B,
}

/// Time of a group: its write, and the total until it could be acknowledged.
struct Took {
    write: Duration,
    whole: Duration,
}

struct Bench {
    ledger: CassandraLedger,
    session: Session,
    guard: PreparedStatement,
    random_bytes: Bytes,
}

/// A series of groups, with its own epoch so that no group overwrites another.
#[derive(Clone, Copy)]
struct Series {
    way: Way,
    size: usize,
    depth: usize,
    part: usize,
    epoch: u64,
    length: Duration,
}

impl Bench {
    async fn new() -> Result<Self, Failure> {
        let nodes = std::env::var("EBB_CASSANDRA").map_err(|_| "EBB_CASSANDRA names no nodes")?;
        let nodes: Vec<String> = nodes.split(',').map(str::to_owned).collect();
        let options = Options::new(nodes.clone(), format!("append_{}", std::process::id()));
        CassandraLedger::create(&options, &Replication::Simple(3)).await?;
        let ledger = CassandraLedger::connect(&options).await?;
        ledger.execute(Request::MakeShard { shard: 0 }).await?;
        let session = SessionBuilder::new().known_nodes(nodes).build().await?;
        let table = format!("{}.guard", options.keyspace);
        let make =
            format!("CREATE TABLE {table} (shard int PRIMARY KEY, epoch bigint, head bigint)");
        session.query_unpaged(make, ()).await?;
        let text = format!("UPDATE {table} SET head = ? WHERE shard = ? IF epoch = ? AND head = ?");
        let mut guard = session.prepare(text).await?;
        guard.set_consistency(Consistency::Quorum);
        guard.set_serial_consistency(Some(SerialConsistency::Serial));
        let mut random = fastrand::Rng::with_seed(7);
        let random_bytes = (0..2 << 20).map(|_| random.u8(..)).collect();
        let bench = Self { ledger, session, guard, random_bytes };
        bench.make_guards(&table).await?;
        Ok(bench)
    }

    /// Creates a row for each measured shard, which conditional writes compare and change.
    async fn make_guards(&self, table: &str) -> Result<(), Failure> {
        let text = format!("INSERT INTO {table} (shard, epoch, head) VALUES (?, 1, 0)");
        let insert = self.session.prepare(text).await?;
        for shard in 0..64 {
            self.session.execute_unpaged(&insert, (shard,)).await?;
        }
        Ok(())
    }

    /// Appends one group and measures it from the start of its write. Unanswered requests are
    /// repeated.
    async fn append(&self, series: Series, n: u64, head: watch::Sender<u64>) -> (Took, u32) {
        let began = Instant::now();
        let mut unanswered = 0;
        let append = Request::Append {
            shard: 0,
            epoch: series.epoch,
            segment: n * series.size as u64 / SEGMENT_BYTES,
            parts: self.parts(series, n),
        };
        while self.ledger.execute(append.clone()).await.is_err() {
            unanswered += 1;
            assert!(unanswered < MAX_ATTEMPTS, "Cassandra does not answer");
        }
        let write = began.elapsed();
        match series.way {
            Way::D => {
                while !matches!(
                    self.ledger.execute(Request::ReadShard { shard: 0 }).await,
                    Ok(Reply::Shard(Some(_)))
                ) {
                    unanswered += 1;
                    assert!(unanswered < MAX_ATTEMPTS, "Cassandra does not answer");
                }
            }
            Way::B => {
                let mut heads = head.subscribe();
                let before = heads.wait_for(|head| *head + 1 == n).await;
                drop(before.expect("its sender is here"));
                while !self.raise(series.epoch, n).await {
                    unanswered += 1;
                    assert!(unanswered < MAX_ATTEMPTS, "Cassandra does not answer");
                }
                head.send_replace(n);
            }
        }
        (Took { write, whole: began.elapsed() }, unanswered)
    }

    fn parts(&self, Series { size, part: most, .. }: Series, n: u64) -> Vec<EntryPart> {
        // A different slice of the random bytes each time.
        let from = (n as usize * 4_099) % (self.random_bytes.len() - size);
        let body = self.random_bytes.slice(from..from + size);
        let part = |(part, at): (u32, usize)| {
            let end = size.min(at + most);
            EntryPart { n, part, body: body.slice(at..end) }
        };
        (0..).zip((0..size).step_by(most)).map(part).collect()
    }

    /// Raises the number in the guard row, which names the last group, from `n - 1` to `n`. Returns
    /// whether it is then `n`, by this attempt or by an earlier one without a reply.
    async fn raise(&self, epoch: u64, n: u64) -> bool {
        let (guard, n) = (epoch.cast_signed() as i32, n.cast_signed());
        let Ok(answer) = self.session.execute_unpaged(&self.guard, (n, guard, 1_i64, n - 1)).await
        else {
            return false;
        };
        let row: Row = answer
            .into_rows_result()
            .expect("a transaction answers rows")
            .first_row()
            .expect("one of them");
        let is = |value: &CqlValue| *value == CqlValue::Boolean(true);
        row.columns[0].as_ref().is_some_and(is) || row.columns.contains(&Some(CqlValue::BigInt(n)))
    }

    async fn run(&self, series: Series) -> Measured {
        let (head, _) = watch::channel(0);
        let began = Instant::now();
        let numbers = (1_u64..).take_while(|_| began.elapsed() < series.length);
        let groups = numbers.map(|n| self.append(series, n, head.clone()));
        // The results are collected in order, as a journal acknowledges its groups.
        let took: Vec<(Took, u32)> = stream::iter(groups).buffered(series.depth).collect().await;
        Measured { series, seconds: began.elapsed().as_secs_f64(), took }
    }
}

struct Measured {
    series: Series,
    seconds: f64,
    took: Vec<(Took, u32)>,
}

impl Measured {
    fn row(&self) -> String {
        let Series { way, size, depth, part, .. } = self.series;
        let groups = self.took.len() as f64 / self.seconds;
        let of = |each: fn(&Took) -> Duration, share: f64| {
            let mut all: Vec<Duration> = self.took.iter().map(|(took, _)| each(took)).collect();
            all.sort();
            let at = ((all.len() - 1) as f64 * share) as usize;
            all[at].as_secs_f64() * 1e3
        };
        let unanswered: u32 = self.took.iter().map(|(_, unanswered)| unanswered).sum();
        format!(
            "| {way:?} | {} KiB | {} KiB | {depth} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} | {:.1} | {unanswered} |",
            size >> 10,
            part >> 10,
            of(|took| took.whole, 0.5),
            of(|took| took.whole, 0.99),
            of(|took| took.write, 0.5),
            of(|took| took.whole - took.write, 0.5),
            groups,
            groups * size as f64 / f64::from(1 << 20),
        )
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let seconds = std::env::args().nth(1).map_or(Ok(4), |text| text.parse())?;
    let bench = Bench::new().await?;
    let mut series = Series {
        way: Way::D,
        size: 0,
        depth: 2,
        part: PART_BYTES,
        epoch: 0,
        length: Duration::ZERO,
    };
    // Warms up the JVM.
    for (way, size) in [(Way::D, 1 << 10), (Way::B, 1 << 10), (Way::D, 1 << 20)] {
        series.epoch += 1;
        series = Series { way, size, length: Duration::from_secs(3 * seconds), ..series };
        eprintln!("{}", bench.run(series).await.row());
    }
    series.length = Duration::from_secs(seconds);
    println!(
        "| way | group size | max part size | depth | median ms | p99 ms | write ms | rest ms | groups/s | MiB/s | unanswered |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for size in SIZES {
        for depth in DEPTHS {
            for way in [Way::D, Way::B] {
                series.epoch += 1;
                series = Series { way, size, depth, ..series };
                println!("{}", bench.run(series).await.row());
            }
        }
    }
    for part in OTHER_PARTS {
        series.epoch += 1;
        series = Series { way: Way::D, size: 1 << 20, depth: 2, part, ..series };
        println!("{}", bench.run(series).await.row());
    }
    Ok(())
}
