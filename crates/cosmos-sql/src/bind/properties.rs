//! Determines whether a key of GROUP BY reads a property of the data, as it has to.
//!
//! A name of FROM counts as a property. In a subquery inside an expression, however, Azure Cosmos
//! DB replaces the name of a source by the source's value. If that value is an object or an array,
//! the name and the first step of a path are replaced by the property or element of that step:
//!
//! ```text
//! SELECT ARRAY(SELECT 1 FROM (SELECT c.a) s GROUP BY s.a) FROM c    s.a is c.a, a property
//! SELECT ARRAY(SELECT 1 FROM (SELECT c.a) s GROUP BY s.b) FROM c    s.b is undefined: SC2110
//! ```

use document::Value;
use select::plan::{Expr, Input, Projection, Select, Source, Subquery};

use super::Binder;

/// Whether a value reads a property of the data. For objects and arrays, whether each part reads
/// one.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A value whose parts are not distinguished; true if it reads a property.
    Whole(bool),
    /// An object: for each of its property names, whether that part reads a property of the data.
    Object(Vec<(String, bool)>),
    /// An array: for each element, whether it reads a property of the data.
    Array(Vec<bool>),
    /// A list with the value of the only row.
    OnlyRow(Box<Origin>),
}

impl Origin {
    /// Returns whether the value reads a property.
    pub(super) fn reads_property(&self) -> bool {
        match self {
            Self::Whole(reads) => *reads,
            Self::Object(fields) => fields.iter().any(|(_, reads)| *reads),
            Self::Array(items) => items.contains(&true),
            Self::OnlyRow(of) => of.reads_property(),
        }
    }

    /// Returns whether a path into the value reads a property of the data. `first` is the first
    /// step of the path, the only one that is followed. A part that does not exist reads none.
    fn path_reads_property(&self, first: &Value) -> bool {
        match (self, first) {
            (Self::Object(fields), Value::String(name)) => {
                fields.iter().any(|(field, reads)| field == name && *reads)
            }
            (Self::Array(items), Value::Int64(_) | Value::Double(_)) => {
                let at = select::to_i64(first.as_ref()).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| items.get(at)).is_some_and(|reads| *reads)
            }
            _ => self.reads_property(),
        }
    }
}

impl Binder<'_> {
    /// Returns which parts of an expression's value read properties of the data.
    pub(super) fn origin_of(&self, expr: &Expr) -> Origin {
        let any = |exprs: &[Expr]| Origin::Whole(exprs.iter().any(|of| self.reads_property(of)));
        match expr {
            Expr::Constant(_) | Expr::Undefined => Origin::Whole(false),
            Expr::Slot(slot) => self.origins.get(slot).cloned().unwrap_or(Origin::Whole(true)),
            Expr::Path(slot, names) => {
                let first = names.first().map(|name| Value::String(name.clone()));
                let of = self.origins.get(slot).zip(first);
                Origin::Whole(of.is_none_or(|(of, first)| of.path_reads_property(&first)))
            }
            Expr::Steps(of, steps) => match (self.origin_of(of), steps.first()) {
                (Origin::OnlyRow(of), _) => *of,
                (of, Some(Expr::Constant(first))) => Origin::Whole(of.path_reads_property(first)),
                (of, _) => Origin::Whole(of.reads_property()),
            },
            Expr::Object(fields) => self.origin_of_fields(fields),
            Expr::Array(items) => {
                Origin::Array(items.iter().map(|item| self.reads_property(item)).collect())
            }
            Expr::Subquery(Subquery::Scalar, select) => self.origin_of_results(select),
            Expr::Subquery(_, select) => Origin::Whole(self.query_reads_property(select)),
            Expr::And(items)
            | Expr::Or(items)
            | Expr::Concat(items)
            | Expr::Coalesce(items)
            | Expr::Call(_, items) => any(items),
            Expr::Between(parts) | Expr::Conditional(parts) => any(parts.as_ref()),
            Expr::Not(of) | Expr::Unary(_, of) | Expr::Like(of, _) | Expr::Among(of, _) => {
                Origin::Whole(self.reads_property(of))
            }
            Expr::In(of, items) => {
                Origin::Whole(self.reads_property(of) || any(items).reads_property())
            }
            Expr::LikeAny(of, pattern, _) => {
                Origin::Whole(self.reads_property(of) || self.reads_property(pattern))
            }
            Expr::Chain(first, rest) => Origin::Whole(
                self.reads_property(first) || rest.iter().any(|(_, of)| self.reads_property(of)),
            ),
        }
    }

    /// Returns whether an expression reads a property.
    pub(super) fn reads_property(&self, expr: &Expr) -> bool {
        self.origin_of(expr).reads_property()
    }

    /// Returns which properties of an object read properties of the data.
    fn origin_of_fields(&self, fields: &[(String, Expr)]) -> Origin {
        let field = |(name, of): &(String, Expr)| (name.clone(), self.reads_property(of));
        Origin::Object(fields.iter().map(field).collect())
    }

    /// Returns which parts of a subquery's results read properties of the data. If the subquery
    /// always has one result, these are the parts of the selected value.
    pub(super) fn origin_of_results(&self, select: &Select) -> Origin {
        if has_one_result(select) {
            return self.origin_of_selected(&select.clauses().projection);
        }
        Origin::Whole(self.query_reads_property(select))
    }

    /// Returns which parts of the selected value read properties of the data.
    fn origin_of_selected(&self, projection: &Projection) -> Origin {
        match projection {
            Projection::Star(slot) => self.origin_of(&Expr::Slot(*slot)),
            Projection::Value(of) => self.origin_of(of),
            Projection::Fields(fields) => self.origin_of_fields(fields),
        }
    }

    /// Returns whether a subquery reads a property in FROM, WHERE or SELECT.
    fn query_reads_property(&self, select: &Select) -> bool {
        let clauses = select.clauses();
        let in_source = |source: &Source| match &source.input {
            Input::Root => true,
            Input::Value(Expr::Slot(_)) => false,
            Input::Value(of) | Input::Elements(of) => self.reads_property(of),
            Input::Results(select) => self.query_reads_property(select),
            Input::Collected(select) => self.query_reads_property(select),
        };
        clauses.from.iter().any(in_source)
            || clauses.filter.as_ref().is_some_and(|filter| self.reads_property(filter))
            || self.origin_of_selected(&clauses.projection).reads_property()
    }

    /// Records which parts of the values of a source of FROM read properties of the data.
    pub(super) fn keep_origin(&mut self, source: &Source) {
        let origin = match &source.input {
            Input::Root | Input::Elements(_) => return,
            Input::Value(of) => self.origin_of(of),
            Input::Results(select) => self.origin_of_results(select),
            Input::Collected(select) => self.origin_of_results(select),
        };
        self.origins.insert(source.slot, origin);
    }
}

/// Returns whether a subquery always has one result for a row.
pub(super) fn has_one_result(select: &Select) -> bool {
    let clauses = select.clauses();
    clauses.filter.is_none() && clauses.from.iter().all(has_one_value)
}

/// Returns whether a source always has one value: a name alone, or a subquery with one result.
fn has_one_value(source: &Source) -> bool {
    match &source.input {
        Input::Root | Input::Value(Expr::Slot(_)) => true,
        Input::Value(_) | Input::Elements(_) => false,
        Input::Results(select) => has_one_result(select),
        Input::Collected(select) => has_one_result(select),
    }
}
