//! Collects the leaves (paths with their values) of a projection, and determines its mode:
//! inclusion or exclusion. `_id` is special: it may be excluded from an inclusion and included in
//! an exclusion, and determines the mode only if it is the only field.
//!
//! ```text
//! {a: 1}            inclusion: _id and a
//! {a: 0}            exclusion: all but a
//! {_id: 0}          exclusion: nothing else decides
//! {a: 1, _id: 0}    inclusion: a
//! {a: {$slice: 1}}  exclusion: everything, with a sliced
//! ```

use document::Path;
use pipeline::project::{Collision, Computed, Item, Mode, Node, Projection, Special};

use crate::Error;

/// Effect of a projection on a path.
#[derive(Debug)]
pub(crate) enum Leaf {
    /// The path is included as a whole.
    Include,
    /// The path is excluded as a whole.
    Exclude,
    /// A computed value, with its text for messages.
    Computed(Computed, String),
    /// The score of a search. It does not decide whether the projection includes or excludes
    /// fields.
    Score(Computed),
    /// `$elemMatch`: the first element of an array that matches the condition.
    FirstElement(Computed),
    /// `$slice`: a part of an array. It does not decide whether the projection includes or
    /// excludes fields.
    Slice { skip: Option<i64>, limit: i64 },
    /// `a.$`: the element at which the filter matched.
    Positional,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    /// Whether the projection includes or excludes fields; `None` until a field has determined it.
    mode: Option<Mode>,
    /// The tree of included, excluded or computed fields.
    node: Node,
    /// Array operations that are applied after the fields are copied.
    specials: Vec<Special>,
    /// The value of `_id: 1` or `_id: 0`.
    id: Option<bool>,
    /// Whether the projection has a positional path (`a.$`).
    positional: bool,
    /// Whether the projection has an `$elemMatch`.
    first_element: bool,
    /// Paths of slices, which are included if the projection turns out to be an inclusion.
    slices: Vec<String>,
    /// All paths of the projection, including those of slices, to detect collisions.
    taken: Node,
}

impl Builder {
    /// Returns whether a field has made the projection an exclusion.
    pub(super) fn is_exclusion(&self) -> bool {
        self.mode == Some(Mode::Exclusion)
    }

    /// Adds a leaf. The first field that is not `_id` decides the mode, and a later field of the
    /// other mode is an error.
    ///
    /// Fails with 31253 for an inclusion in an exclusion, 31254 for an exclusion in an inclusion,
    /// and 31310 for a computed value in an exclusion.
    pub(super) fn add_leaf(&mut self, path: &str, leaf: Leaf) -> Result<(), Error> {
        // Collisions take precedence over other errors.
        self.take_path(path)?;
        match leaf {
            // `_id` does not decide the mode.
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
                // A computed value makes the projection an inclusion.
                self.mode = Some(Mode::Inclusion);
                self.insert(path, Item::Computed(Box::new(computed)))?;
            }
            Leaf::Score(computed) => self.insert(path, Item::Computed(Box::new(computed)))?,
            Leaf::FirstElement(computed) => {
                self.first_element = true;
                self.check_exclusive("Cannot specify positional operator and $elemMatch.")?;
                self.insert(path, Item::Computed(Box::new(computed)))?;
            }
            Leaf::Slice { skip, limit } => {
                // A slice is allowed in both modes; whether it has to be included is known at the
                // end.
                self.slices.push(path.to_owned());
                self.specials.push(Special::Slice { path: Path::new(path), skip, limit });
            }
            Leaf::Positional => self.add_positional(path)?,
        }
        Ok(())
    }

    /// Adds a positional path. A second one fails with 31276, and one in an exclusion is an error.
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

    /// Fails if the projection has both a positional operator and an `$elemMatch`, since each
    /// selects one element.
    ///
    /// The error code is 31255.
    fn check_exclusive(&self, text: &str) -> Result<(), Error> {
        if self.positional && self.first_element {
            return Err(Error::new(31255, text));
        }
        Ok(())
    }

    /// Adds a path that is included or excluded, which sets the mode.
    fn insert_named(&mut self, path: &str, mode: Mode) -> Result<(), Error> {
        self.mode = Some(mode);
        self.insert(path, Item::Named)
    }

    /// Adds an item to the tree; a path that is a prefix of another one is a collision.
    fn insert(&mut self, path: &str, item: Item) -> Result<(), Error> {
        let parts: Vec<&str> = path.split('.').collect();
        self.node.insert(&parts, item).map_err(|collision| collision_error(path, collision))
    }

    /// Records a path; each path may occur only once. Slices are not in the tree of items, so all
    /// paths are recorded in a second tree.
    fn take_path(&mut self, path: &str) -> Result<(), Error> {
        let parts: Vec<&str> = path.split('.').collect();
        self.taken.insert(&parts, Item::Named).map_err(|collision| collision_error(path, collision))
    }

    /// Returns the projection. If no field has determined the mode, it is an inclusion if it has
    /// `_id: 1`, or an `$elemMatch` and no `$slice`; otherwise it is an exclusion.
    pub(super) fn finish_projection(mut self) -> Result<Projection, Error> {
        // Only `_id` and array operations: `_id` decides, then an `$elemMatch`.
        let mode = self.mode.unwrap_or(match self.id {
            Some(true) => Mode::Inclusion,
            _ if self.first_element && self.slices.is_empty() => Mode::Inclusion,
            _ => Mode::Exclusion,
        });
        // `_id` is named in an inclusion unless it is excluded, and in an exclusion only if it is
        // excluded.
        match (mode, self.id) {
            (Mode::Inclusion, Some(false)) | (Mode::Exclusion, None | Some(true)) => {}
            (Mode::Inclusion, None) if self.node.get("_id").is_some() => {}
            (Mode::Inclusion, _) | (Mode::Exclusion, Some(false)) => {
                self.insert("_id", Item::Named)?;
            }
        }
        // In an exclusion slices are returned anyway.
        if mode == Mode::Inclusion {
            for path in std::mem::take(&mut self.slices) {
                self.insert(&path, Item::Named)?;
            }
        }
        Ok(Projection::new(mode, self.node, self.specials))
    }
}

/// Returns the last part of a path, which error messages contain.
fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns the error of a collision: 31250 for two equal paths, otherwise 31249 with the part of
/// the longer path that the shorter one lacks.
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
