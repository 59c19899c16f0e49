//! Tests of the values at a path.

use document::{ArrayRef, DocRef, Document, Path, Value, ValueRef};
use evaluation::{Context, Error, Pattern};

use super::{BitTest, Comparison, Filter, InSet, TypeSet, bits, compare};
use crate::path::{PathEnd, any_value};

/// A test of the values at a path. Where the path ends at an array, `ElemMatch`, `ElemValue` and
/// `Size` look at the array; all others at its elements and at the array itself.
#[derive(Clone, Debug)]
pub enum PathTest {
    /// Comparison with a value (`null` equals missing).
    /// An array as operand is compared with whole arrays, too.
    Compare(Comparison, Value),
    /// One of a set of values and patterns.
    In(InSet),
    /// There is a value; missing is the negation.
    /// Null is a value.
    Exists,
    /// Its type is one of a set.
    Type(TypeSet),
    /// A whole number leaves this remainder.
    Mod {
        /// Never zero.
        divisor: i64,
        /// With the dividend's sign.
        remainder: i64,
    },
    /// Text matches a pattern.
    Pattern(Pattern),
    /// Bits are set or clear.
    Bits(BitTest),
    /// An array of this length.
    /// A negative length is met by none.
    Size(i64),
    /// An array with an element, itself a document or array, that meets a filter.
    ElemMatch(Box<Filter>),
    /// An array with an element that meets a condition on values.
    ElemValue(Condition),
}

/// Work of one test, about.
/// In the units of the budget.
const TEST: usize = 64;

/// A condition on values without a path: what an element of an array has to meet, or, put at a
/// path, a filter.
/// `$elemMatch` with operators and `$not` are made of it.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All of them.
    All(Vec<Condition>),
    /// Not this one.
    Not(Box<Condition>),
    /// A test.
    Test(Box<PathTest>),
    /// Never true.
    /// So that an impossible operand needs no filter of its own.
    Never,
}

impl PathTest {
    /// What the test looks at where the path ends at an array.
    fn leaf_of_path(&self) -> PathEnd {
        match self {
            Self::Size(_) | Self::ElemMatch(_) | Self::ElemValue(_) => PathEnd::Whole,
            _ => PathEnd::Elements,
        }
    }

    /// Whether one of the values at a path meets the test; `index` is set to the array index that
    /// led there.
    /// It stops at the first value that does.
    pub(super) fn meets_at(
        &self,
        path: &Path,
        document: DocRef<'_>,
        context: &Context,
        index: &mut Option<usize>,
    ) -> Result<bool, Error> {
        any_value(document, path, self.leaf_of_path(), &mut |seen| {
            let mut inner = None;
            let met = self.meets_value(seen.value, context, &mut inner)?;
            if met {
                // The outermost array counts: it is the one that a positional `$` refers to.
                *index = seen.index.or(inner).or(*index);
            }
            Ok(met)
        })
    }

    /// Whether one value (`None`: missing) meets the test; arrays are not walked, except by the
    /// tests of arrays, which set `index`.
    pub fn meets_value(
        &self,
        value: Option<ValueRef<'_>>,
        context: &Context,
        index: &mut Option<usize>,
    ) -> Result<bool, Error> {
        match (self, value) {
            (Self::Compare(comparison, operand), value) => {
                return Ok(compare::meets_comparison(*comparison, value, operand.as_ref()));
            }
            // These three have a rule for missing values.
            (Self::In(set), value) => return set.meets_value(value, context),
            (Self::Exists, value) => return Ok(value.is_some()),
            _ => {}
        }
        // Of all tests only the three above can hold for a missing value.
        let Some(value) = value else { return Ok(false) };
        Ok(match (self, value) {
            (Self::Type(types), value) => types.contains(value.kind()),
            (Self::Mod { divisor, remainder }, value) => bits::truncated_number(value)
                // The least integer by -1 overflows, and leaves 0.
                .is_some_and(|number| number.wrapping_rem(*divisor) == *remainder),
            (Self::Pattern(pattern), value) => {
                return pattern.matches_value(value, &|units| context.budget.spend(units));
            }
            (Self::Bits(test), value) => test.meets_value(value),
            // A negative size is no length.
            (Self::Size(size), ValueRef::Array(array)) => {
                usize::try_from(*size).is_ok_and(|size| array.len() == size)
            }
            (Self::ElemMatch(filter), ValueRef::Array(array)) => {
                return first_meeting(array, index, |element| {
                    element_meets(filter, element, context)
                });
            }
            (Self::ElemValue(condition), ValueRef::Array(array)) => {
                return first_meeting(array, index, |element| {
                    condition.meets_element(element, context)
                });
            }
            _ => false,
        })
    }
}

impl PathTest {
    /// About how much work it is to meet the test once, beside reading the value.
    /// Looking a value up in a set is taken as one test, however long the set is.
    pub(crate) fn work_units(&self) -> usize {
        match self {
            Self::In(set) => TEST + TEST * set.patterns().len(),
            _ => TEST,
        }
    }
}

impl Condition {
    /// The condition on the values at a path.
    pub fn at_path(self, path: &Path) -> Filter {
        match self {
            Self::All(all) => Filter::all(all.into_iter().map(|one| one.at_path(path)).collect()),
            Self::Not(condition) => Filter::Not(Box::new(condition.at_path(path))),
            Self::Test(test) => Filter::Path(path.clone(), *test),
            Self::Never => Filter::Never,
        }
    }

    /// Whether one element meets the condition.
    /// The element is taken as a value: an array in an array is not walked.
    pub fn meets_element(&self, value: ValueRef<'_>, context: &Context) -> Result<bool, Error> {
        match self {
            Self::All(all) => {
                for condition in all {
                    if !condition.meets_element(value, context)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(condition) => Ok(!condition.meets_element(value, context)?),
            Self::Test(test) => test.meets_value(Some(value), context, &mut None),
            Self::Never => Ok(false),
        }
    }
}

/// Whether an element meets a test; `index` is set to the first one that does.
/// Elements after it are not looked at.
fn first_meeting(
    array: ArrayRef<'_>,
    index: &mut Option<usize>,
    mut meets: impl FnMut(ValueRef<'_>) -> Result<bool, Error>,
) -> Result<bool, Error> {
    for (at, element) in array.iter().enumerate() {
        if meets(element)? {
            *index = Some(at);
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an element that is a document or an array meets a filter. Arrays inside arrays are met
/// as documents with the fields "0", "1", ...
/// Any other element meets no filter, not even an empty one.
fn element_meets(filter: &Filter, element: ValueRef<'_>, context: &Context) -> Result<bool, Error> {
    match element {
        ValueRef::Document(inner) => filter.matches(inner, context),
        ValueRef::Array(ArrayRef::Raw(bytes)) => filter.matches(DocRef::Raw(bytes), context),
        ValueRef::Array(ArrayRef::Tree(values)) => {
            let named =
                values.iter().enumerate().map(|(at, value)| (at.to_string(), value.clone()));
            filter.matches(DocRef::Tree(&named.collect::<Document>()), context)
        }
        _ => Ok(false),
    }
}
