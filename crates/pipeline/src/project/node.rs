//! The tree of a projection: field names with what happens to each.

use std::collections::HashMap;

use document::{DocRef, Value, ValueRef};
use evaluation::{Error, Evaluated};

use crate::{
    expr::{Env, Expr},
    filter::PathTest,
};

/// What happens to one field.
/// Whether it is an inclusion or an exclusion is said by the projection as a whole.
#[derive(Clone, Debug)]
pub enum Item {
    /// It stays in an inclusion and goes in an exclusion.
    Named,
    /// It gets a computed value.
    Computed(Box<Computed>),
    /// The fields inside of it are named.
    Node(Node),
}

/// How a value is computed.
#[derive(Clone, Debug)]
pub enum Computed {
    /// By an expression.
    Expr(Expr),
    /// An array of the first element of the field that meets a test of arrays.
    FirstElement {
        /// The field, at the root of the document.
        field: String,
        /// `PathTest::ElemMatch` or `PathTest::ElemValue`.
        test: PathTest,
    },
}

/// A second path that leads to or through a path that is already there.
/// The parser words the error by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collision {
    /// The new path ends where another one is or passes.
    Here,
    /// The new path passes where another one ends; this many parts of it remain.
    Through(usize),
}

/// Fields and what happens to each, in the order they were given. A path with dots is a node inside
/// a node.
/// Two lists, as the order matters for computed fields and the names for finding them.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// In the order in which they were given.
    fields: Vec<(String, Item)>,
    /// Where each of them stands.
    by_name: HashMap<String, usize>,
    /// Whether something is computed anywhere in it.
    computed: bool,
}

/// Up to this many fields a search in order beats a map.
const SEARCHED_IN_ORDER: usize = 8;

impl Node {
    /// The fields in the order they were given.
    pub fn fields(&self) -> &[(String, Item)] {
        &self.fields
    }

    /// Whether no field is named.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether something is computed anywhere in it.
    pub fn has_computed(&self) -> bool {
        self.computed
    }

    /// What happens to a field.
    pub fn get(&self, name: &str) -> Option<&Item> {
        if self.fields.len() <= SEARCHED_IN_ORDER {
            return self.fields.iter().find(|(field, _)| field == name).map(|(_, item)| item);
        }
        self.by_name.get(name).and_then(|at| self.fields.get(*at)).map(|(_, item)| item)
    }

    /// Adds an item at a path; fails when the path meets another one.
    /// After a failure the tree is not used.
    pub fn insert(&mut self, path: &[&str], item: Item) -> Result<(), Collision> {
        let Some((name, rest)) = path.split_first() else { return Err(Collision::Here) };
        let computed = matches!(item, Item::Computed(_));
        let known = self.by_name.get(*name).and_then(|at| self.fields.get_mut(*at));
        match known {
            // A name may come once, whatever is done with it.
            Some(_) if rest.is_empty() => return Err(Collision::Here),
            Some((_, Item::Node(inner))) => inner.insert(rest, item)?,
            // Something ends here already, and the new path would go on below it.
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

    /// Adds a field behind the others.
    fn push(&mut self, name: &str, item: Item) {
        self.by_name.insert(name.to_owned(), self.fields.len());
        self.fields.push((name.to_owned(), item));
    }

    /// The dotted paths of the named fields.
    /// A computed field counts as named.
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
    /// The value over a document; `None` is missing.
    pub(super) fn computed_value<'e>(&'e self, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
        match self {
            Self::Expr(expr) => expr.evaluate_borrowed(env),
            Self::FirstElement { field, test } => Ok(first_element(field, test, env)?.into()),
        }
    }
}

/// An array of the first element of a field that meets a test; nothing when there is none.
/// A field that is no array, or is missing, gives nothing.
fn first_element(field: &str, test: &PathTest, env: &Env<'_>) -> Result<Option<Value>, Error> {
    let document: DocRef<'_> = env.root;
    let Some(ValueRef::Array(array)) = document.get(field) else { return Ok(None) };
    let mut index = None;
    test.meets_value(Some(ValueRef::Array(array)), env.context, &mut index)?;
    let found = index.and_then(|index| array.get(index));
    Ok(found.map(|element| Value::Array(vec![element.to_value()])))
}
