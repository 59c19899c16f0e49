//! Describes why a document does not match a validator, with the fields and texts of MongoDB.
//!
//! A clause below an odd number of negations fails the validator if it matches, so the description
//! says why it matches.

use document::{DocRef, Document, Kind, Value, ValueRef, depth_within, doc};
use evaluation::{Context, Error};

use super::{Clause, DetailLimits, FieldTest, Logic, ends_operation, values::Considered};
use crate::{
    expr::{Env, Expr},
    filter::schema::{Cut, Details},
    path::PathEnd,
};

/// Types of the values that `$mod` considers.
const NUMBERS: &[Kind] = &[Kind::Decimal128, Kind::Double, Kind::Int32, Kind::Int64];
/// Types of the values that bit tests consider.
const BITS: &[Kind] = &[Kind::Binary, Kind::Decimal128, Kind::Double, Kind::Int32, Kind::Int64];
/// Types of the values that regular expressions consider.
const TEXTS: &[Kind] = &[Kind::Regex, Kind::String, Kind::Symbol];

/// The texts of an operator: the reasons of a failure and of an unwanted success, the types of the
/// values that it considers if they are limited, and whether it considers arrays as a whole.
struct Texts {
    failed: &'static str,
    matched: &'static str,
    types: &'static [Kind],
    end: PathEnd,
}

impl Clause {
    /// Describes why a document does not match, as the fields of `errInfo` after the document's id.
    ///
    /// # Errors
    ///
    /// Errors that end the operation.
    pub fn explain(
        &self,
        document: DocRef<'_>,
        context: &Context,
        limits: DetailLimits,
    ) -> Result<Document, Error> {
        let DetailLimits { bytes: left, depth, shows_values, code_name } = limits;
        for whole in [true, false] {
            if whole && !shows_values {
                continue;
            }
            let held = context.operation_memory.share();
            let mut details = Details { context, left, held, whole, code_name };
            match self.describe(document, false, &mut details) {
                Err(Cut::Failed(error)) => return Err(error),
                Err(Cut::TooLarge) => continue,
                Ok(detail) => {
                    let bytes = detail.to_buf();
                    if !depth_within(bytes.bytes(), depth) {
                        return Ok(doc! {
                            "reason": "generated error was too deeply nested",
                            "truncated": true,
                        });
                    }
                    let mut fields = doc! { "details": detail };
                    if !whole && shows_values {
                        fields.push("truncated", true);
                    }
                    return Ok(fields);
                }
            }
        }
        Ok(doc! { "note": "detailed error was too large" })
    }

    /// Describes why a document does not match or, if `inverted`, why it does.
    fn describe(
        &self,
        document: DocRef<'_>,
        inverted: bool,
        details: &mut Details<'_>,
    ) -> Result<Document, Cut> {
        match self {
            Self::Logic(logic, clauses) => {
                describe_logic(*logic, clauses, document, inverted, details)
            }
            Self::Not(clause) => {
                let mut detail = details.begin("$not")?;
                detail.push("details", clause.describe(document, !inverted, details)?);
                Ok(detail)
            }
            Self::Test(test) => test.describe(document, inverted, details),
            Self::Expr(specified, expr) => {
                describe_expression(specified, expr, document, inverted, details)
            }
            Self::Schema(_, _) if inverted => {
                let mut detail = details.begin("$jsonSchema")?;
                detail.push("reason", "schema matched");
                Ok(detail)
            }
            Self::Schema(specified, schema) if schema.refuses_documents() => {
                describe_constant(specified, false, details)
            }
            Self::Schema(_, schema) => details.of_root(schema, document),
            Self::Constant(specified, matches) => describe_constant(specified, *matches, details),
        }
    }
}

/// Describes a logical operator by the clauses that decided its result.
fn describe_logic(
    logic: Logic,
    clauses: &[Clause],
    document: DocRef<'_>,
    inverted: bool,
    details: &mut Details<'_>,
) -> Result<Document, Cut> {
    let mut detail = details.begin(match logic {
        Logic::And => "$and",
        Logic::Or => "$or",
        Logic::Nor => "$nor",
    })?;
    // Whether the described clauses are the matching ones.
    let matching = inverted != (logic == Logic::Nor);
    let mut listed = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        let decisive = match clause.evaluate(document, details.context) {
            Ok(matched) => matched == matching,
            Err(error) if ends_operation(&error) => return Err(error.into()),
            Err(_) => true,
        };
        if decisive {
            details.take(64)?;
            listed.push(Value::Document(doc! {
                "index": i32::try_from(at).unwrap_or(i32::MAX),
                "details": clause.describe(document, matching, details)?,
            }));
        }
    }
    let name = if matching { "clausesSatisfied" } else { "clausesNotSatisfied" };
    detail.push(name, Value::Array(listed));
    Ok(detail)
}

/// Describes the result of `$expr`, or the error of its evaluation.
fn describe_expression(
    specified: &Document,
    expr: &Expr,
    document: DocRef<'_>,
    inverted: bool,
    details: &mut Details<'_>,
) -> Result<Document, Cut> {
    let mut detail = details.begin("$expr")?;
    details.push_specified(&mut detail, specified)?;
    match expr.evaluate(&Env::new(document, details.context)) {
        Ok(value) => {
            let reason = if inverted { "expression did match" } else { "expression did not match" };
            detail.push("reason", reason);
            if let Some(value) = value {
                details.push(&mut detail, "expressionResult", value.as_ref())?;
            }
        }
        Err(error) if ends_operation(&error) => return Err(error.into()),
        Err(error) => {
            detail.push("reason", "failed to evaluate aggregation expression");
            let mut failure = doc! {
                "code": error.number,
                "codeName": (details.code_name)(error.number),
            };
            // The message may contain values of the document.
            details.push(&mut failure, "errmsg", ValueRef::String(&error.message))?;
            detail.push("details", failure);
        }
    }
    Ok(detail)
}

/// Describes a clause that has the same result for every document.
fn describe_constant(
    specified: &Document,
    matches: bool,
    details: &mut Details<'_>,
) -> Result<Document, Cut> {
    let operator = specified.fields().first().map_or("", |(name, _)| name.as_str());
    let mut detail = details.begin(operator)?;
    details.push_specified(&mut detail, specified)?;
    detail.push("reason", format!("expression always evaluates to {matches}"));
    Ok(detail)
}

impl FieldTest {
    /// Describes why the test fails or, if `inverted`, why it succeeds.
    fn describe(
        &self,
        document: DocRef<'_>,
        inverted: bool,
        details: &mut Details<'_>,
    ) -> Result<Document, Cut> {
        let mut detail = details.begin(&self.operator)?;
        details.push_specified(&mut detail, &self.specified)?;
        if self.operator == "$exists" {
            // The operand may be false, so the path decides.
            let exists = Considered::at(document, &self.path, PathEnd::Whole).exists;
            let reason = if exists { "path does exist" } else { "path does not exist" };
            detail.push("reason", reason);
            return Ok(detail);
        }
        if matches!(self.filter, super::Filter::Never) {
            detail.push("reason", "expression always evaluates to false");
            return Ok(detail);
        }
        let Texts { failed, matched, types, end } = texts_of(&self.operator);
        let considered = Considered::at(document, &self.path, end);
        if !considered.exists {
            detail.push("reason", "field was missing");
            return Ok(detail);
        }
        if considered.lacks_types(types) && !types.is_empty() {
            detail.push("reason", "type did not match");
            considered.push_types(&mut detail);
            match types {
                [one] => detail.push("expectedType", one.name()),
                several => {
                    let names = several.iter().map(|kind| Value::from(kind.name())).collect();
                    detail.push("expectedTypes", Value::Array(names));
                }
            }
            considered.push_values(details, &mut detail)?;
            return Ok(detail);
        }
        detail.push("reason", if inverted { matched } else { failed });
        considered.push_values(details, &mut detail)?;
        if self.operator == "$type" {
            considered.push_types(&mut detail);
        }
        Ok(detail)
    }
}

/// Returns the texts of an operator of a field.
fn texts_of(operator: &str) -> Texts {
    let texts = |failed, matched| Texts { failed, matched, types: &[], end: PathEnd::Elements };
    let of_arrays =
        |failed, matched, types| Texts { types, end: PathEnd::Whole, ..texts(failed, matched) };
    match operator {
        "$ne" => texts("comparison succeeded", "comparison failed"),
        "$in" => texts("no matching value found in array", "matching value found in array"),
        "$nin" => texts("matching value found in array", "no matching value found in array"),
        "$type" => texts("type did not match", "type did match"),
        "$mod" => Texts {
            types: NUMBERS,
            ..texts(
                "$mod did not evaluate to expected remainder",
                "$mod did evaluate to expected remainder",
            )
        },
        "$regex" => Texts {
            types: TEXTS,
            ..texts("regular expression did not match", "regular expression did match")
        },
        "$bitsAllSet" | "$bitsAnySet" | "$bitsAllClear" | "$bitsAnyClear" => Texts {
            types: BITS,
            ..texts("bitwise operator failed to match", "bitwise operator matched successfully")
        },
        "$size" => of_arrays(
            "array length was not equal to given size",
            "array length was equal to given size",
            &[Kind::Array],
        ),
        "$elemMatch" => of_arrays(
            "array did not satisfy the child predicate",
            "array did satisfy the child predicate",
            &[Kind::Array],
        ),
        "$all" => of_arrays(
            "array did not contain all specified values",
            "array did contain all specified values",
            &[],
        ),
        _ => texts("comparison failed", "comparison succeeded"),
    }
}
