//! Derives from WHERE the condition that indexes can use.
//!
//! For every expression there are two implied conditions: one if it is true and one if it is false.
//! `NOT` swaps the two; `AND` implies a conjunction if it is true and a disjunction if it is false,
//! and `OR` the other way round. Since undefined is neither true nor false, both conditions
//! constrain types: `NOT (c.a < 5)` implies that `c.a` is a number of at least 5.
//!
//! An expression without a rule implies nothing (`Sarg::All`), which is always correct, only
//! slower.
//!
//! ```text
//! NOT (c.a < 5 OR c.b = "x")
//!   false(c.a < 5)    ->  Test([a], Range { lower: 5 (included) })
//!   false(c.b = "x")  ->  Test([b], Defined)
//!   NOT of OR         ->  And of both
//! ```

use document::Value;

use crate::{
    order::simple_class,
    plan::{Binary, Clauses, DOCUMENT, Expr, Input, Source, Subquery},
    sarg::{Bound, PathStep, PathSteps, Sarg, ValueTest},
};

/// Pairs of a slot and the path in the stored document whose value the slot holds, the newest
/// binding last.
#[derive(Default)]
struct Paths(Vec<(usize, PathSteps)>);

impl Sarg {
    /// Returns the condition that the WHERE of these clauses implies. A query whose FROM does not
    /// start at the document, such as one over the results of another query, implies nothing about
    /// stored documents.
    pub(crate) fn from_clauses(clauses: &Clauses) -> Self {
        let rooted = matches!(
            clauses.from.first().map(|source| &source.input),
            Some(Input::Root | Input::Value(_) | Input::Elements(_))
        );
        let Some(filter) = clauses.filter.as_ref().filter(|_| rooted) else { return Self::All };
        let mut paths = Paths(vec![(DOCUMENT, Vec::new())]);
        for source in &clauses.from {
            paths.add_source(source);
        }
        paths.implied_by_truth(filter, true)
    }
}

impl Paths {
    /// Records the document path of a source's slot, if it has one. Returns the condition that the
    /// source itself implies: a row exists only if the path has a value.
    fn add_source(&mut self, source: &Source) -> Sarg {
        let (path, elements) = match &source.input {
            Input::Value(expr) => (self.path_of(expr), false),
            Input::Elements(expr) => (self.path_of(expr), true),
            _ => (None, false),
        };
        let Some(mut path) = path else { return Sarg::All };
        if elements {
            path.push(PathStep::Elements);
        }
        self.0.push((source.slot, path.clone()));
        Sarg::Test(path, ValueTest::Defined)
    }

    /// Returns the document path that an expression reads, if it is a slot with a known path or a
    /// property inside one. With `FROM c JOIN t IN c.tags` the slot of `t` holds the elements at
    /// `tags`, and `t.name` reads `name` in each of them.
    fn path_of(&self, expr: &Expr) -> Option<PathSteps> {
        let (slot, names) = match expr {
            Expr::Slot(slot) => (slot, &[][..]),
            Expr::Path(slot, names) => (slot, names.as_slice()),
            _ => return None,
        };
        // A slot may be bound several times; the newest binding is valid.
        let (_, start) = self.0.iter().rev().find(|(known, _)| known == slot)?;
        let names = names.iter().cloned().map(PathStep::Property);
        Some(start.iter().cloned().chain(names).collect())
    }

    /// Returns the test at the path that an expression reads; `All` if it is not a path.
    fn test_at(&self, expr: &Expr, test: ValueTest) -> Sarg {
        self.path_of(expr).map_or(Sarg::All, |path| Sarg::Test(path, test))
    }

    /// Returns the condition that an expression is not undefined.
    fn is_defined(&self, expr: &Expr) -> Sarg {
        match expr {
            Expr::Undefined => Sarg::Never,
            other => self.test_at(other, ValueTest::Defined),
        }
    }

    /// Returns the condition that is implied if an expression has the value `truth`. Comparisons,
    /// patterns and lists constrain a path; AND, OR and NOT combine such conditions.
    fn implied_by_truth(&self, expr: &Expr, truth: bool) -> Sarg {
        match expr {
            Expr::Constant(Value::Bool(held)) if *held == truth => Sarg::All,
            Expr::Constant(_) | Expr::Undefined => Sarg::Never,
            Expr::Slot(_) | Expr::Path(..) => {
                self.test_at(expr, ValueTest::Equal(Value::Bool(truth)))
            }
            Expr::And(items) => {
                join_all_or_any(truth, items.iter().map(|item| self.implied_by_truth(item, truth)))
            }
            Expr::Or(items) => {
                join_all_or_any(!truth, items.iter().map(|item| self.implied_by_truth(item, truth)))
            }
            Expr::Not(inner) => self.implied_by_truth(inner, !truth),
            Expr::Chain(left, rest) => match rest.as_slice() {
                [(operator, right)] => self.implied_by_comparison(*operator, left, right, truth),
                _ => Sarg::All,
            },
            Expr::Between(parts) => {
                let [value, low, high] = parts.as_ref();
                let bounds = [(Binary::GreaterOrEqual, low), (Binary::LessOrEqual, high)];
                let bounds = bounds
                    .map(|(operator, end)| self.implied_by_comparison(operator, value, end, truth));
                join_all_or_any(truth, bounds)
            }
            // A list that does not contain the value implies only that the value is defined.
            Expr::Among(value, _) | Expr::In(value, _) if !truth => self.is_defined(value),
            Expr::Like(value, _) | Expr::LikeAny(value, _, _) if !truth => {
                self.test_at(value, ValueTest::Text)
            }
            other if truth => self.implied_when_true(other),
            _ => Sarg::All,
        }
    }

    /// Returns the condition that a true expression implies, for the kinds of expressions that
    /// imply nothing if they are false.
    fn implied_when_true(&self, expr: &Expr) -> Sarg {
        match expr {
            Expr::Coalesce(items) => {
                Sarg::any_of(items.iter().map(|item| self.implied_by_truth(item, true)))
            }
            Expr::Among(value, set) => {
                // `ValueTest::In` supports only values of simple types; for others the condition is
                // weakened.
                let simple = |value: &Value| simple_class(value.as_ref()).is_some();
                let test = if set.values().iter().all(simple) {
                    ValueTest::In(set.values().to_vec())
                } else {
                    ValueTest::Defined
                };
                self.test_at(value, test)
            }
            Expr::In(value, _) => self.is_defined(value),
            Expr::Like(value, like) => {
                let (prefix, _) = like.required_prefix();
                let test = match like.only_match() {
                    Some(text) => ValueTest::Equal(Value::String(text.to_owned())),
                    None if prefix.is_empty() => ValueTest::Text,
                    None => ValueTest::Prefix(prefix),
                };
                self.test_at(value, test)
            }
            Expr::LikeAny(value, pattern, _) => Sarg::all_of([
                self.test_at(value, ValueTest::Text),
                self.test_at(pattern, ValueTest::Text),
            ]),
            Expr::Call(function, args) => self.implied_by_function(function.name, args),
            Expr::Subquery(Subquery::Exists, select) => self.implied_by_exists(select.clauses()),
            _ => Sarg::All,
        }
    }

    /// Returns the condition that is implied if a comparison has the value `truth`. A false
    /// comparison is the opposite comparison, because both are undefined for the same types.
    fn implied_by_comparison(
        &self,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        truth: bool,
    ) -> Sarg {
        let operator = if truth { Some(operator) } else { opposite_comparison(operator) };
        operator
            .map_or(Sarg::All, |operator| self.implied_by_true_comparison(operator, left, right))
    }

    /// Returns the condition that a true comparison implies. With a constant of a simple type it is
    /// an equality or a range on the path; with an array or an object `<`, `<=`, `>` and `>=` are
    /// never true.
    ///
    /// ```text
    /// c.a > 5      ->   Test([a], Range { lower: 5 (not included) })
    /// 5 <= c.a     ->   Test([a], Range { lower: 5 (included) })
    /// c.a = c.b    ->   both defined
    /// c.a < [1]    ->   Never
    /// ```
    fn implied_by_true_comparison(&self, operator: Binary, left: &Expr, right: &Expr) -> Sarg {
        // A comparison with undefined is undefined, so both operands are defined.
        let both = Sarg::all_of([self.is_defined(left), self.is_defined(right)]);
        let (path, operator, value) = match (left, right) {
            (Expr::Constant(_), Expr::Constant(_)) => return Sarg::All,
            // A constant on the left is moved to the right.
            (path, Expr::Constant(value)) => (path, operator, value),
            (Expr::Constant(value), path) => (path, swapped_comparison(operator), value),
            _ => return if is_comparison(operator) { both } else { Sarg::All },
        };
        let simple = simple_class(value.as_ref()).is_some();
        let bound = |inclusive| Some((value.clone(), inclusive));
        let range = |lower: Bound, upper: Bound| match simple {
            true => self.test_at(path, ValueTest::Range { lower, upper }),
            false => Sarg::Never,
        };
        match operator {
            Binary::Equal if simple => self.test_at(path, ValueTest::Equal(value.clone())),
            Binary::Equal | Binary::NotEqual => both,
            Binary::Less => range(None, bound(false)),
            Binary::LessOrEqual => range(None, bound(true)),
            Binary::Greater => range(bound(false), None),
            Binary::GreaterOrEqual => range(bound(true), None),
            _ => Sarg::All,
        }
    }

    /// Returns the condition that is implied if a function returns true.
    fn implied_by_function(&self, name: &str, args: &[Expr]) -> Sarg {
        let Some(path) = args.first() else { return Sarg::All };
        let text = |at: usize| match args.get(at) {
            Some(Expr::Constant(Value::String(text))) => Some(text.clone()),
            _ => None,
        };
        // With their third argument these functions ignore case or match parts of objects, so the
        // document need not contain the constant itself.
        let plain = matches!(args.get(2), None | Some(Expr::Constant(Value::Bool(false))));
        match name {
            "STARTSWITH" => match text(1).filter(|text| plain && !text.is_empty()) {
                Some(prefix) => self.test_at(path, ValueTest::Prefix(prefix)),
                None => self.test_at(path, ValueTest::Text),
            },
            "STRINGEQUALS" => match text(1).filter(|_| plain) {
                Some(text) => self.test_at(path, ValueTest::Equal(Value::String(text))),
                None => self.test_at(path, ValueTest::Text),
            },
            "CONTAINS" | "ENDSWITH" | "REGEXMATCH" | "IS_STRING" | "CONTAINS_ALL_CI"
            | "CONTAINS_ALL_CS" | "CONTAINS_ANY_CI" | "CONTAINS_ANY_CS" => {
                self.test_at(path, ValueTest::Text)
            }
            "ARRAY_CONTAINS" => {
                let Some(mut steps) = self.path_of(path) else { return Sarg::All };
                steps.push(PathStep::Elements);
                let test = match args.get(1) {
                    Some(Expr::Constant(value))
                        if plain && simple_class(value.as_ref()).is_some() =>
                    {
                        ValueTest::Equal(value.clone())
                    }
                    _ => ValueTest::Defined,
                };
                Sarg::Test(steps, test)
            }
            "ARRAY_CONTAINS_ANY" | "ARRAY_CONTAINS_ALL" => {
                let Some(mut steps) = self.path_of(path) else { return Sarg::All };
                steps.push(PathStep::Elements);
                let simple = |arg: &Expr| match arg {
                    Expr::Constant(value) if simple_class(value.as_ref()).is_some() => {
                        Some(value.clone())
                    }
                    _ => None,
                };
                let values = args.get(1..).unwrap_or_default();
                if name == "ARRAY_CONTAINS_ALL" {
                    let each = values.iter().map(|value| {
                        let test = simple(value).map_or(ValueTest::Defined, ValueTest::Equal);
                        Sarg::Test(steps.clone(), test)
                    });
                    return Sarg::all_of(each);
                }
                let test = values.iter().map(simple).collect::<Option<Vec<_>>>();
                Sarg::Test(steps, test.map_or(ValueTest::Defined, ValueTest::In))
            }
            "IS_NULL" => self.test_at(path, ValueTest::Equal(Value::Null)),
            "IS_BOOL" => {
                self.test_at(path, ValueTest::In(vec![Value::Bool(false), Value::Bool(true)]))
            }
            "IS_DEFINED" | "IS_NUMBER" | "IS_ARRAY" | "IS_OBJECT" | "IS_PRIMITIVE"
            | "IS_INTEGER" | "IS_FINITE_NUMBER" => self.test_at(path, ValueTest::Defined),
            _ => Sarg::All,
        }
    }

    /// Returns the condition that is implied if a subquery has a result: its sources have values,
    /// and its WHERE is true for some of them.
    /// `EXISTS (SELECT VALUE t FROM t IN c.tags WHERE t = "x")` implies that an element at `tags`
    /// is `"x"`.
    fn implied_by_exists(&self, clauses: &Clauses) -> Sarg {
        if clauses.group.is_some() {
            return Sarg::All;
        }
        let mut inner = Self(self.0.clone());
        let mut parts = Vec::new();
        for source in &clauses.from {
            parts.push(inner.add_source(source));
        }
        parts.extend(clauses.filter.iter().map(|filter| inner.implied_by_truth(filter, true)));
        Sarg::all_of(parts)
    }
}

/// Returns the conjunction of the conditions, or their disjunction.
fn join_all_or_any(all: bool, sargs: impl IntoIterator<Item = Sarg>) -> Sarg {
    if all { Sarg::all_of(sargs) } else { Sarg::any_of(sargs) }
}

/// Returns whether an operator is a comparison, which is undefined if an operand is.
fn is_comparison(operator: Binary) -> bool {
    opposite_comparison(operator).is_some()
}

/// Returns the opposite comparison, which is true exactly if this one is false, for operands of one
/// type.
fn opposite_comparison(operator: Binary) -> Option<Binary> {
    Some(match operator {
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        Binary::Less => Binary::GreaterOrEqual,
        Binary::LessOrEqual => Binary::Greater,
        Binary::Greater => Binary::LessOrEqual,
        Binary::GreaterOrEqual => Binary::Less,
        _ => return None,
    })
}

/// Returns the comparison for swapped operands: `5 < c.a` is `c.a > 5`.
fn swapped_comparison(operator: Binary) -> Binary {
    match operator {
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_turned_and_negated() {
        for operator in [
            Binary::Equal,
            Binary::NotEqual,
            Binary::Less,
            Binary::LessOrEqual,
            Binary::Greater,
            Binary::GreaterOrEqual,
        ] {
            assert_eq!(opposite_comparison(operator).and_then(opposite_comparison), Some(operator));
            assert_eq!(swapped_comparison(swapped_comparison(operator)), operator);
        }
        assert_eq!(opposite_comparison(Binary::Add), None);
    }
}
