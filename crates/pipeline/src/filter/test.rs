//! Tests of the values at a path.

use std::sync::Arc;

use document::{ArrayRef, DocRef, Document, Path, Value, ValueRef};
use evaluation::{Context, Error, Pattern};
use geometry::GeoTest;

use super::{BitTest, Comparison, Filter, InSet, TypeSet, bits, compare};
use crate::path::{PathEnd, any_value};

/// A test of the values at a path. If the path ends at an array, `ElemMatch`, `ElemValue` and
/// `Size` test the array; all others test its elements and the array itself.
#[derive(Clone, Debug)]
pub enum PathTest {
    /// Comparison with a value; `null` equals missing. An array operand is compared with whole
    /// arrays, too.
    Compare(Comparison, Value),
    /// The value equals one of these values or matches one of these regular expressions.
    In(InSet),
    /// A value exists at the path, even if it is null.
    Exists,
    /// The value's type is in a set.
    Type(TypeSet),
    /// The value is a number whose integer part has this remainder when it is divided by `divisor`.
    Mod {
        /// The divisor, which is never zero.
        divisor: i64,
        /// The remainder, with the dividend's sign.
        remainder: i64,
    },
    /// A string that matches a regular expression.
    Pattern(Pattern),
    /// The value is a geometry within a region, or one that intersects it.
    Geo(Arc<GeoTest>),
    /// A test of some bits of the value.
    Bits(BitTest),
    /// The value is an array of this length; a negative length never matches.
    Size(i64),
    /// An array with an element, itself a document or array, that matches a filter.
    ElemMatch(Box<Filter>),
    /// The value is an array with an element that meets a condition.
    ElemValue(Condition),
}

/// Units of work charged for one test, approximately.
const TEST: usize = 64;

/// A condition on a value, without a path: on the elements of an array (`$elemMatch` with
/// operators, `$pull`), or on the values at a path to which it is applied (`$not`).
#[derive(Clone, Debug)]
pub enum Condition {
    /// True if all of these conditions are true.
    All(Vec<Condition>),
    /// True if this condition is false.
    Not(Box<Condition>),
    /// True if a value at the path passes the test.
    Test(Box<PathTest>),
    /// A condition that is false for any value.
    Never,
}

impl PathTest {
    /// Returns how an array at the end of the path is tested.
    fn leaf_of_path(&self) -> PathEnd {
        match self {
            Self::Size(_) | Self::ElemMatch(_) | Self::ElemValue(_) => PathEnd::Whole,
            _ => PathEnd::Elements,
        }
    }

    /// Returns whether any value at a path meets the test, and sets `index` to the array index of
    /// that value. Stops at the first one.
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
                // The positional `$` refers to the outermost array.
                *index = seen.index.or(inner).or(*index);
            }
            Ok(met)
        })
    }

    /// Returns whether one value (`None`: missing) meets the test. Arrays are traversed only by the
    /// tests of arrays, which set `index`.
    pub fn meets_value(
        &self,
        value: Option<ValueRef<'_>>,
        context: &Context,
        index: &mut Option<usize>,
    ) -> Result<bool, Error> {
        match (self, value) {
            (Self::Compare(comparison, operand), value) => {
                let (operand, collation) = (operand.as_ref(), context.collation());
                return Ok(compare::meets_comparison(*comparison, value, operand, collation));
            }
            (Self::In(set), value) => return set.meets_value(value, context),
            (Self::Exists, value) => return Ok(value.is_some()),
            _ => {}
        }
        // Only the three tests above can hold for a missing value.
        let Some(value) = value else { return Ok(false) };
        Ok(match (self, value) {
            (Self::Type(types), value) => types.contains(value.kind()),
            (Self::Mod { divisor, remainder }, value) => bits::truncated_number(value)
                // The least integer by -1 overflows; the remainder is 0.
                .is_some_and(|number| number.wrapping_rem(*divisor) == *remainder),
            (Self::Pattern(pattern), value) => {
                return pattern.matches_value(value, &|units| context.budget.spend(units));
            }
            (Self::Geo(test), value) => {
                // Each geometry may take the work of one evaluation.
                context.budget.begin_evaluation();
                return test.meets(value, &|units| context.budget.spend_bounded(units));
            }
            (Self::Bits(test), value) => test.meets_value(value),
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
    /// Returns the approximate work of one test, besides reading the value. A lookup in a set
    /// counts as one test, regardless of the size of the set.
    pub(crate) fn work_units(&self) -> usize {
        match self {
            Self::In(set) => TEST + TEST * set.patterns().len(),
            _ => TEST,
        }
    }
}

impl Condition {
    /// Converts the condition to a filter on the values at a path.
    pub fn at_path(self, path: &Path) -> Filter {
        match self {
            Self::All(all) => Filter::all(all.into_iter().map(|one| one.at_path(path)).collect()),
            Self::Not(condition) => Filter::Not(Box::new(condition.at_path(path))),
            Self::Test(test) => Filter::Path(path.clone(), *test),
            Self::Never => Filter::Never,
        }
    }

    /// Returns whether one element meets the condition. An array in an array is not traversed.
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

/// Returns whether any element meets a test, and sets `index` to the first one that does.
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

/// Returns whether an element that is a document or an array matches a filter. An array inside an
/// array is matched like a document with the fields "0", "1", ... Any other element matches no
/// filter, not even an empty one.
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
