//! The dotted paths of edits: field names, array indexes and the three kinds of positional steps.

use std::{cmp::Ordering, collections::HashMap, fmt};

use evaluation::{Error, Kind};

/// Maximum number of parts of a path.
const MAX_PARTS: usize = 200;

/// One part of a path. Whether a name denotes a field or an array index depends on the value that
/// it is applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditStep {
    /// A field of a document or an index of an array.
    Name(String),
    /// `$`: the array element that matched the query.
    Matched,
    /// `$[]`: every element of the array.
    Every,
    /// `$[x]`: every element that matches the filter with this name.
    Filtered(String),
}

/// A parsed path of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPath {
    /// The dotted text, for messages.
    text: String,
    steps: Vec<EditStep>,
}

impl EditPath {
    /// Parses a path. Fails for empty names, too many parts, more than one `$`, and a positional
    /// step in front. `$[x]` may occur several times. A part such as `$x` is a plain name here.
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
        // Exact capacity, since an update may have very many paths.
        let mut steps = Vec::with_capacity(text.split('.').count());
        steps.extend(text.split('.').map(parse_step));
        if steps.len() > MAX_PARTS {
            return Err(Error::new(Kind::TooLarge, 15, "The update path is too long"));
        }
        if steps.iter().filter(|step| **step == EditStep::Matched).count() > 1 {
            let text = format!("Too many positional (i.e. '$') elements found in path '{text}'");
            return Err(Error::new(Kind::Invalid, 2, text));
        }
        let what = match steps.first() {
            Some(EditStep::Matched) => "positional (i.e. '$') element",
            Some(EditStep::Every | EditStep::Filtered(_)) => {
                "array filter identifier (i.e. '$[<id>]') element"
            }
            _ => return Ok(Self { text: text.to_owned(), steps }),
        };
        let text = format!("Cannot have {what} in the first position in path '{text}'");
        Err(Error::new(Kind::Invalid, 2, text))
    }

    /// Returns the path as dotted text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the parts of the path.
    pub fn steps(&self) -> &[EditStep] {
        &self.steps
    }

    /// Returns the name of the root field.
    pub fn root(&self) -> &str {
        self.text.split('.').next().unwrap_or_default()
    }

    /// Returns whether a part of the path is positional (`$`, `$[]` or `$[x]`).
    pub fn is_dynamic(&self) -> bool {
        self.steps.iter().any(|step| !matches!(step, EditStep::Name(_)))
    }

    /// Compares two paths by the order in which operators are applied.
    pub(super) fn compare_paths(&self, other: &Self) -> Ordering {
        in_order(self.text.split('.'), other.text.split('.'))
    }

    /// Returns the parts as text. The path must not have positional parts.
    pub(super) fn field_names(&self) -> Vec<String> {
        self.text.split('.').map(str::to_owned).collect()
    }
}

impl fmt::Display for EditPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Parses one part of a path.
fn parse_step(part: &str) -> EditStep {
    match part.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')) {
        Some("") => EditStep::Every,
        Some(name) => EditStep::Filtered(name.to_owned()),
        None if part == "$" => EditStep::Matched,
        None => EditStep::Name(part.to_owned()),
    }
}

/// Returns the array index that a part denotes: digits only, with or without leading zeros, that
/// fit 32 bits.
pub(super) fn array_index(part: &str) -> Option<usize> {
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if digits { part.parse::<u32>().ok().and_then(|at| usize::try_from(at).ok()) } else { None }
}

/// Compares two paths by the order in which operators are applied: part by part, numbers by value,
/// other parts by bytes.
pub(super) fn compare_names(a: &[String], b: &[String]) -> Ordering {
    in_order(a.iter().map(String::as_str), b.iter().map(String::as_str))
}

/// Returns the number by which a part is sorted: digits without leading zeros. `01` is sorted as
/// text, although it is a valid array index.
fn order_number(part: &str) -> Option<usize> {
    if part.starts_with('0') && part != "0" { None } else { array_index(part) }
}

/// Compares two paths part by part, with numbers by value; a prefix comes first.
fn in_order<'t>(
    mut a: impl Iterator<Item = &'t str>,
    mut b: impl Iterator<Item = &'t str>,
) -> Ordering {
    loop {
        let (a, b) = match (a.next(), b.next()) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        let order = match (order_number(a), order_number(b)) {
            (Some(m), Some(n)) => m.cmp(&n),
            _ => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The use of a path prefix by the paths checked so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrefixUse {
    Leaf,
    Inner,
    /// The prefix leads to an array, of which a filter selects elements.
    Filtered,
}

/// Fails if one of these paths, in the order of the request, equals another or is inside it, or if
/// one selects elements of an array by filter and another in a different way. Positional parts are
/// compared as text, so that `a.$` and `a.0` do not conflict here; concrete paths are checked
/// later.
pub(super) fn check_conflicts(paths: &[&EditPath]) -> Result<(), Error> {
    let mut used: HashMap<&str, PrefixUse> = HashMap::new();
    for path in paths {
        let conflict = |at: &str| {
            let text = format!("Updating the path '{path}' would create a conflict at '{at}'");
            Err(Error::new(Kind::Conflict, 40, text))
        };
        let mut end = 0;
        for step in &path.steps {
            let by_filter = matches!(step, EditStep::Every | EditStep::Filtered(_));
            let kind = if by_filter { PrefixUse::Filtered } else { PrefixUse::Inner };
            // The empty prefix is the root, which every path has.
            let before = path.text.get(..end).unwrap_or_default();
            // The prefix is the path of another operator, or an array of which one path selects
            // elements by filter and another does not.
            if *used.entry(before).or_insert(kind) != kind {
                return conflict(before);
            }
            let start = if end == 0 { 0 } else { end + 1 };
            let rest = path.text.get(start..).unwrap_or_default();
            end = rest.find('.').map_or(path.text.len(), |dot| start + dot);
        }
        // The same path again, or a path with operators below it.
        if used.insert(&path.text, PrefixUse::Leaf).is_some() {
            return conflict(&path.text);
        }
    }
    Ok(())
}

/// Fails if two concrete paths conflict. The paths must be in the order in which operators are
/// applied, so that a path comes right before those inside it.
pub(super) fn check_concrete<'a>(
    sorted: impl Iterator<Item = &'a Vec<String>>,
) -> Result<(), Error> {
    let mut before: Option<&Vec<String>> = None;
    for path in sorted {
        if let Some(outer) = before.filter(|outer| path.starts_with(outer)) {
            let text = format!("Update created a conflict at '{}'", outer.join("."));
            return Err(Error::new(Kind::Conflict, 40, text));
        }
        before = Some(path);
    }
    Ok(())
}
