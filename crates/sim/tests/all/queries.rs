//! Queries over items: for all documents, policies and queries, the result and its order are the
//! same with and without indexes, and in pages of any size.

use std::sync::Arc;

use clock::Instant;
use document::{DocRef, Document, Value, ValueRef, array, json};
use engine::{
    Collection, ContainerDefinition, CreationOrder, DefaultTtl, Error, Flow, IndexSpec, Item,
    ItemAction, ItemKey, ItemRange, ItemSink, ItemWrite, ItemWriter, Kind, Lifetime, Namespace,
    Partition, Policy, PolicyRule, Scan, ScanOrder, VersionMatch,
};
use evaluation::Context;
use select::{
    plan::Select,
    sarg::PathStep,
    statement::{PageLimit, Resume, Run},
};
use test_kit::{Kit, ready};

struct Plain;

impl ItemWriter for Plain {
    fn lifetime_of(&self, _: DefaultTtl, _: DocRef<'_>) -> Result<Lifetime, Error> {
        Ok(Lifetime::Inherit)
    }
}

/// Passes the items of a scan to the execution of a query. The second field is true if the plan
/// streams; the third is the order of the items.
pub(crate) struct Feed(pub(crate) Run, pub(crate) bool, pub(crate) ScanOrder);

impl ItemSink for Feed {
    fn begin(&mut self, comes: ScanOrder, at: Instant) -> Result<(), Error> {
        self.2 = comes;
        self.0.start_over_at(at.ms);
        self.0.set_sorted(comes == ScanOrder::AsRequested || self.1);
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<Flow, Error> {
        // Only a plan that streams depends on the order of the scan.
        match self.2 {
            ScanOrder::ByKey if self.1 => Ok(self.0.feed_row(&item.key, item.document())?),
            _ => Ok(self.0.feed_row(&item.creation_stamp.to_be_bytes(), item.document())?),
        }
    }
}

struct Shelf {
    kit: Kit,
    container: Arc<Collection>,
}

type Answer = Result<Vec<String>, Kind>;

impl Shelf {
    fn new(indexes: Vec<IndexSpec>) -> Self {
        let kit = Kit::default();
        let definition = ContainerDefinition {
            default: DefaultTtl::Off,
            partition: Partition { hash_bytes: 1, values: 1 },
            indexes,
            retention_s: None,
            options: Document::new(),
        };
        let name = Namespace::new("db", "items");
        let container = ready(kit.engine.create_container(&name, &definition)).unwrap();
        Self { kit, container }
    }

    fn put(&self, id: &str, document: &Document) {
        let pk = [id.len() as u8];
        let write = ItemWrite {
            key: ItemKey::new(&pk, &[ValueRef::Null], id),
            action: ItemAction::Upsert(document.to_buf()),
            if_match: VersionMatch::Any,
        };
        ready(self.kit.engine.write_items(&self.container, &[write], &Plain)).unwrap();
    }

    /// Runs a query page by page. Returns all results, and whether an index was used.
    fn run(&self, select: &Arc<Select>, items: usize, no_index: bool) -> (Answer, bool) {
        let (mut out, mut resume, mut used): (_, Option<Resume>, _) = (Vec::new(), None, false);
        let mut creation_order =
            if select.streams_rows() { CreationOrder::WhereFew } else { CreationOrder::Never };
        loop {
            let limit = PageLimit { items, bytes: usize::MAX };
            let run = Run::new(Arc::clone(select), Context::default(), resume, limit);
            let scan = Scan {
                sarg: select.sarg().clone(),
                after: run.start_after(),
                creation_order,
                order: select.order_paths().unwrap_or_default(),
                seek: run.seek_position(),
                no_index,
                ..Scan::of(ItemRange::all())
            };
            let mut feed = Feed(run, select.streams_rows(), ScanOrder::ByKey);
            let context = Context::default();
            let scanned =
                ready(self.kit.engine.scan_items(&self.container, &scan, &context, &mut feed));
            let page = scanned.and_then(|scanned| {
                used |= !scanned.indexes.is_empty();
                assert!(feed.2 == ScanOrder::ByCreation || creation_order == CreationOrder::Never);
                creation_order = if feed.2 == ScanOrder::ByCreation {
                    CreationOrder::Always
                } else {
                    CreationOrder::Never
                };
                Ok(feed.0.finish_page(scanned.ended)?)
            });
            match page {
                Err(error) => return (Err(error.kind), used),
                Ok(page) => {
                    out.extend(page.values.iter().map(|value| json::to_string(value.as_ref())));
                    match page.resume {
                        None => return (Ok(out), used),
                        Some(next) => {
                            let bytes = next.to_bytes();
                            assert!(bytes.len() < 700);
                            resume = Resume::from_bytes(&bytes);
                            assert!(resume.is_some());
                        }
                    }
                }
            }
        }
    }
}

pub(crate) fn pick<'a, T: ?Sized>(random: &mut fastrand::Rng, of: &[&'a T]) -> &'a T {
    of[random.usize(..of.len())]
}

/// Returns short texts, and long texts that differ near the length up to which a path index stores
/// them.
fn text(random: &mut fastrand::Rng) -> &'static str {
    const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    match random.u8(..4) {
        0 => &LONG[..random.usize(36..=LONG.len())],
        1 => &LONG[random.usize(..4)..],
        _ => pick(random, &["", "a", "ab", "b", "B", "a%"]),
    }
}

fn value(random: &mut fastrand::Rng, depth: usize) -> Value {
    match random.u8(..if depth == 0 { 7 } else { 10 }) {
        0 => Value::Null,
        1 => Value::Bool(random.bool()),
        2 | 3 => Value::Int64(random.i64(-2..3)),
        4 => Value::Double(1.5),
        5 => Value::Int64(1 << 53),
        6 => Value::String(text(random).to_owned()),
        7 => array![value(random, depth - 1), value(random, depth - 1)],
        8 => array![],
        _ => Value::Document(object(random, depth - 1)),
    }
}

pub(crate) fn object(random: &mut fastrand::Rng, depth: usize) -> Document {
    let mut out = Document::new();
    for name in ["a", "b", "c"] {
        if random.u8(..4) != 0 {
            out.push(name, value(random, depth));
        }
    }
    out
}

fn literal(random: &mut fastrand::Rng) -> String {
    let depth = usize::from(random.u8(..8) == 0);
    json::to_string(value(random, depth).as_ref())
}

fn path(random: &mut fastrand::Rng) -> &'static str {
    pick(random, &["c.a", "c.b", "c.a", "c.c", "c.a.b", "c.b.c", "c[\"a\"]", "c.a[0]", "c.b[1].a"])
}

fn condition(random: &mut fastrand::Rng, depth: usize) -> String {
    let (p, q) = (path(random), path(random));
    if 0 < depth && random.bool() {
        let (x, y) = (condition(random, depth - 1), condition(random, depth - 1));
        return match random.u8(..4) {
            0 => format!("NOT ({x})"),
            1 => format!("({x}) OR ({y})"),
            _ => format!("({x}) AND ({y})"),
        };
    }
    let (v, w) = (literal(random), literal(random));
    let text = if random.bool() { text(random) } else { pick(random, &["b", "A"]) };
    let like = pick(random, &["a%", "%a", "_", "a", "", "%", "a!%", "[a-b]%", "a_%"]);
    let operator = pick(random, &["=", "!=", "<", "<=", ">", ">="]);
    match random.u8(..20) {
        0..=4 => format!("{p} {operator} {v}"),
        5 => format!("{v} {operator} {p}"),
        6 => format!("{p} {operator} {q}"),
        7 => format!("{p} IN ({v}, {w})"),
        8 => format!("{p} NOT IN ({v}, {w})"),
        9 => format!("{p} BETWEEN {v} AND {w}"),
        10 => format!("STARTSWITH({p}, \"{text}\")"),
        11 => format!("STARTSWITH({p}, \"{text}\", true)"),
        12 => format!("CONTAINS({p}, \"{text}\")"),
        13 => format!("ENDSWITH({p}, \"{text}\")"),
        14 => format!("{p} LIKE \"{like}\" ESCAPE \"!\""),
        15 => format!("IS_DEFINED({p})"),
        16 => format!("ARRAY_CONTAINS({p}, {v})"),
        17 => format!("EXISTS(SELECT VALUE z FROM z IN {p} WHERE z {operator} {v})"),
        18 => format!("({p} ?? {v}) = {w}"),
        _ => format!("{}({p})", pick(random, &["IS_NULL", "IS_NUMBER", "IS_STRING", "IS_ARRAY"])),
    }
}

pub(crate) fn query(random: &mut fastrand::Rng) -> String {
    let select = pick(
        random,
        &["*", "VALUE c.id", "c.id, c.a", "DISTINCT VALUE c.a", "TOP 3 c.id", "VALUE COUNT(1)"],
    );
    let mut text = format!("SELECT {select} FROM c");
    if select != "VALUE COUNT(1)" && random.u8(..6) == 0 {
        text.push_str(" JOIN x IN c.b");
    }
    let ordered = select != "VALUE COUNT(1)" && !select.starts_with("DISTINCT");
    let order = if ordered { order(random) } else { String::new() };
    let mut conditions = Vec::new();
    if random.u8(..8) != 0 {
        conditions.push(format!("({})", condition(random, 2)));
    }
    if !order.is_empty() && random.bool() {
        conditions.push(match random.u8(..3) {
            0 => "IS_DEFINED(c.a)".to_owned(),
            1 => format!("c.a >= {}", literal(random)),
            _ => format!("c.a < \"{}\"", self::text(random)),
        });
    }
    if !conditions.is_empty() {
        text.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
    }
    if select == "*" && text.contains("JOIN") {
        text = text.replacen('*', "c.id", 1);
    }
    text.push_str(&order);
    if !select.starts_with("TOP") && random.u8(..8) == 0 {
        text.push_str(" OFFSET 1 LIMIT 4");
    }
    text
}

/// Returns an ORDER BY clause or an empty string.
fn order(random: &mut fastrand::Rng) -> String {
    match random.u8(..12) {
        0 => " ORDER BY c.a ASC, c.b DESC".to_owned(),
        1 => " ORDER BY c.a DESC, c.b ASC".to_owned(),
        2..=5 => {
            let path = pick(random, &["c.a", "c.a", "c.a.b"]);
            format!(" ORDER BY {path}{}", pick(random, &["", " ASC", " DESC", " DESC"]))
        }
        _ => String::new(),
    }
}

pub(crate) fn policy(random: &mut fastrand::Rng) -> Policy {
    let rule = |steps: &[&str], below, included| PolicyRule {
        steps: steps.iter().map(|name| PathStep::Property((*name).to_owned())).collect(),
        below,
        included,
    };
    let mut rules = match random.u8(..4) {
        0 => vec![rule(&["a"], false, true)],
        1 => vec![rule(&["a"], true, true), rule(&["b"], true, true)],
        _ => vec![rule(&[], true, true)],
    };
    if random.bool() {
        rules.push(rule(&["a", "b"], true, false));
    }
    Policy(rules)
}

/// Returns an index over two paths, or `None`.
pub(crate) fn composite(random: &mut fastrand::Rng) -> Option<IndexSpec> {
    let path = |name: &str| vec![name.to_owned()];
    random.bool().then(|| {
        let turned = random.bool();
        let paths = [(path("a"), turned), (path("b"), !turned)];
        IndexSpec::over_tuple("ab", &paths, false)
    })
}

/// Returns the number of cases, by default 100,000; `EBB_CASES` overrides it.
pub(crate) fn cases() -> usize {
    std::env::var("EBB_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100_000)
}

#[test]
fn an_index_changes_no_answer() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut run, mut used, mut found) = (0, 0, 0);
    while run < cases() {
        let mut indexes = vec![IndexSpec::over_policy("paths", policy(&mut random))];
        indexes.extend(composite(&mut random));
        let shelf = Shelf::new(indexes);
        for at in 0..random.usize(1..16) {
            let mut document = object(&mut random, 2);
            let id = format!("{}{at}", "x".repeat(random.usize(..3)));
            document.push("id", id.as_str());
            shelf.put(&id, &document);
        }
        for _ in 0..500 {
            let text = query(&mut random);
            let select = cosmos_sql::compile(&text, &[]);
            let select = Arc::new(select.unwrap_or_else(|error| panic!("{text}: {error:?}")));
            let (want, _) = shelf.run(&select, usize::MAX, true);
            let (answer, by_index) = shelf.run(&select, random.usize(1..6), false);
            assert_eq!(answer, want, "{text}");
            run += 1;
            used += usize::from(by_index);
            found += usize::from(want.is_ok_and(|want| !want.is_empty()));
        }
    }
    assert!(run / 5 < used && run / 5 < found, "{used} by index, {found} found, of {run}");
}

/// A query in the order of a path sorts the items with equal index keys; here they need more memory
/// than a scan may use for that.
#[test]
fn many_bytes_of_items_that_an_index_does_not_tell_apart() {
    let rule = PolicyRule { steps: Vec::new(), below: true, included: true };
    let shelf = Shelf::new(vec![IndexSpec::over_policy("paths", Policy(vec![rule]))]);
    let filler = "x".repeat(1_500_000);
    for at in 0..24_i64 {
        let id = format!("{at}");
        let mut document = Document::new();
        document.push("id", id.as_str());
        document.push("a", array![at * 7 % 24]);
        document.push("filler", filler.as_str());
        shelf.put(&id, &document);
    }
    for text in
        ["SELECT VALUE c.a FROM c ORDER BY c.a DESC", "SELECT VALUE c.a FROM c ORDER BY c.a"]
    {
        let select = Arc::new(cosmos_sql::compile(text, &[]).unwrap());
        let (want, _) = shelf.run(&select, usize::MAX, true);
        assert_eq!(want.as_ref().map(Vec::len), Ok(24));
        assert_eq!(shelf.run(&select, 5, false).0, want, "{text}");
    }
}

/// A request may arrive at another instant than the instant of its view. The view's instant decides
/// the expiry of rows, and functions for the current time return it, with every plan.
#[test]
fn a_query_tells_the_instant_of_its_view() {
    let rule = PolicyRule { steps: Vec::new(), below: true, included: true };
    let shelf = Shelf::new(vec![IndexSpec::over_policy("paths", Policy(vec![rule]))]);
    let mut document = Document::new();
    document.push("id", "1");
    document.push("a", 1);
    shelf.put("1", &document);
    for rest in ["", " WHERE c.a = 1", " ORDER BY c.a", " ORDER BY c.a DESC"] {
        let text = format!("SELECT VALUE GetCurrentTimestamp() FROM c{rest}");
        let select = Arc::new(cosmos_sql::compile(&text, &[]).unwrap());
        let now = vec![ready(shelf.kit.engine.now()).unwrap().ms.to_string()];
        for no_index in [false, true] {
            assert_eq!(shelf.run(&select, 9, no_index).0.as_ref(), Ok(&now), "{text}");
        }
        shelf.kit.move_to(shelf.kit.now_ms() + 1_000);
    }
}
