//! Queries that multiply a value: each is refused while the memory that it holds is still small.
//! The test reads the memory of the whole process, so it is the only test of its program.

#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

use std::sync::Arc;

use cosmos_sql::compile;
use evaluation::{Context, Error, Kind, OperationMemory, numbers::BUSY};
use memory::Account;
use select::statement::{Page, PageLimit, Run};

/// Number of times that a literal contains the long text.
const TIMES: usize = 3_000;
const MB: usize = 1 << 20;
/// Maximum memory of one run: 256 MB for results, 100 MB for values that are being built, and
/// copies of single values.
const MOST: usize = 400 * MB;

/// Returns `part` repeated `count` times, each with its number in place of `#`.
fn times(count: usize, part: &str) -> String {
    (0..count).map(|at| part.replace('#', &at.to_string())).collect::<Vec<_>>().join(",")
}

/// Returns queries whose conditions, keys, projections or rows would take gigabytes.
fn bombs() -> Vec<String> {
    let long = times(TIMES, "c.s");
    let lists = times(100_000, "c.a");
    let named = times(TIMES, "'f#':c.s");
    let selected = times(TIMES, "c.s AS f#");
    let own = times(TIMES, "CONCAT(c.s,'a')");
    let joined =
        (0..10).map(|at| format!(" JOIN (SELECT VALUE [c.s,c.s,c.s,c.s,c.s,c.s,c.s]) x{at}"));
    let joined: String = joined.collect();
    vec![
        "SELECT VALUE ARRAY(SELECT VALUE c.s FROM x IN c.a) FROM c".to_owned(),
        "SELECT VALUE ARRAY(SELECT VALUE CONCAT(c.s,'a') FROM x IN c.a) FROM c".to_owned(),
        "SELECT VALUE ARRAY(SELECT c.s, x FROM x IN c.a) FROM c".to_owned(),
        "SELECT VALUE ARRAY(SELECT DISTINCT VALUE CONCAT(c.s, TOSTRING(x)) FROM x IN c.a) FROM c"
            .to_owned(),
        "SELECT VALUE ARRAY(SELECT DISTINCT VALUE [c.s, x] FROM x IN c.a) FROM c"
            .to_owned(),
        "SELECT VALUE ARRAY(SELECT VALUE COUNT(1) FROM x IN c.a GROUP BY [c.s, x]) FROM c"
            .to_owned(),
        "SELECT VALUE (SELECT VALUE MAKELIST([c.s, x]) FROM x IN c.a) FROM c".to_owned(),
        "SELECT VALUE EXISTS(SELECT VALUE y FROM y IN (SELECT VALUE CONCAT(c.s, 'a') FROM x IN c.a))
         FROM c".to_owned(),
        "SELECT VALUE MAKELIST(c.s) FROM c JOIN x IN c.a".to_owned(),
        "SELECT VALUE MAKESET([c.s, x]) FROM c JOIN x IN c.a".to_owned(),
        "SELECT c.s, x FROM c JOIN x IN c.a ORDER BY x".to_owned(),
        "SELECT DISTINCT c.s, x FROM c JOIN x IN c.a".to_owned(),
        "SELECT DISTINCT VALUE [c.s, x] FROM c JOIN x IN c.a ORDER BY x".to_owned(),
        "SELECT COUNT(1) FROM c JOIN x IN c.a GROUP BY c.s, x".to_owned(),
        "SELECT VALUE y FROM (SELECT VALUE [c.s, x] FROM c JOIN x IN c.a) y".to_owned(),
        format!("SELECT VALUE [{lists}] FROM c"),
        format!("SELECT VALUE [{long}] FROM c"),
        format!("SELECT VALUE [{own}] FROM c"),
        format!("SELECT VALUE {{{named}}} FROM c"),
        format!("SELECT {selected} FROM c"),
        format!("SELECT * FROM c WHERE IS_ARRAY([{long}])"),
        format!("SELECT * FROM c WHERE IS_OBJECT({{{named}}})"),
        format!("SELECT * FROM c WHERE [{long}] = [1]"),
        format!("SELECT * FROM c WHERE CONCAT({own}) = 'a'"),
        format!("SELECT * FROM c WHERE CHOOSE(1, {own}) = 'a'"),
        format!("SELECT * FROM c WHERE ARRAY_CONCAT({}) = []", times(TIMES, "[c.s]")),
        format!("SELECT COUNT(1) FROM c GROUP BY [{long}]"),
        format!("SELECT VALUE x0[0] FROM c{joined}"),
    ]
}

fn run(query: &str, document: document::DocRef<'_>, account: &Account) -> Result<Page, Error> {
    let context =
        Context { operation_memory: OperationMemory::from_account(account), ..Context::default() };
    let limit = PageLimit { items: 1_000, bytes: 4 * MB };
    let plan = Arc::new(compile(query, &[]).unwrap_or_else(|error| panic!("{query:.80}: {error}")));
    let mut run = Run::new(plan, context, None, limit);
    run.feed_row(b"1", document)?;
    run.finish_page(true)
}

/// Returns the peak memory of this process in bytes; 0 if the system does not report it.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0_usize) * 1024
}

#[test]
fn what_multiplies_a_value_is_refused_while_it_is_small() {
    let numbers = times(3_000, "#");
    let text = format!("{{\"a\":[{numbers}],\"s\":\"{}\"}}", "x".repeat(1_900_000));
    let document = document::json::parse_document(text.as_bytes(), 9).unwrap().to_buf();
    for query in bombs() {
        let account = Account::new(usize::MAX);
        let error = run(&query, document.as_ref(), &account).unwrap_err();
        assert_eq!(error.kind, Kind::TooLarge, "{query:.80}: {error}");
        assert!(peak() < MOST, "{query:.80}: {} MB", peak() / MB);
        assert_eq!(account.used_bytes(), 0, "{query:.80}");
        // With less memory in the account, the query is refused for lack of memory or, as before,
        // because it is too large.
        let account = Account::new(12 * MB);
        let error = run(&query, document.as_ref(), &account).unwrap_err();
        let short = error.kind == Kind::Short && error.number == BUSY;
        assert!(short || error.kind == Kind::TooLarge, "{query:.80}: {error}");
        assert_eq!(account.used_bytes(), 0, "{query:.80}");
    }
    // Allowed queries succeed at the same time, and release their memory.
    let account = Account::new(64 * MB);
    for (query, results) in [
        ("SELECT VALUE [c.s, c.s, c.s, c.s, c.s, c.s, c.s, c.s] FROM c", 1),
        ("SELECT VALUE ARRAY(SELECT VALUE x FROM x IN c.a) FROM c", 1),
        ("SELECT DISTINCT VALUE x FROM c JOIN x IN c.a", 1_000),
        ("SELECT x, COUNT(1) FROM c JOIN x IN c.a GROUP BY x", 1_000),
    ] {
        let page = run(query, document.as_ref(), &account).unwrap();
        assert_eq!(page.values.len(), results, "{query}");
        assert!(0 < account.used_bytes(), "{query}");
        drop(page);
        assert_eq!(account.used_bytes(), 0, "{query}");
    }
}
