//! Pipelines that depend only on the number of their rows: `$count`, and a group with a constant
//! key and sums of constants, as drivers count (`{_id: 1, n: {$sum: 1}}`). The engine can then
//! count rows instead of reading them.
//!
//! ```text
//! $skip 5, $limit 100, $group {_id: 1, n: {$sum: 1}}, $project ...
//! `- steps ---------'  `- made -------------------'  `- rest: over the resulting row
//! ```

use std::sync::Arc;

use document::{DocBuf, DocBuilder, Kind, Value, ValueRef};
use evaluation::{Error, OperationMemory};

use super::{Group, Row, Stage, group_row::group_row};
use crate::{
    accumulate::Sum,
    expr::Expr,
    group::{AccumulatorShape, Field, GroupState},
};

/// A pipeline whose result depends only on the number of its input rows.
#[derive(Clone, Debug)]
pub struct CountPipeline {
    /// `$skip` and `$limit` stages, in order.
    steps: Vec<Step>,
    result: CountResult,
    rest: Arc<[Stage]>,
}

/// A stage that passes rows on by their position.
#[derive(Clone, Copy, Debug)]
enum Step {
    Skip(u64),
    Limit(u64),
}

/// The result row, which is computed from the number of input rows.
#[derive(Clone, Debug)]
enum CountResult {
    /// A document with the number of rows in this field.
    Count(String),
    /// The only row of a `$group` by a constant.
    Group(Group),
}

impl CountPipeline {
    /// Analyzes a pipeline; `None` if it depends on more than the number of rows.
    pub fn of_stages(stages: &[Stage]) -> Option<Self> {
        let mut steps = Vec::new();
        let mut left = stages;
        loop {
            let (stage, behind) = left.split_first()?;
            let result = match stage {
                Stage::Skip(count) => {
                    steps.push(Step::Skip(*count));
                    None
                }
                Stage::Limit(count) => {
                    steps.push(Step::Limit(*count));
                    None
                }
                Stage::Count(name) => Some(CountResult::Count(name.clone())),
                Stage::Group(group) if counts_only(group) => {
                    Some(CountResult::Group(group.clone()))
                }
                _ => return None,
            };
            if let Some(result) = result {
                return Some(Self { steps, result, rest: behind.into() });
            }
            left = behind;
        }
    }

    /// Returns the stages that follow the count and are applied to its row.
    pub fn rest(&self) -> Arc<[Stage]> {
        Arc::clone(&self.rest)
    }

    /// Returns the number of rows after which further rows do not change the result; `None` if
    /// there is no such number.
    pub fn max_rows(&self) -> Option<u64> {
        self.steps.iter().rev().fold(None, |most: Option<u64>, step| match *step {
            Step::Limit(count) => Some(most.map_or(count, |most| most.min(count))),
            Step::Skip(count) => most.map(|most| most.saturating_add(count)),
        })
    }

    /// Returns the result row for this number of input rows, if any.
    pub fn row_of(&self, rows: u64) -> Result<Option<Row>, Error> {
        let passed = self.steps.iter().fold(rows, |rows, step| match *step {
            Step::Skip(count) => rows.saturating_sub(count),
            Step::Limit(count) => rows.min(count),
        });
        if passed == 0 {
            return Ok(None);
        }
        let count = i64::try_from(passed).unwrap_or(i64::MAX);
        match &self.result {
            CountResult::Count(name) => Ok(Some(Row::not_stored(count_document(name, count)))),
            CountResult::Group(group) => {
                let id = group.id.as_literal().cloned().unwrap_or(Value::Null);
                let states = group.fields.iter().map(|field| state_of(field, count)).collect();
                group_row(&id, &group.fields, states, &OperationMemory::default()).map(Some)
            }
        }
    }
}

/// Returns whether a group depends only on the number of its rows. A sum of doubles does not:
/// repeated addition is not multiplication.
fn counts_only(group: &Group) -> bool {
    let constant = |expr: &Expr| expr.as_literal().is_some_and(|id| id.kind() != Kind::Undefined);
    constant(&group.id)
        && group.fields.iter().all(|field| is_count(field) || summed(field).is_some())
}

/// Returns whether a field counts rows.
fn is_count(field: &Field) -> bool {
    field.accumulator.shape == AccumulatorShape::Nothing && is_named(field, "$count")
}

/// Returns the integer constant that a field adds for each row; `None` if the field is not such a
/// sum.
fn summed(field: &Field) -> Option<&Value> {
    let number = field.arguments.input.as_literal()?;
    let whole = matches!(number, Value::Int32(_) | Value::Int64(_));
    (is_named(field, "$sum") && whole).then_some(number)
}

/// Returns whether a field uses this accumulator.
fn is_named(field: &Field, name: &str) -> bool {
    field.accumulator.name == name
}

/// Returns the state of a field after this number of rows.
fn state_of(field: &Field, count: i64) -> GroupState {
    match summed(field) {
        None => GroupState::Count(count),
        Some(number) => {
            let mut sum = Sum::default();
            sum.add_repeated(number.as_ref(), count);
            GroupState::Sum(sum)
        }
    }
}

/// Returns the document of a count: an `int` if it fits, else a `long`.
pub(super) fn count_document(name: &str, count: i64) -> DocBuf {
    let count = match i32::try_from(count) {
        Ok(small) => ValueRef::Int32(small),
        Err(_) => ValueRef::Int64(count),
    };
    let mut builder = DocBuilder::new();
    builder.append(name, count);
    builder.finish()
}

#[cfg(test)]
mod tests {
    use document::doc;
    use evaluation::Context;

    use super::*;
    use crate::{
        exec::{Exec, Next},
        group::{AccumulatorArguments, find_accumulator},
        sort::Sort,
    };

    fn field(name: &str, accumulator: &str, input: Expr) -> Field {
        let arguments = AccumulatorArguments { input, n: Expr::Absent, sort: Sort::default() };
        let accumulator = find_accumulator(accumulator).unwrap();
        Field { name: name.to_owned(), accumulator, arguments }
    }

    fn group(id: Value, fields: Vec<Field>) -> Stage {
        Stage::Group(Group { id: Expr::Literal(id), fields })
    }

    /// Returns the result of running the stages on this number of rows.
    fn by_rows(stages: &[Stage], rows: u64) -> Option<DocBuf> {
        let mut exec = Exec::new(stages, Arc::new(Context::default()));
        for _ in 0..rows {
            exec.offer_row(Row::not_stored(doc! { "a": 1 }.to_buf())).unwrap();
        }
        exec.finish_input();
        match exec.next().unwrap() {
            Next::Row(row) => Some(row.document),
            _ => None,
        }
    }

    #[test]
    fn a_number_of_rows_makes_the_row_that_these_would() {
        let one = || Expr::Literal(Value::Int32(1));
        let sums = vec![
            field("n", "$sum", one()),
            field("c", "$count", Expr::Absent),
            field("much", "$sum", Expr::Literal(Value::Int32(2_000_000_000))),
            field("long", "$sum", Expr::Literal(Value::Int64(-3))),
            field("beyond", "$sum", Expr::Literal(Value::Int64(i64::MAX))),
        ];
        for stages in [
            vec![Stage::Count("n".into())],
            vec![group(Value::Int32(1), vec![field("n", "$sum", one())])],
            vec![group(Value::Null, sums)],
            vec![Stage::Skip(3), Stage::Limit(4), Stage::Count("n".into())],
            vec![Stage::Limit(4), Stage::Skip(3), Stage::Limit(9), Stage::Count("n".into())],
        ] {
            let count_pipeline = CountPipeline::of_stages(&stages).unwrap();
            for rows in [0, 1, 2, 3, 4, 5, 7, 8, 20] {
                let most = count_pipeline.max_rows().unwrap_or(u64::MAX);
                let result = count_pipeline.row_of(rows.min(most)).unwrap().map(|row| row.document);
                let (want, result) =
                    (by_rows(&stages, rows), result.map(|result| result.bytes().to_vec()));
                assert_eq!(result, want.map(|want| want.bytes().to_vec()), "{rows} of {stages:?}");
            }
        }
    }

    #[test]
    fn what_looks_at_rows_is_no_count() {
        let path = || Expr::Field("a".into());
        for stages in [
            vec![],
            vec![Stage::Limit(1)],
            vec![Stage::Unwind(crate::exec::Unwind {
                path: "a".into(),
                index: None,
                keep_empty: false,
            })],
            vec![Stage::Group(Group { id: path(), fields: vec![] })],
            vec![group(Value::Null, vec![field("n", "$sum", path())])],
            vec![group(Value::Null, vec![field("n", "$sum", Expr::Literal(Value::Double(0.1)))])],
            vec![group(Value::Null, vec![field("n", "$push", Expr::Literal(Value::Int32(1)))])],
        ] {
            assert!(CountPipeline::of_stages(&stages).is_none(), "{stages:?}");
        }
    }
}
