//! Whether an expression leads to a place in the stored document: the service orders by nothing else.

use select::plan::{DOCUMENT, Expr, Input, Projection, Select, Source, Subquery};

/// Whether what an expression evaluates to stands somewhere in the document, by what FROM says of its
/// slot.
pub(super) fn is_document_path(expr: &Expr, from: &[Source]) -> bool {
    let (slot, names) = match expr {
        Expr::Slot(slot) => (*slot, &[][..]),
        Expr::Path(slot, names) => (*slot, names.as_slice()),
        Expr::Steps(of, steps) => {
            return steps.iter().all(|step| matches!(step, Expr::Constant(_)))
                && is_document_path(of, from);
        }
        Expr::Subquery(Subquery::Scalar, select) => return is_selected_path(select, &[]),
        _ => return false,
    };
    match from.iter().find(|source| source.slot == slot).map(|source| &source.input) {
        // The document, or a name of a query around this one.
        None | Some(Input::Root) => true,
        Some(Input::Value(of) | Input::Elements(of)) => {
            slot == DOCUMENT || is_document_path(of, from)
        }
        Some(Input::Results(select)) => is_selected_path(select, names),
        Some(Input::Collected(select)) => is_selected_path(select, names),
    }
}

/// The key of GROUP BY that an expression begins with; the expression itself where that is none.
pub(super) fn key_of<'k>(expr: &'k Expr, keys: &'k [(Expr, usize)]) -> &'k Expr {
    let slot = match expr {
        Expr::Slot(slot) | Expr::Path(slot, _) => *slot,
        Expr::Steps(of, _) => return key_of(of, keys),
        _ => return expr,
    };
    keys.iter().find(|(_, key)| *key == slot).map_or(expr, |(key, _)| key)
}

/// The same for a path inside what a query selects.
fn is_selected_path(select: &Select, names: &[String]) -> bool {
    let clauses = select.clauses();
    // What it has for one row may be nothing.
    let one = clauses.from.iter().all(|source| matches!(source.input, Input::Value(_)));
    if clauses.group.is_some() || (one && clauses.filter.is_some()) {
        return false;
    }
    match &clauses.projection {
        Projection::Star(_) => true,
        Projection::Value(Expr::Object(fields)) | Projection::Fields(fields) => {
            let first = names.first();
            let field = first.and_then(|first| fields.iter().find(|(name, _)| name == first));
            field.is_some_and(|(_, of)| is_document_path(of, &clauses.from))
        }
        Projection::Value(of) => is_document_path(of, &clauses.from),
    }
}
