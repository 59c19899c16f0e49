//! Derives the condition for indexes from WHERE: what has to hold where an expression is true, and
//! where it is false. Nothing (undefined) is neither, so that both say something about types.

use document::Value;

use crate::{
    order::simple_class,
    plan::{Binary, Clauses, DOCUMENT, Expr, Input, Source, Subquery},
    sarg::{Bound, PathSteps, Sarg, Step, Test},
};

/// Which paths of the stored document the slots hold.
#[derive(Default)]
struct Paths(Vec<(usize, PathSteps)>);

impl Sarg {
    /// What is implied by the WHERE of these clauses.
    pub(crate) fn of(clauses: &Clauses) -> Self {
        let rooted = matches!(
            clauses.from.first().map(|source| &source.input),
            Some(Input::Root | Input::Value(_) | Input::Elements(_))
        );
        let Some(filter) = clauses.filter.as_ref().filter(|_| rooted) else { return Self::All };
        let mut paths = Paths(vec![(DOCUMENT, Vec::new())]);
        for source in &clauses.from {
            paths.add(source);
        }
        paths.truth(filter, true)
    }
}

impl Paths {
    /// The slot of a source, when it is known where it leads; what is then known of the document.
    fn add(&mut self, source: &Source) -> Sarg {
        let (path, elements) = match &source.input {
            Input::Value(expr) => (self.path(expr), false),
            Input::Elements(expr) => (self.path(expr), true),
            _ => (None, false),
        };
        let Some(mut path) = path else { return Sarg::All };
        if elements {
            path.push(Step::Elements);
        }
        self.0.push((source.slot, path.clone()));
        Sarg::Test(path, Test::Defined)
    }

    /// The path that an expression is.
    fn path(&self, expr: &Expr) -> Option<PathSteps> {
        let (slot, names) = match expr {
            Expr::Slot(slot) => (slot, &[][..]),
            Expr::Path(slot, names) => (slot, names.as_slice()),
            _ => return None,
        };
        let (_, start) = self.0.iter().rev().find(|(known, _)| known == slot)?;
        let names = names.iter().cloned().map(Step::Property);
        Some(start.iter().cloned().chain(names).collect())
    }

    /// That a test holds at the path that an expression is.
    fn test(&self, expr: &Expr, test: Test) -> Sarg {
        self.path(expr).map_or(Sarg::All, |path| Sarg::Test(path, test))
    }

    /// That an expression is something.
    fn defined(&self, expr: &Expr) -> Sarg {
        match expr {
            Expr::Undefined => Sarg::Never,
            other => self.test(other, Test::Defined),
        }
    }

    /// What holds where an expression is true, or where it is false.
    fn truth(&self, expr: &Expr, truth: bool) -> Sarg {
        match expr {
            Expr::Constant(Value::Bool(held)) if *held == truth => Sarg::All,
            Expr::Constant(_) | Expr::Undefined => Sarg::Never,
            Expr::Slot(_) | Expr::Path(..) => self.test(expr, Test::Equal(Value::Bool(truth))),
            Expr::And(items) => joined(truth, items.iter().map(|item| self.truth(item, truth))),
            Expr::Or(items) => joined(!truth, items.iter().map(|item| self.truth(item, truth))),
            Expr::Not(inner) => self.truth(inner, !truth),
            Expr::Chain(left, rest) => match rest.as_slice() {
                [(operator, right)] => self.decided(*operator, left, right, truth),
                _ => Sarg::All,
            },
            Expr::Between(parts) => {
                let [value, low, high] = parts.as_ref();
                let bounds = [(Binary::GreaterOrEqual, low), (Binary::LessOrEqual, high)];
                let bounds =
                    bounds.map(|(operator, end)| self.decided(operator, value, end, truth));
                joined(truth, bounds)
            }
            Expr::Among(value, _) | Expr::In(value, _) if !truth => self.defined(value),
            Expr::Like(value, _) | Expr::LikeAny(value, _, _) if !truth => {
                self.test(value, Test::Text)
            }
            other if truth => self.positive(other),
            _ => Sarg::All,
        }
    }

    /// What holds where an expression is true that says little where it is false.
    fn positive(&self, expr: &Expr) -> Sarg {
        match expr {
            Expr::Coalesce(items) => Sarg::or(items.iter().map(|item| self.truth(item, true))),
            Expr::Among(value, set) => {
                let simple = |value: &Value| simple_class(value.as_ref()).is_some();
                let test = if set.values().iter().all(simple) {
                    Test::In(set.values().to_vec())
                } else {
                    Test::Defined
                };
                self.test(value, test)
            }
            Expr::In(value, _) => self.defined(value),
            Expr::Like(value, like) => {
                let (prefix, _) = like.prefix();
                let test = match like.exact() {
                    Some(text) => Test::Equal(Value::String(text.to_owned())),
                    None if prefix.is_empty() => Test::Text,
                    None => Test::Prefix(prefix),
                };
                self.test(value, test)
            }
            Expr::LikeAny(value, pattern, _) => {
                Sarg::and([self.test(value, Test::Text), self.test(pattern, Test::Text)])
            }
            Expr::Call(function, args) => self.called(function.name, args),
            Expr::Subquery(Subquery::Exists, select) => self.exists(select.clauses()),
            _ => Sarg::All,
        }
    }

    /// What holds where a comparison is true, or where it is false.
    fn decided(&self, operator: Binary, left: &Expr, right: &Expr, truth: bool) -> Sarg {
        let operator = if truth { Some(operator) } else { opposite(operator) };
        operator.map_or(Sarg::All, |operator| self.compared(operator, left, right))
    }

    /// What holds where a comparison is true.
    fn compared(&self, operator: Binary, left: &Expr, right: &Expr) -> Sarg {
        let both = Sarg::and([self.defined(left), self.defined(right)]);
        let (path, operator, value) = match (left, right) {
            (Expr::Constant(_), Expr::Constant(_)) => return Sarg::All,
            (path, Expr::Constant(value)) => (path, operator, value),
            (Expr::Constant(value), path) => (path, turned(operator), value),
            _ => return if is_comparison(operator) { both } else { Sarg::All },
        };
        let simple = simple_class(value.as_ref()).is_some();
        let bound = |inclusive| Some((value.clone(), inclusive));
        let range = |lower: Bound, upper: Bound| match simple {
            true => self.test(path, Test::Range { lower, upper }),
            false => Sarg::Never,
        };
        match operator {
            Binary::Equal if simple => self.test(path, Test::Equal(value.clone())),
            Binary::Equal | Binary::NotEqual => both,
            Binary::Less => range(None, bound(false)),
            Binary::LessOrEqual => range(None, bound(true)),
            Binary::Greater => range(bound(false), None),
            Binary::GreaterOrEqual => range(bound(true), None),
            _ => Sarg::All,
        }
    }

    /// What holds where a function answers true.
    fn called(&self, name: &str, args: &[Expr]) -> Sarg {
        let Some(path) = args.first() else { return Sarg::All };
        let text = |at: usize| match args.get(at) {
            Some(Expr::Constant(Value::String(text))) => Some(text.clone()),
            _ => None,
        };
        // The argument that makes a function less exact.
        let plain = matches!(args.get(2), None | Some(Expr::Constant(Value::Bool(false))));
        match name {
            "STARTSWITH" => match text(1).filter(|text| plain && !text.is_empty()) {
                Some(prefix) => self.test(path, Test::Prefix(prefix)),
                None => self.test(path, Test::Text),
            },
            "STRINGEQUALS" => match text(1).filter(|_| plain) {
                Some(text) => self.test(path, Test::Equal(Value::String(text))),
                None => self.test(path, Test::Text),
            },
            "CONTAINS" | "ENDSWITH" | "REGEXMATCH" | "IS_STRING" => self.test(path, Test::Text),
            "ARRAY_CONTAINS" => {
                let Some(mut steps) = self.path(path) else { return Sarg::All };
                steps.push(Step::Elements);
                let test = match args.get(1) {
                    Some(Expr::Constant(value))
                        if plain && simple_class(value.as_ref()).is_some() =>
                    {
                        Test::Equal(value.clone())
                    }
                    _ => Test::Defined,
                };
                Sarg::Test(steps, test)
            }
            "IS_NULL" => self.test(path, Test::Equal(Value::Null)),
            "IS_BOOL" => self.test(path, Test::In(vec![Value::Bool(false), Value::Bool(true)])),
            "IS_DEFINED" | "IS_NUMBER" | "IS_ARRAY" | "IS_OBJECT" | "IS_PRIMITIVE"
            | "IS_INTEGER" | "IS_FINITE_NUMBER" => self.test(path, Test::Defined),
            _ => Sarg::All,
        }
    }

    /// What holds where a query inside has a result.
    fn exists(&self, clauses: &Clauses) -> Sarg {
        if clauses.group.is_some() {
            return Sarg::All;
        }
        let mut inner = Self(self.0.clone());
        let mut parts = Vec::new();
        for source in &clauses.from {
            parts.push(inner.add(source));
        }
        parts.extend(clauses.filter.iter().map(|filter| inner.truth(filter, true)));
        Sarg::and(parts)
    }
}

/// All of these, or one of them.
fn joined(all: bool, sargs: impl IntoIterator<Item = Sarg>) -> Sarg {
    if all { Sarg::and(sargs) } else { Sarg::or(sargs) }
}

fn is_comparison(operator: Binary) -> bool {
    opposite(operator).is_some()
}

/// The comparison that is true where this one is false.
fn opposite(operator: Binary) -> Option<Binary> {
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

/// The comparison with its operands turned round.
fn turned(operator: Binary) -> Binary {
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
            assert_eq!(opposite(operator).and_then(opposite), Some(operator));
            assert_eq!(turned(turned(operator)), operator);
        }
        assert_eq!(opposite(Binary::Add), None);
    }
}
