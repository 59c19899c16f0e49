//! Compares plans and errors with several thousand recorded answers of Azure Cosmos DB's own parser
//! and planner. A query that works here must also work there.
//!
//! A line of `service/answers.jsonl` is `[QUERY, ANSWER...]` or `[QUERY, ANSWER..., PARAMETERS]`.
//! An answer is an object with the nonempty fields of a plan, or for each error a text `CODE
//! START-END MESSAGE`. `{"nothing": true}` is the plan of a query that the service knows to have no
//! results; this server plans it like any other query. `tests/cosmos-grammar` has the programs that
//! make such a file. `EBB_SERVICE_ANSWERS` names another file to compare with; its differences are
//! printed.
//!
//! A line of `service/differences.txt` is a reason and a query with different answers. For some
//! reasons a rule decides by the two answers whether the reason applies: queries in the file must
//! follow their rule, and queries of another file that follow one are only counted.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use cosmos_sql::{Diagnostic, SqlError, plan_document};
use document::{
    Document, Value,
    json::{parse, to_string},
};

/// Features that the recorded client declares.
const FEATURES: &[&str] = &[
    "Aggregate",
    "CountIf",
    "DCount",
    "Distinct",
    "GroupBy",
    "ListAndSetAggregate",
    "MultipleAggregates",
    "MultipleOrderBy",
    "NonStreamingOrderBy",
    "NonValueAggregate",
    "OffsetAndLimit",
    "OrderBy",
    "Top",
];

/// A rule that decides, for two answers, whether a reason for their difference applies.
type Rule = fn(&Recorded, &[String]) -> bool;

const REASONS: &[(&str, &str, Option<Rule>)] = &[
    ("absent", "the function or clause is documented as not there, and the answer says so", None),
    (
        "argument",
        "the function has one more argument there that no page of the service describes",
        None,
    ),
    (
        "from",
        "the service's plan has a query that the service refuses, since it asks for the `_rid` of a \
         document of whose elements FROM has names only: this server's plan has one that runs, or none",
        Some(Recorded::asks_for_no_name),
    ),
    (
        "mistakes",
        "several things are wrong, the first of which is told alike: what the service tells of the \
         others depends on how it goes on behind the first",
        Some(Recorded::begins_alike),
    ),
    (
        "nothing",
        "the service knows that the query has no results, and does not look whether it could be run: \
         an order by what is no path, an aggregate inside an expression, or a `*` of several names",
        Some(Recorded::has_nothing_to_run),
    ),
];

/// Minimum number of queries in the file.
const LEAST: usize = 4_900;

#[test]
fn answers_are_those_of_the_service() {
    let other = env::var("EBB_SERVICE_ANSWERS").ok();
    let answers = match &other {
        Some(path) => fs::read_to_string(path).unwrap(),
        None => fs::read_to_string(folder().join("answers.jsonl")).unwrap(),
    };
    let mut listed = if other.is_some() { BTreeMap::new() } else { differences() };
    let (mut wrong, mut count) = (Vec::new(), 0);
    let mut explained = BTreeMap::new();
    for line in answers.lines() {
        let recorded = Recorded::read(line);
        count += 1;
        let got = recorded.answer_here();
        let reason = listed.remove(&recorded.query);
        let is_met = recorded.is_met_by(&got);
        if let Some(reason) = reason.as_deref().filter(|_| !is_met) {
            let rule =
                REASONS.iter().find(|(known, ..)| *known == reason).and_then(|known| known.2);
            if rule.is_some_and(|is| !is(&recorded, &got)) {
                wrong.push(format!("{}\n  is not of the kind '{reason}'", recorded.query));
            }
        }
        if other.is_some() && !is_met {
            let rules = REASONS.iter().filter_map(|(reason, _, rule)| Some((reason, (*rule)?)));
            if let Some((reason, _)) = rules.into_iter().find(|(_, is)| is(&recorded, &got)) {
                *explained.entry(*reason).or_insert(0) += 1;
                continue;
            }
        }
        match (is_met, reason.is_some()) {
            (true, false) | (false, true) => {}
            (true, true) => wrong.push(format!("{}\n  no longer differs", recorded.query)),
            (false, false) => wrong.push(format!(
                "{}\n  service {}\n  here    {}",
                recorded.query,
                recorded.answers.join(" && "),
                got.join(" && ")
            )),
        }
    }
    wrong.extend(listed.keys().map(|query| format!("{query}\n  is listed and not recorded")));
    println!("{count} queries; explained: {explained:?}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(other.is_some() || LEAST <= count, "{count}");
}

/// Returns the path of the recorded answers.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/all/service")
}

/// Returns the queries with different answers, each with the reason.
fn differences() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("differences.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let read = lines.map(|line| {
        let (reason, query) = line.split_once('\t').unwrap();
        assert!(REASONS.iter().any(|(known, ..)| *known == reason), "{line}");
        let Ok(Value::String(query)) = parse(query.as_bytes(), 1) else { panic!("{line}") };
        (query, reason.to_owned())
    });
    let read: BTreeMap<_, _> = read.collect();
    let is_used = |reason: &str| read.values().any(|used| used == reason);
    assert!(REASONS.iter().all(|(reason, ..)| is_used(reason)), "a reason that nothing has");
    read
}

/// A query, and the recorded answer of the service.
struct Recorded {
    query: String,
    answers: Vec<String>,
    /// The rewritten query in Azure Cosmos DB's plan, unchanged.
    rewritten: String,
    parameters: Vec<(String, Value)>,
}

impl Recorded {
    /// Parses a line of the file.
    fn read(line: &str) -> Self {
        let Ok(Value::Array(parts)) = parse(line.as_bytes(), 9) else { panic!("{line}") };
        let mut parts = parts.into_iter();
        let Some(Value::String(query)) = parts.next() else { panic!("{line}") };
        let (mut answers, mut parameters) = (Vec::new(), Vec::new());
        let mut rewritten = String::new();
        for (at, part) in parts.enumerate() {
            match part {
                Value::String(diagnostic) => answers.push(diagnostic),
                Value::Document(plan) if at == 0 => {
                    if let Some(Value::String(query)) = plan.get("rewrittenQuery") {
                        rewritten = query.clone();
                    }
                    answers.push(shown_plan(&plan));
                }
                Value::Document(values) => parameters = values.into_iter().collect(),
                other => panic!("{other:?}"),
            }
        }
        Self { query, answers, rewritten, parameters }
    }

    /// Returns the answer of this server.
    fn answer_here(&self) -> Vec<String> {
        match plan_document(&self.query, &self.parameters, FEATURES) {
            Ok(plan) => {
                let Some(Value::Document(info)) = plan.get("queryInfo") else { panic!("{plan:?}") };
                let said = info.fields().iter().filter(|(_, value)| !is_empty(value));
                vec![shown_plan(&said.cloned().collect())]
            }
            Err(SqlError::Invalid(diagnostics)) => diagnostics.iter().map(shown_mistake).collect(),
            Err(SqlError::Unsupported { what }) => vec![format!("unsupported {what}")],
        }
    }

    /// Returns whether an answer of this server equals the recorded one.
    fn is_met_by(&self, got: &[String]) -> bool {
        if self.has_nothing() { is_plan(got) } else { self.answers == got }
    }

    /// Returns whether the service knows that there are no results.
    fn has_nothing(&self) -> bool {
        matches!(self.answers.as_slice(), [answer] if answer == "{\"nothing\":true}")
    }

    /// Returns whether both answers are plans, and this server refuses the query in Azure Cosmos
    /// DB's plan because of names that its FROM does not define.
    fn asks_for_no_name(&self, got: &[String]) -> bool {
        let sent = self.rewritten.replace("{documentdb-formattableorderbyquery-filter}", "true");
        let names_none =
            |diagnostics: &[Diagnostic]| diagnostics.iter().any(|of| of.code == "SC2001");
        let refused = plan_document(&sent, &self.parameters, FEATURES);
        is_plan(got) && matches!(refused, Err(SqlError::Invalid(of)) if names_none(&of))
    }

    /// Returns whether both answers are errors, and the first errors are equal.
    fn begins_alike(&self, got: &[String]) -> bool {
        let first = self.answers.first();
        first.is_some_and(|first| first.starts_with("SC")) && first == got.first()
    }

    /// Returns whether the service knows that there are no results, and this server refuses the
    /// query for reasons that matter only if it is run.
    fn has_nothing_to_run(&self, got: &[String]) -> bool {
        let is_late = |answer: &String| {
            ["2206 ", "Compositions ", "SC2042 "].iter().any(|begin| answer.starts_with(begin))
        };
        self.has_nothing() && got.iter().all(is_late)
    }
}

/// Returns whether an answer is a plan.
fn is_plan(answers: &[String]) -> bool {
    answers.iter().all(|answer| answer.starts_with('{'))
}

/// Returns whether a field of a plan is empty or has its default value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Document(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty() || text == "None",
        _ => false,
    }
}

/// Returns a plan as text, in which quotes around names and line breaks are normalized.
fn shown_plan(plan: &Document) -> String {
    let mut fields: Vec<(String, Value)> = plan.fields().to_vec();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    let fields = fields.into_iter().map(|(name, value)| match value {
        Value::String(text) => (name, Value::from(plain(&text))),
        Value::Array(texts) => {
            let texts = texts.into_iter().map(|text| match text {
                Value::String(text) => Value::from(plain(&text)),
                other => other,
            });
            (name, Value::Array(texts.collect()))
        }
        Value::Document(of) if name == "groupByAliasToAggregateType" => {
            let mut of: Vec<(String, Value)> = of.into_iter().collect();
            of.sort_by(|a, b| a.0.cmp(&b.0));
            (name, Value::Document(of.into_iter().collect()))
        }
        other => (name, other),
    });
    to_string(Value::Document(fields.collect()).as_ref())
}

/// Returns the text of a query without insignificant white space, and with `.a` in place of
/// `["a"]`.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ").replace("( ", "(").replace(" )", ")");
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("[\"")).map(|at| at + from) {
        let rest = &text[at + 2..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let is_step = text[..at].ends_with(|c: char| c.is_alphanumeric() || "_)]}\"".contains(c));
        let is_name = rest[..end].starts_with(|c: char| c.is_alphabetic() || c == '_');
        from = at + 2;
        if is_step && is_name && rest[end..].starts_with("\"]") {
            let name = format!(".{}", &rest[..end]);
            let whole = at..at + 2 + end + 2;
            text.replace_range(whole, &name);
            from = at;
        }
    }
    text
}

/// Returns an error in the form in which it is recorded.
fn shown_mistake(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, start, end } = diagnostic;
    match *code {
        "" => message.clone(),
        code if code.starts_with("SC") => format!("{code} {start}-{end} {message}"),
        code => format!("{code} {message}"),
    }
}
