//! Tests of parts of projections; whole projections are tested together with their parser in
//! `mongo-query`.

use document::{Value, array, doc};

use super::*;
use crate::expr::Expr;

fn node(paths: &[&str]) -> Result<Node, Collision> {
    let mut node = Node::default();
    for path in paths {
        node.insert(&path.split('.').collect::<Vec<_>>(), Item::Named)?;
    }
    Ok(node)
}

#[test]
fn paths_collide() {
    for (paths, expected) in [
        (&["a", "b.c"][..], Ok("a b.c")),
        (&["a", "a"], Err(Collision::Here)),
        (&["a.b", "a"], Err(Collision::Here)),
        (&["a", "a.b.c"], Err(Collision::Through(2))),
        (&["a.b", "a.c"], Ok("a.b a.c")),
    ] {
        let found = node(paths).map(|node| node.dotted_paths().join(" "));
        assert_eq!(found, expected.map(str::to_owned), "{paths:?}");
    }
}

#[test]
fn many_fields_are_found_by_name() {
    let names: Vec<String> = (0..50).map(|i| format!("f{i}")).collect();
    let many = node(&names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert!(matches!(many.get("f49"), Some(Item::Named)) && many.get("f50").is_none());
}

#[test]
fn new_fields_come_last_and_plain_values_become_documents_in_place() {
    let mut fields = node(&["b"]).unwrap();
    let literal = Computed::Expr(Expr::Literal(Value::from(7)));
    fields.insert(&["a", "n"], Item::Computed(Box::new(literal))).unwrap();
    let projection = Projection::new(Mode::Inclusion, fields, Vec::new());
    for (document, expected) in [
        (doc! {"a": 1, "b": 2}, doc! {"a": doc!{"n": 7}, "b": 2}),
        (doc! {"b": 2}, doc! {"b": 2, "a": doc!{"n": 7}}),
        (doc! {"a": doc!{"x": 1}}, doc! {"a": doc!{"n": 7}}),
        (doc! {"a": array![1, array![]]}, doc! {"a": array![doc!{"n": 7}, array![]]}),
    ] {
        let found = projection.apply(document.to_buf().as_ref(), None, &Context::default());
        assert_eq!(found, Ok(expected.to_buf()), "{document:?}");
    }
}
