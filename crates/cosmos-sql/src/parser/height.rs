//! How high a tree is: what binds and evaluates it goes that deep.

use crate::{
    ast::{Node, Query},
    error::Fault,
    limits::MAX_HEIGHT,
};

/// Refuses a query whose tree is too high. The walk stops at the limit, so that it is no deeper
/// itself.
/// The parser bounds how deeply a text is nested, but one level of it can make several of the tree,
/// as `a + b * c` does.
pub(super) fn check_height(query: &Query) -> Result<(), Fault> {
    let mut fault = None;
    of_query(query, 0, &mut fault);
    fault.map_or(Ok(()), Err)
}

/// Walks what is right inside a query, one level higher.
fn of_query(query: &Query, height: usize, fault: &mut Option<Fault>) {
    // Both closures write to it, one at a time.
    let fault = std::cell::RefCell::new(fault);
    query.visit_inner(
        &mut |node| of_node(node, height + 1, &mut fault.borrow_mut()),
        &mut |query| of_query(query, height + 1, &mut fault.borrow_mut()),
    );
}

/// Walks an expression that stands at a height. The first fault is kept; the walk goes no higher.
fn of_node(node: &Node, height: usize, fault: &mut Option<Fault>) {
    if MAX_HEIGHT < height {
        // The walk goes on beside, and may come here again.
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
