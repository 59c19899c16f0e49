//! Compares values with schemas.

use document::{ArrayRef, Decimal128, DocRef, Number, ValueRef};
use evaluation::{Context, Error, STEP, readable_bytes};

use super::{
    Allowed, Dependency, Rule, Schema,
    properties::{count_search, find_properties, has_properties, names_of},
    unordered::{find_duplicate, is_among},
};
use crate::filter::meets_comparison;

/// Bytes of a document or string that are searched per unit of work.
pub(super) const BYTES_PER_UNIT: usize = 8;
/// Units of work of an exact division: decimals of very different magnitudes have thousands of
/// digits.
const DIVISION: usize = 4096;

impl Schema {
    /// Returns whether a value matches. Fails if the operation must end.
    pub fn matches(&self, value: ValueRef<'_>, context: &Context) -> Result<bool, Error> {
        context.budget.spend(STEP + STEP / 4 * self.keywords.len())?;
        for keyword in &self.keywords {
            if !keyword.rule.is_met(value, context)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Rule {
    /// Returns whether a value meets the rule. A value of a type that the rule does not constrain
    /// meets it.
    pub(super) fn is_met(&self, value: ValueRef<'_>, context: &Context) -> Result<bool, Error> {
        match (self, value) {
            (Self::Type(types), value) => Ok(types.contains(value.kind())),
            (Self::AllOf(schemas), value) => {
                all(schemas.iter(), |schema| schema.matches(value, context))
            }
            (Self::AnyOf(schemas), value) => {
                Ok(!all(schemas.iter(), |schema| Ok(!schema.matches(value, context)?))?)
            }
            (Self::OneOf(schemas), value) => {
                Ok(matching_schemas(schemas, value, context)?.len() == 1)
            }
            (Self::Not(schema), value) => Ok(!schema.matches(value, context)?),
            (Self::Enum(values), value) => is_among(values, value, context),
            (rule, ValueRef::String(text)) => rule.is_met_by_text(text, context),
            (rule, ValueRef::Array(array)) => rule.is_met_by_array(array, context),
            (rule, ValueRef::Document(document)) => rule.is_met_by_document(document, context),
            (Self::Limit(comparison, operand), value) if value.is_number() => {
                Ok(meets_comparison(*comparison, Some(value), operand.as_ref(), None))
            }
            (Self::MultipleOf(divisor), value) => {
                let Some(number) = Number::of(value) else { return Ok(true) };
                context.budget.spend(DIVISION)?;
                Ok(is_multiple(number, *divisor))
            }
            _ => Ok(true),
        }
    }

    fn is_met_by_text(&self, text: &str, context: &Context) -> Result<bool, Error> {
        let length = || {
            context.budget.spend(text.len() / BYTES_PER_UNIT)?;
            Ok::<_, Error>(count_of(text.chars().count()))
        };
        match self {
            Self::Pattern(pattern) => pattern.is_match(text, &|units| context.budget.spend(units)),
            Self::MaxLength(most) => Ok(length()? <= *most),
            Self::MinLength(least) => Ok(*least <= length()?),
            _ => Ok(true),
        }
    }

    fn is_met_by_array(&self, array: ArrayRef<'_>, context: &Context) -> Result<bool, Error> {
        let length = || {
            context.budget.spend(readable_bytes(ValueRef::Array(array)) / BYTES_PER_UNIT)?;
            Ok::<_, Error>(count_of(array.len()))
        };
        match self {
            Self::MinItems(least) => Ok(*least <= length()?),
            Self::MaxItems(most) => Ok(length()? <= *most),
            Self::UniqueItems => Ok(find_duplicate(array, context)?.is_none()),
            Self::Items(schema) => all(array.iter(), |item| schema.matches(item, context)),
            Self::ItemList(schemas) => {
                all(array.iter().zip(schemas), |(item, schema)| schema.matches(item, context))
            }
            Self::AdditionalItems(from, allowed) => {
                all(array.iter().skip(*from), |item| allowed.allows(item, context))
            }
            _ => Ok(true),
        }
    }

    fn is_met_by_document(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        let length = || {
            count_search(document, context)?;
            Ok::<_, Error>(count_of(document.len()))
        };
        match self {
            Self::MinProperties(least) => Ok(*least <= length()?),
            Self::MaxProperties(most) => Ok(length()? <= *most),
            Self::Required(names) => has_properties(document, names, context),
            Self::Properties(schemas) => {
                let values = find_properties(document, names_of(schemas), context)?;
                all(schemas.iter().zip(values), |((_, schema), value)| match value {
                    Some(value) => schema.matches(value, context),
                    None => Ok(true),
                })
            }
            Self::OtherProperties { named, patterns, allowed } => {
                all(document.iter(), |(name, value)| {
                    context.budget.spend(STEP)?;
                    let mut covered = named.contains(name);
                    for (pattern, schema) in patterns {
                        if pattern.is_match(name, &|units| context.budget.spend(units))? {
                            covered = true;
                            if !schema.matches(value, context)? {
                                return Ok(false);
                            }
                        }
                    }
                    if covered { Ok(true) } else { allowed.allows(value, context) }
                })
            }
            Self::Dependencies(_, dependencies) => {
                let values = find_properties(document, names_of(dependencies), context)?;
                all(dependencies.iter().zip(values), |((_, needed), value)| {
                    Ok(value.is_none() || needed.is_met(document, context)?)
                })
            }
            _ => Ok(true),
        }
    }
}

impl Allowed {
    /// Returns whether an array element or a field with this value is allowed.
    pub(super) fn allows(&self, value: ValueRef<'_>, context: &Context) -> Result<bool, Error> {
        match self {
            Self::Any => Ok(true),
            Self::None => Ok(false),
            Self::Matching(schema) => schema.matches(value, context),
        }
    }
}

impl Dependency {
    /// Returns whether a document meets the condition of a dependency.
    pub(super) fn is_met(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        match self {
            Self::Properties(names) => has_properties(document, names, context),
            Self::Matching(schema) => schema.matches(ValueRef::Document(document), context),
        }
    }
}

/// Returns whether a condition holds for all elements; stops at the first for which it does not.
fn all<T>(
    elements: impl Iterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, Error>,
) -> Result<bool, Error> {
    for element in elements {
        if !holds(element)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the positions of the schemas that a value matches.
pub(super) fn matching_schemas(
    schemas: &[Schema],
    value: ValueRef<'_>,
    context: &Context,
) -> Result<Vec<usize>, Error> {
    let mut matching = Vec::new();
    for (at, schema) in schemas.iter().enumerate() {
        if schema.matches(value, context)? {
            matching.push(at);
        }
    }
    Ok(matching)
}

/// Returns whether a number is a multiple of `divisor`. Doubles are converted to decimals, because
/// the double 0.3 is not an exact multiple of the double 0.1.
fn is_multiple(number: Number, divisor: Decimal128) -> bool {
    let decimal = match number {
        Number::Int(value) => Decimal128::from_i64(value),
        Number::Double(value) => Decimal128::from_f64_short(value),
        Number::Decimal(value) => value,
    };
    let rest = decimal.remainder(divisor);
    !rest.is_nan() && rest.is_zero()
}

fn count_of(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
