//! Visits the values at a dotted path: embedded documents are entered, arrays on the path are
//! traversed, and a numeric part is both an array index and a field name.

use document::{ArrayRef, DocRef, Path, ValueRef};

/// Way in which an array at the end of the path is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// The elements of the array are visited, then the array itself.
    Elements,
    /// The array is visited only as a whole.
    Whole,
}

/// A visited value. Missing values are visited so that tests such as equality with null can hold.
#[derive(Clone, Copy, Debug)]
pub struct SeenValue<'a> {
    /// The visited value; `None` if the path has no value.
    pub value: Option<ValueRef<'a>>,
    /// The index in the outermost array that was traversed, for the positional `$`. An index in the
    /// path itself is not a traversal.
    pub index: Option<usize>,
}

/// Visits the values at a path until `visit` returns true or fails; returns whether it returned
/// true. A missing value is visited once for each document that lacks it.
pub fn any_value<'a, E>(
    document: DocRef<'a>,
    path: &Path,
    leaf: PathEnd,
    visit: &mut impl FnMut(SeenValue<'a>) -> Result<bool, E>,
) -> Result<bool, E> {
    PathWalk { path, leaf }.walk_document(document, 0, None, visit)
}

/// Returns the array index that a path part denotes: a decimal number without leading zeros.
pub fn array_index(part: &str) -> Option<usize> {
    let digits = part.as_bytes();
    let plain = digits.first().is_some_and(|first| *first != b'0' || digits.len() == 1)
        && digits.iter().all(u8::is_ascii_digit);
    if plain { part.parse().ok() } else { None }
}

/// A path, and how an array at its end is visited.
struct PathWalk<'p> {
    path: &'p Path,
    leaf: PathEnd,
}

impl<'p> PathWalk<'p> {
    fn is_last(&self, part: usize) -> bool {
        part + 1 >= self.path.len()
    }

    /// Visits the values of `document` at the path from `part` on. It loops through documents and
    /// recurses for arrays only. A value that is not a document before the end of the path counts
    /// as missing.
    fn walk_document<'a, E>(
        &self,
        mut document: DocRef<'a>,
        mut part: usize,
        index: Option<usize>,
        visit: &mut impl FnMut(SeenValue<'a>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        loop {
            let value = document.get(self.path.part(part));
            match value {
                Some(ValueRef::Array(array)) => {
                    // `walk_array` also handles the end of the path.
                    return self.walk_array(array, part + 1, index, visit);
                }
                Some(ValueRef::Document(inner)) if !self.is_last(part) => {
                    document = inner;
                    part += 1;
                }
                _ => {
                    // A scalar before the end of the path has no fields.
                    let value = value.filter(|_| self.is_last(part));
                    return visit(SeenValue { value, index });
                }
            }
        }
    }

    /// Visits the values of an array at the path from `part` on: the values in each of its
    /// documents and, if the part is a number, in the element at that index. An array inside the
    /// array is entered by index only. Other elements are not visited, so an array of scalars has
    /// no missing field.
    fn walk_array<'a, E>(
        &self,
        array: ArrayRef<'a>,
        part: usize,
        outer: Option<usize>,
        visit: &mut impl FnMut(SeenValue<'a>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        if part >= self.path.len() {
            return self.leaf_array(array, outer, visit);
        }
        // A part is tried both as an index and as a field name.
        let wanted = array_index(self.path.part(part));
        for (at, element) in array.iter().enumerate() {
            // Only the index in the outermost array is reported.
            let index = outer.or(Some(at));
            if let ValueRef::Document(inner) = element
                && self.walk_document(inner, part, index, visit)?
            {
                return Ok(true);
            }
            if wanted != Some(at) {
                continue;
            }
            let met = match element {
                // An element selected by index is visited as a whole, even if it is an array.
                _ if self.is_last(part) => visit(SeenValue { value: Some(element), index: outer })?,
                ValueRef::Document(inner) => self.walk_document(inner, part + 1, outer, visit)?,
                ValueRef::Array(inner) => self.walk_array(inner, part + 1, outer, visit)?,
                _ => false,
            };
            if met {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Visits an array at the end of the path: its elements, if `leaf` requests them, then the
    /// array itself, since the filter `{a: [1]}` matches the document `{a: [1]}`.
    fn leaf_array<'a, E>(
        &self,
        array: ArrayRef<'a>,
        outer: Option<usize>,
        visit: &mut impl FnMut(SeenValue<'a>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        if self.leaf == PathEnd::Elements {
            for (at, element) in array.iter().enumerate() {
                if visit(SeenValue { value: Some(element), index: outer.or(Some(at)) })? {
                    return Ok(true);
                }
            }
        }
        visit(SeenValue { value: Some(ValueRef::Array(array)), index: outer })
    }
}
