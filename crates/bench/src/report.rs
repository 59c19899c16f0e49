//! Formats figures as a table for people, as JSON for programs and as markdown for documentation.
//!
//! ```text
//! table:     one line for each workload, then "work | figure | value" for the extras
//! JSON:      [{"work": "point-8", "operations_per_second": .., "latency_us": {..}, "extras": {..}}]
//! markdown:  one line for each workload with both servers' figures, then the extras of both
//! ```
//!
//! Names of JSON fields and of extras are read by scripts and must not change.

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde_json::{Value, json};

use crate::figures::Figures;

/// Figures of two servers for one workload.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) ours: Figures,
    pub(crate) peer: Figures,
}

/// Column headings of the printed table.
const HEAD: [&str; 11] = [
    "work",
    "conns",
    "op/s",
    "p50 us",
    "p95 us",
    "p99 us",
    "max us",
    "CPU us/op",
    "RSS MB",
    "client",
    "failed",
];

/// Returns a table of runs, a table of extra figures, and the reasons of failures. Workloads
/// without a rate (`disk`, `start`, `memory`) are only in the second table.
pub(crate) fn runs_table(runs: &[Figures]) -> String {
    let mut out = String::new();
    let measured: Vec<&Figures> = runs.iter().filter(|figures| 0.0 < figures.rate).collect();
    if !measured.is_empty() {
        out = format_grid(&HEAD, measured.iter().map(|figures| table_row(figures).to_vec()));
    }
    let extras = runs.iter().flat_map(|figures| {
        figures.extras.iter().map(|extra| {
            vec![figures.work.to_owned(), extra.name.to_owned(), format_number(extra.value)]
        })
    });
    let extras: Vec<Vec<String>> = extras.collect();
    if !extras.is_empty() {
        out += &format_grid(&["work", "figure", ""], extras.into_iter());
    }
    for figures in runs {
        if let Some(failure) = &figures.failure {
            out += &format!("{}: {} failed, first: {failure}\n", figures.work, figures.failures);
        }
    }
    out
}

/// Formats a table with numbers right-aligned.
fn format_grid(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(head.to_vec());
    for row in rows {
        let cells = row.into_iter().enumerate().map(|(column, text)| {
            let side = if column == 0 || text.parse::<f64>().is_err() {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            };
            Cell::new(text).set_alignment(side)
        });
        table.add_row(cells);
    }
    format!("{table}\n")
}

/// Returns the line of a run in the table of runs; memory is in megabytes of 10^6.
fn table_row(figures: &Figures) -> [String; HEAD.len()] {
    [
        figures.work.to_owned(),
        figures.connections.to_string(),
        format_number(figures.rate),
        format_number(figures.p50),
        format_number(figures.p95),
        format_number(figures.p99),
        format_number(figures.max),
        format_optional(figures.server_cpu),
        format_optional(figures.server_memory.map(|bytes| bytes / 1e6)),
        format!("{:.0}%", figures.client_busy * 100.0),
        format_number(figures.failures),
    ]
}

/// Formats a run as JSON; names include units.
pub(crate) fn to_json(figures: &Figures) -> Value {
    let extras: serde_json::Map<String, Value> =
        figures.extras.iter().map(|extra| (extra.name.to_owned(), json!(extra.value))).collect();
    json!({
        "work": figures.work,
        "connections": figures.connections,
        "operations": figures.operations,
        "failures": figures.failures,
        "failure": figures.failure,
        "operations_per_second": figures.rate,
        "latency_us": {
            "p50": figures.p50, "p95": figures.p95, "p99": figures.p99, "max": figures.max,
        },
        "server_cpu_us_per_operation": figures.server_cpu,
        "server_resident_bytes": figures.server_memory,
        "client_busy": figures.client_busy,
        "extras": extras,
    })
}

/// Formats two servers side by side in markdown. Ratios are the values of our server divided by
/// those of the other.
pub(crate) fn pairs_markdown(pairs: &[Pair], ours: &str, peer: &str) -> String {
    let mut out = format!(
        "| work | connections | {ours} op/s | {peer} op/s | ratio | {ours} CPU us/op | \
         {peer} CPU us/op | ratio | {ours} p99 us | {peer} p99 us |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for Pair { ours, peer } in pairs.iter().filter(|pair| 0.0 < pair.ours.rate) {
        let cpu = ours.server_cpu.zip(peer.server_cpu);
        let cells = [
            ours.work.to_owned(),
            ours.connections.to_string(),
            format_number(ours.rate),
            format_number(peer.rate),
            format_ratio(Some((ours.rate, peer.rate))),
            format_optional(ours.server_cpu),
            format_optional(peer.server_cpu),
            format_ratio(cpu),
            format_number(ours.p99),
            format_number(peer.p99),
        ];
        out += &format!("| {} |\n", cells.join(" | "));
    }
    let extras: String = pairs
        .iter()
        .flat_map(|Pair { ours, peer }| {
            ours.extras.iter().map(|extra| {
                let theirs = format_optional(peer.find_extra(extra.name));
                let (work, name, value) = (ours.work, extra.name, format_number(extra.value));
                format!("| {work} | {name} | {value} | {theirs} |\n")
            })
        })
        .collect();
    if !extras.is_empty() {
        out += &format!("\n| work | figure | {ours} | {peer} |\n|---|---|--:|--:|\n{extras}");
    }
    out
}

/// Formats runs with growing numbers of documents side by side in markdown, with a line for each
/// figure.
pub(crate) fn growth_markdown(sizes: &[Figures]) -> String {
    let Some(first) = sizes.first() else { return String::new() };
    let lines = first.extras.iter().map(|extra| {
        let cells: String = sizes
            .iter()
            .map(|figures| format!(" {} |", format_optional(figures.find_extra(extra.name))))
            .collect();
        format!("| {} |{cells}\n", extra.name)
    });
    let mut lines: Vec<String> = lines.collect();
    // The first figure is the size, which becomes the table header.
    lines.insert(1.min(lines.len()), format!("|---|{}\n", "--:|".repeat(sizes.len())));
    lines.concat()
}

/// Returns the first number divided by the second.
fn format_ratio(pair: Option<(f64, f64)>) -> String {
    match pair {
        Some((ours, peer)) if 0.0 < peer => format!("{:.2}x", ours / peer),
        _ => "-".to_owned(),
    }
}

/// Returns a number, or a dash if it is unknown.
fn format_optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), format_number)
}

/// Returns a number with at least three significant digits, without an exponent. An infinite value
/// means that the goal was not reached.
fn format_number(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 1.0 && size != 0.0 => 3,
        size if size < 10.0 && size.fract() != 0.0 => 2,
        size if size < 100.0 && size.fract() != 0.0 => 1,
        _ => 0,
    };
    if value.is_finite() { format!("{value:.digits$}") } else { "not reached".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, want) in [
            (0.0, "0"),
            (0.1234, "0.123"),
            (1.5, "1.50"),
            (3.0, "3"),
            (42.25, "42.2"),
            (1234.5, "1234"),
            (f64::INFINITY, "not reached"),
        ] {
            assert_eq!(format_number(value), want);
        }
    }

    fn figures(rate: f64, cpu: Option<f64>) -> Figures {
        let mut figures =
            Figures { work: "w", connections: 8, rate, server_cpu: cpu, ..Figures::default() };
        figures.add_extra("late", rate);
        figures
    }

    #[test]
    fn sides_are_compared() {
        for (ours, peer, row, extra) in [
            (
                figures(300.0, Some(10.0)),
                figures(200.0, Some(20.0)),
                "| w | 8 | 300 | 200 | 1.50x | 10 | 20 | 0.50x | 0 | 0 |",
                "| w | late | 300 | 200 |",
            ),
            (
                figures(2.0, None),
                figures(0.0, Some(1.0)),
                "| w | 8 | 2 | 0 | - | - | 1 | - | 0 | 0 |",
                "| w | late | 2 | 0 |",
            ),
        ] {
            let text = pairs_markdown(&[Pair { ours, peer }], "ebb", "mongod");
            assert!(text.contains(row), "{text}");
            assert!(text.contains(extra), "{text}");
        }
    }

    #[test]
    fn tables_leave_out_what_was_not_measured() {
        let text = runs_table(&[figures(300.0, None)]);
        assert!(text.contains("op/s") && text.contains("late"), "{text}");
        let text = runs_table(&[figures(0.0, None)]);
        assert!(!text.contains("op/s") && text.contains("late"), "{text}");
    }

    #[test]
    fn sizes_are_side_by_side() {
        let at = |documents: f64, late: f64| {
            let mut figures = Figures::default();
            figures.add_extra("documents", documents);
            figures.add_extra("late", late);
            figures
        };
        let want = "| documents | 100 | 1000 |\n|---|--:|--:|\n| late | 2.50 | not reached |\n";
        assert_eq!(growth_markdown(&[at(100.0, 2.5), at(1000.0, f64::INFINITY)]), want);
        assert_eq!(growth_markdown(&[]), "");
    }

    #[test]
    fn programs_get_everything() {
        let json = to_json(&figures(300.0, Some(2.5)));
        assert_eq!(json["operations_per_second"], 300.0);
        assert_eq!(json["server_cpu_us_per_operation"], 2.5);
        assert_eq!(json["server_resident_bytes"], Value::Null);
        assert_eq!(json["extras"]["late"], 300.0);
    }
}
