//! Gathers the leaves of a projection and decides whether it includes or excludes. `_id` is for
//! itself: it may be left out of an inclusion and kept in an exclusion, and does not decide
//! anything unless it stands alone.
//!
//! ```text
//! {a: 1}            inclusion: _id and a
//! {a: 0}            exclusion: all but a
//! {_id: 0}          exclusion: nothing else has decided
//! {a: 1, _id: 0}    inclusion: a
//! {a: {$slice: 1}}  exclusion: everything, a cut
//! ```

use document::Path;
use pipeline::project::{Collision, Computed, Item, Mode, Node, Projection, Special};

use crate::error::Error;

/// What stands at a path.
#[derive(Debug)]
pub(crate) enum Leaf {
    /// The path is shown.
    Include,
    /// The path is left out.
    Exclude,
    /// A value, with its text for messages.
    Computed(Computed, String),
    /// `$elemMatch`: the first element of an array that matches.
    FirstElement(Computed),
    /// `$slice`: a part of an array. It says nothing about other fields.
    Slice { skip: Option<i64>, limit: i64 },
    /// `a.$`: the element that the filter has matched.
    Positional,
}

/// A projection under construction.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// Whether it includes or excludes, once a field has decided.
    mode: Option<Mode>,
    /// The tree of what is included, excluded or computed.
    node: Node,
    /// What is done to arrays afterwards.
    specials: Vec<Special>,
    /// `_id: 1` or `_id: 0`.
    id: Option<bool>,
    /// Whether there is a positional path.
    positional: bool,
    /// Whether there is an `$elemMatch`.
    first_element: bool,
    /// Slices, which are named only if the projection turns out to include.
    slices: Vec<String>,
    /// Exclusions and inclusions share the tree; slices have to collide with it too.
    taken: Node,
}

impl Builder {
    /// Adds a leaf. Errors are those of the field that comes too late: the first one that is not
    /// `_id` decides the mode.
    ///
    /// Errors: 31253 an inclusion in an exclusion, 31254 the other way, 31310 a computed value in
    /// an exclusion.
    pub(super) fn add_leaf(&mut self, path: &str, leaf: Leaf) -> Result<(), Error> {
        // Collisions come before everything else, whatever the leaf is.
        self.take_path(path)?;
        match leaf {
            // The id does not decide the mode.
            Leaf::Include if path == "_id" => self.id = Some(true),
            Leaf::Exclude if path == "_id" => self.id = Some(false),
            Leaf::Include => {
                if self.mode == Some(Mode::Exclusion) {
                    let text = format!(
                        "Cannot do inclusion on field {} in exclusion projection",
                        last_part(path)
                    );
                    return Err(Error::new(31253, text));
                }
                self.insert_named(path, Mode::Inclusion)?;
            }
            Leaf::Exclude => {
                if self.mode == Some(Mode::Inclusion) {
                    let text = format!(
                        "Cannot do exclusion on field {} in inclusion projection",
                        last_part(path)
                    );
                    return Err(Error::new(31254, text));
                }
                self.insert_named(path, Mode::Exclusion)?;
            }
            Leaf::Computed(computed, shown) => {
                if self.mode == Some(Mode::Exclusion) {
                    let text = format!(
                        "Cannot use an expression {}: {shown} in an exclusion projection",
                        last_part(path)
                    );
                    return Err(Error::new(31310, text));
                }
                // A computed value makes it an inclusion, as if it were named.
                self.mode = Some(Mode::Inclusion);
                self.insert(path, Item::Computed(Box::new(computed)))?;
            }
            Leaf::FirstElement(computed) => {
                self.first_element = true;
                self.check_exclusive("Cannot specify positional operator and $elemMatch.")?;
                self.insert(path, Item::Computed(Box::new(computed)))?;
            }
            Leaf::Slice { skip, limit } => {
                // A slice fits into both modes; whether it has to be named shows at the end.
                self.slices.push(path.to_owned());
                self.specials.push(Special::Slice { path: Path::new(path), skip, limit });
            }
            Leaf::Positional => self.add_positional(path)?,
        }
        Ok(())
    }

    /// Adds a positional path: one for a query (31276), and only in an inclusion.
    fn add_positional(&mut self, path: &str) -> Result<(), Error> {
        if self.positional {
            let text = "Cannot specify more than one positional projection per query.";
            return Err(Error::new(31276, text));
        }
        if self.mode == Some(Mode::Exclusion) {
            let text = "positional projection cannot be used with exclusion";
            return Err(Error::new(31395, text));
        }
        self.positional = true;
        self.check_exclusive("Cannot specify positional operator and $elemMatch.")?;
        self.insert_named(path, Mode::Inclusion)?;
        self.specials.push(Special::Positional { path: Path::new(path) });
        Ok(())
    }

    /// The positional operator and `$elemMatch` choose one element each, and exclude each other.
    ///
    /// Errors: 31255.
    fn check_exclusive(&self, text: &str) -> Result<(), Error> {
        if self.positional && self.first_element {
            return Err(Error::new(31255, text));
        }
        Ok(())
    }

    /// Adds a path that is included or excluded, which decides the mode.
    fn insert_named(&mut self, path: &str, mode: Mode) -> Result<(), Error> {
        self.mode = Some(mode);
        self.insert(path, Item::Named)
    }

    /// Adds an item to the tree; a path on the way to another one is a collision.
    fn insert(&mut self, path: &str, item: Item) -> Result<(), Error> {
        let parts: Vec<&str> = path.split('.').collect();
        self.node.insert(&parts, item).map_err(|collision| collision_error(path, collision))
    }

    /// Every path may stand only once, whatever is done at it. Slices are not in the tree of items,
    /// so a tree of all paths is kept beside it.
    fn take_path(&mut self, path: &str) -> Result<(), Error> {
        let parts: Vec<&str> = path.split('.').collect();
        self.taken.insert(&parts, Item::Named).map_err(|collision| collision_error(path, collision))
    }

    /// The projection. Without a deciding field it excludes, unless `_id: 1` or an `$elemMatch`
    /// stands alone.
    pub(super) fn finish_projection(mut self) -> Result<Projection, Error> {
        // Nothing but ids and parts of arrays: the id decides, then an `$elemMatch`.
        let mode = self.mode.unwrap_or(match self.id {
            Some(true) => Mode::Inclusion,
            _ if self.first_element && self.slices.is_empty() => Mode::Inclusion,
            _ => Mode::Exclusion,
        });
        // The id is in an inclusion unless it is left out, and in an exclusion unless it is
        // excluded.
        match (mode, self.id) {
            (Mode::Inclusion, Some(false)) | (Mode::Exclusion, None | Some(true)) => {}
            (Mode::Inclusion, None) if self.node.get("_id").is_some() => {}
            (Mode::Inclusion, _) | (Mode::Exclusion, Some(false)) => {
                self.insert("_id", Item::Named)?;
            }
        }
        // In an exclusion every field is shown anyway.
        if mode == Mode::Inclusion {
            for path in std::mem::take(&mut self.slices) {
                self.insert(&path, Item::Named)?;
            }
        }
        Ok(Projection::new(mode, self.node, self.specials))
    }
}

/// The last part of a path: texts name the field, not the path.
fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The error of a path that collides: 31250 for the same path, 31249 with what remains of the
/// longer one.
fn collision_error(path: &str, collision: Collision) -> Error {
    match collision {
        Collision::Here => Error::new(31250, format!("Path collision at {path}")),
        Collision::Through(remaining) => {
            let parts: Vec<&str> = path.split('.').collect();
            let rest =
                parts.get(parts.len().saturating_sub(remaining + 1).max(1)..).unwrap_or_default();
            let text = format!("Path collision at {path} remaining portion {}", rest.join("."));
            Error::new(31249, text)
        }
    }
}
