//! The values that a dotted path leads to: embedded documents are entered, arrays on the way are
//! walked element by element, and a numeric part is both an array index and a field name.

use document::{ArrayRef, DocRef, Path, ValueRef};

/// What is visited where the path ends at an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// Its elements and then the array itself.
    Elements,
    /// Only the array itself.
    Whole,
}

/// A visited value.
/// A missing value is seen so that tests such as equality with null can hold for it.
#[derive(Clone, Copy, Debug)]
pub struct SeenValue<'a> {
    /// The value; `None` where the path leads nowhere.
    pub value: Option<ValueRef<'a>>,
    /// Index in the outermost array that was walked to get here; a part of the path that is itself
    /// an index is no walk.
    /// It is what a positional `$` stands for.
    pub index: Option<usize>,
}

/// Visits the values at a path until `visit` returns true; returns whether it did. A value that is
/// missing is visited too, once for each document that lacks it.
/// An error of `visit` ends the walk.
pub fn any_value<'a, E>(
    document: DocRef<'a>,
    path: &Path,
    leaf: PathEnd,
    visit: &mut impl FnMut(SeenValue<'a>) -> Result<bool, E>,
) -> Result<bool, E> {
    PathWalk { path, leaf }.walk_document(document, 0, None, visit)
}

/// The index that a path part is, when it is a decimal number without leading zeros.
/// `00` is a name only, as it would be another text when written back.
pub fn array_index(part: &str) -> Option<usize> {
    let digits = part.as_bytes();
    let plain = digits.first().is_some_and(|first| *first != b'0' || digits.len() == 1)
        && digits.iter().all(u8::is_ascii_digit);
    if plain { part.parse().ok() } else { None }
}

/// A path and what is visited at its end.
struct PathWalk<'p> {
    /// The whole path.
    path: &'p Path,
    /// What is visited where an array stands at its end.
    leaf: PathEnd,
}

impl<'p> PathWalk<'p> {
    /// Whether a part is the last one.
    fn is_last(&self, part: usize) -> bool {
        part + 1 >= self.path.len()
    }

    /// Visits the values of `document` at the path from `part` on.
    /// It goes on in a loop through documents and recurses for arrays only. A value that ends the
    /// path too early counts as missing.
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
                    // Also at the end of the path: what is visited there is for the array to say.
                    return self.walk_array(array, part + 1, index, visit);
                }
                Some(ValueRef::Document(inner)) if !self.is_last(part) => {
                    document = inner;
                    part += 1;
                }
                _ => {
                    // A plain value on the way holds nothing below it.
                    let value = value.filter(|_| self.is_last(part));
                    return visit(SeenValue { value, index });
                }
            }
        }
    }

    /// Visits the values of an array, the path from `part` on still before it: those of each
    /// document in it, and, where the part is a number, those of the element at that index. An
    /// array inside the array is entered by index only.
    /// Nothing is visited for elements that are neither, so that an array of plain values has no
    /// missing field.
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
        // Both readings are tried for each element: the index, and a field of that name.
        let wanted = array_index(self.path.part(part));
        for (at, element) in array.iter().enumerate() {
            // Only the outermost array says which element it was.
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
                // An element that is picked by index is visited as it is, an array as a whole.
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

    /// Visits an array at the end of the path: its elements, if asked for, then the array itself.
    /// The array itself counts as a value too: `{a: [1]}` equals `{a: [1]}`.
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
