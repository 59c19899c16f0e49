//! The dotted paths of edits: field names, array indexes and the three positional steps.

use std::{cmp::Ordering, fmt};

use crate::{Error, Kind};

/// Most parts of a path.
const MAX_PARTS: usize = 200;

/// One part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field of a document or an index of an array.
    Name(String),
    /// `$`: the element that met the filter.
    Matched,
    /// `$[]`: every element.
    Every,
    /// `$[x]`: every element that meets the filter of this name.
    Filtered(String),
}

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPath {
    text: String,
    steps: Vec<Step>,
}

impl EditPath {
    /// Splits a path and checks its parts.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::new(Kind::Invalid, 56, "An empty update path is not valid."));
        }
        if text.split('.').any(str::is_empty) {
            let text = format!(
                "The update path '{text}' contains an empty field name, which is not allowed."
            );
            return Err(Error::new(Kind::Invalid, 56, text));
        }
        let steps: Vec<Step> = text.split('.').map(step).collect();
        if steps.len() > MAX_PARTS {
            return Err(Error::new(Kind::TooLarge, 15, "The update path is too long"));
        }
        let what = match steps.first() {
            Some(Step::Matched) => "positional (i.e. '$') element",
            Some(Step::Every | Step::Filtered(_)) => {
                "array filter identifier (i.e. '$[<id>]') element"
            }
            _ => return Ok(Self { text: text.to_owned(), steps }),
        };
        let text = format!("Cannot have {what} in the first position in path '{text}'");
        Err(Error::new(Kind::Invalid, 2, text))
    }

    /// The dotted text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its parts.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The field at the root.
    pub fn root(&self) -> &str {
        self.text.split('.').next().unwrap_or_default()
    }

    /// Whether a part is positional.
    pub fn is_dynamic(&self) -> bool {
        self.steps.iter().any(|step| !matches!(step, Step::Name(_)))
    }

    /// The parts as text.
    pub(super) fn names(&self) -> Vec<String> {
        self.text.split('.').map(str::to_owned).collect()
    }
}

impl fmt::Display for EditPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn step(part: &str) -> Step {
    match part.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')) {
        Some("") => Step::Every,
        Some(name) => Step::Filtered(name.to_owned()),
        None if part == "$" => Step::Matched,
        None => Step::Name(part.to_owned()),
    }
}

/// The array index that a part is: digits only.
pub(super) fn index(part: &str) -> Option<usize> {
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if digits { part.parse().ok() } else { None }
}

/// The order in which edits take place: part by part, numbers by value, else by bytes.
pub(super) fn order(a: &[String], b: &[String]) -> Ordering {
    for (a, b) in a.iter().zip(b) {
        let order = match (index(a), index(b)) {
            (Some(m), Some(n)) => m.cmp(&n).then_with(|| a.cmp(b)),
            _ => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// Of paths with the position they were requested at: an error when one is another or inside it.
pub(super) fn check_conflicts(mut paths: Vec<(Vec<String>, usize)>) -> Result<(), Error> {
    paths.sort_by(|a, b| order(&a.0, &b.0));
    for pair in paths.windows(2) {
        let [(outer, first), (inner, second)] = pair else { continue };
        if inner.starts_with(outer) {
            let later = if first > second { outer } else { inner };
            let text = format!(
                "Updating the path '{}' would create a conflict at '{}'",
                later.join("."),
                outer.join(".")
            );
            return Err(Error::new(Kind::Conflict, 40, text));
        }
    }
    Ok(())
}
