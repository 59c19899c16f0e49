//! Limits the height of a tree, because binding and evaluation recurse over it.

use crate::{
    ast::{Node, Query},
    error::Fault,
};

/// Maximum height of the tree. It can exceed the nesting of the text: operators of different
/// precedence nest in the tree without parentheses in the text, and the parser does not recurse for
/// them.
const MAX_HEIGHT: usize = 150;

/// Refuses a query whose tree is too high. The walk stops at the limit, so that its recursion is
/// bounded. The parser has limited the nesting of the text, but one level of nesting can make
/// several levels of the tree, as in `a + b * c`.
pub(super) fn check_height(query: &Query) -> Result<(), Fault> {
    let mut fault = None;
    of_query(query, 0, &mut fault);
    fault.map_or(Ok(()), Err)
}

/// Walks the children of a query.
fn of_query(query: &Query, height: usize, fault: &mut Option<Fault>) {
    // Both closures write to `fault`, but never at the same time.
    let fault = std::cell::RefCell::new(fault);
    query.visit_inner(
        &mut |node| of_node(node, height + 1, &mut fault.borrow_mut()),
        &mut |query| of_query(query, height + 1, &mut fault.borrow_mut()),
    );
}

/// Walks an expression whose root has this height in the tree. Keeps the first fault, and does not
/// descend beyond the limit.
fn of_node(node: &Node, height: usize, fault: &mut Option<Fault>) {
    if MAX_HEIGHT < height {
        // The walk continues with siblings, which may be too high, too.
        if fault.is_none() {
            let message = format!("The SQL query is nested deeper than {MAX_HEIGHT} levels.");
            *fault = Some(Fault::Limit(node.span(), "SC3054", message));
        }
        return;
    }
    let fault = std::cell::RefCell::new(fault);
    node.visit_inner(
        &mut |node| of_node(node, height + 1, &mut fault.borrow_mut()),
        &mut |query| of_query(query, height + 1, &mut fault.borrow_mut()),
    );
}
