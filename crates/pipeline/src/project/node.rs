//! The tree of a projection: field names and their treatment.

use std::collections::HashMap;

use document::{DocRef, Value, ValueRef};
use evaluation::{Error, Evaluated};

use crate::{
    expr::{Env, Expr},
    filter::PathTest,
};

/// The treatment of one field by a projection; the mode decides whether named fields are kept or
/// removed.
#[derive(Clone, Debug)]
pub enum Item {
    /// The field is kept by an inclusion and removed by an exclusion.
    Named,
    /// The field is set to a computed value.
    Computed(Box<Computed>),
    /// The field's subdocument has further named fields.
    Node(Node),
}

/// Source of a computed value.
#[derive(Clone, Debug)]
pub enum Computed {
    /// The value of an expression over the document.
    Expr(Expr),
    /// An array that contains only the first element of a field that meets a test.
    FirstElement {
        /// The field, at the root of the document.
        field: String,
        /// The test, an `ElemMatch` or an `ElemValue`.
        test: PathTest,
    },
}

/// A conflict of a new path with an existing one, which decides the parser's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collision {
    /// The new path ends at an existing path or at a prefix of one.
    Here,
    /// The new path continues below the end of an existing one, with this number of further parts.
    Through(usize),
}

/// Fields and their treatment, in the order of the specification. A path with dots is a node inside
/// a node. A node has a list, which keeps the order of computed fields, and a map, which finds a
/// name.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Names and items in the order of the specification.
    fields: Vec<(String, Item)>,
    /// Index into `fields` by name.
    by_name: HashMap<String, usize>,
    /// Whether the tree contains a computed field.
    computed: bool,
}

/// Maximum number of fields for which a linear search is faster than the map.
const SEARCHED_IN_ORDER: usize = 8;

impl Node {
    /// Returns the fields in the order of the specification.
    pub fn fields(&self) -> &[(String, Item)] {
        &self.fields
    }

    /// Returns whether no field is named.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns whether the tree contains a computed field.
    pub fn has_computed(&self) -> bool {
        self.computed
    }

    /// Returns the treatment of a field; `None` if the field is not named.
    pub fn get(&self, name: &str) -> Option<&Item> {
        if self.fields.len() <= SEARCHED_IN_ORDER {
            return self.fields.iter().find(|(field, _)| field == name).map(|(_, item)| item);
        }
        self.by_name.get(name).and_then(|at| self.fields.get(*at)).map(|(_, item)| item)
    }

    /// Adds an item at a path; fails if it conflicts with another path. After a failure the tree
    /// must not be used.
    pub fn insert(&mut self, path: &[&str], item: Item) -> Result<(), Collision> {
        let Some((name, rest)) = path.split_first() else { return Err(Collision::Here) };
        let computed = matches!(item, Item::Computed(_));
        let known = self.by_name.get(*name).and_then(|at| self.fields.get_mut(*at));
        match known {
            // A name may occur once only.
            Some(_) if rest.is_empty() => return Err(Collision::Here),
            Some((_, Item::Node(inner))) => inner.insert(rest, item)?,
            Some(_) => return Err(Collision::Through(rest.len())),
            None if rest.is_empty() => self.push(name, item),
            None => {
                let mut inner = Node::default();
                inner.insert(rest, item)?;
                self.push(name, Item::Node(inner));
            }
        }
        self.computed |= computed;
        Ok(())
    }

    fn push(&mut self, name: &str, item: Item) {
        self.by_name.insert(name.to_owned(), self.fields.len());
        self.fields.push((name.to_owned(), item));
    }

    /// Returns the dotted paths of the named fields, including computed ones.
    pub(super) fn dotted_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for (name, item) in &self.fields {
            match item {
                Item::Node(inner) => {
                    paths.extend(inner.dotted_paths().iter().map(|path| format!("{name}.{path}")));
                }
                Item::Named | Item::Computed(_) => paths.push(name.clone()),
            }
        }
        paths
    }
}

impl Computed {
    /// Computes the value for a document.
    pub(super) fn computed_value<'e>(&'e self, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
        match self {
            Self::Expr(expr) => expr.evaluate_borrowed(env),
            Self::FirstElement { field, test } => Ok(first_element(field, test, env)?.into()),
        }
    }
}

/// Returns an array that contains only the first element of a field that meets a test; `None`
/// without such an element or if the field is not an array.
fn first_element(field: &str, test: &PathTest, env: &Env<'_>) -> Result<Option<Value>, Error> {
    let document: DocRef<'_> = env.root;
    let Some(ValueRef::Array(array)) = document.get(field) else { return Ok(None) };
    let mut index = None;
    test.meets_value(Some(ValueRef::Array(array)), env.context, &mut index)?;
    let found = index.and_then(|index| array.get(index));
    Ok(found.map(|element| Value::Array(vec![element.to_value()])))
}
