//! Arguments by name. The numbers and texts of errors differ between operators, for historical
//! reasons in MongoDB, and applications rely on them.
//!
//! ```text
//! {$trim: {input: "$a", chars: " "}}      given: input, chars
//! {$trim: {chars: " "}}                  50695: input is missing
//! {$trim: {input: "$a", x: 1}}            50694: x is unknown
//! {$trim: 1}                              50696: not an object
//! ```

use document::{ValueRef, shell};
use pipeline::{Expr, expr::functions::Param};

use super::{Scope, parse_operand};
use crate::Error;

/// The errors of a group of operators. In the texts `{n}` is replaced by the operator, `{k}` and
/// `{v}` by the type and the text of the given value, and `{a}` by the argument.
struct ErrorTexts {
    /// The operators that have these errors.
    names: &'static [&'static str],
    /// The error for a value that is not an object.
    not_object: (i32, &'static str),
    /// The error for an unknown argument.
    unknown: (i32, &'static str),
    /// The error numbers of required arguments, by name.
    missing: &'static [(&'static str, i32)],
    /// The text for a missing argument.
    missing_text: &'static str,
}

/// Most common error text for a value that is not an object.
const ONLY_OBJECT: &str = "{n} only supports an object as its argument";
/// A common error text for an unknown argument.
const UNRECOGNIZED: &str = "Unrecognized argument to {n}: {a}";
/// Most common error text for a missing argument.
const MISSING: &str = "Missing '{a}' parameter to {n}";
/// Another common error text for an unknown argument.
const UNKNOWN: &str = "{n} found an unknown argument: {a}";
/// Less common error text for a missing argument.
const SPECIFIED: &str = "{n} requires '{a}' to be specified";
/// The error number of `$dateAdd` and `$dateSubtract` for any missing argument.
const ALL_ADD: i32 = 5_166_402;
/// The message of `$dateAdd` and `$dateSubtract` for an unknown argument.
const ADD_UNKNOWN: &str = "Unrecognized argument to {n}: {a}. Expected arguments are startDate, unit, amount, and optionally timezone.";

/// The errors of each group of operators. Operators that are in no group use [`OTHER`].
static ERROR_TEXTS: &[ErrorTexts] = &[
    ErrorTexts {
        names: &["$trim", "$ltrim", "$rtrim"],
        not_object: (50696, "{n} only supports an object as an argument, found {k}"),
        unknown: (50694, UNKNOWN),
        missing: &[("input", 50695)],
        missing_text: "{n} requires an 'input' field",
    },
    ErrorTexts {
        names: &["$replaceOne", "$replaceAll"],
        not_object: (51751, "{n} requires an object as an argument, found: {k}"),
        unknown: (51750, UNKNOWN),
        missing: &[("input", 51749), ("find", 51748), ("replacement", 51747)],
        missing_text: SPECIFIED,
    },
    ErrorTexts {
        names: &["$firstN", "$lastN", "$maxN", "$minN"],
        not_object: (5_787_801, "specification must be an object; found {n}: {v}"),
        unknown: (5_787_901, "Unknown argument for 'n' operator: {a}"),
        missing: &[("input", 5_787_907), ("n", 5_787_906)],
        missing_text: "Missing value for '{a}'",
    },
    ErrorTexts {
        names: &["$setField", "$unsetField"],
        not_object: (4_161_100, ONLY_OBJECT),
        unknown: (4_161_101, UNKNOWN),
        missing: &[("field", 4_161_102), ("value", 4_161_103), ("input", 4_161_109)],
        missing_text: SPECIFIED,
    },
    ErrorTexts {
        names: &["$dateAdd", "$dateSubtract"],
        not_object: (5_166_400, "{n} expects an object as its argument"),
        unknown: (5_166_401, ADD_UNKNOWN),
        missing: &[("startDate", ALL_ADD), ("unit", ALL_ADD), ("amount", ALL_ADD)],
        missing_text: "{n} requires startDate, unit, and amount to be present",
    },
    ErrorTexts {
        names: &["$dateDiff"],
        not_object: (5_166_301, ONLY_OBJECT),
        unknown: (5_166_302, UNRECOGNIZED),
        missing: &[("startDate", 5_166_303), ("endDate", 5_166_304), ("unit", 5_166_305)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$dateTrunc"],
        not_object: (5_439_007, ONLY_OBJECT),
        unknown: (5_439_008, UNRECOGNIZED),
        missing: &[("date", 5_439_009), ("unit", 5_439_010)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$dateFromParts"],
        not_object: (40519, ONLY_OBJECT),
        unknown: (40518, UNRECOGNIZED),
        missing: &[],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$dateToParts"],
        not_object: (40524, ONLY_OBJECT),
        unknown: (40520, UNRECOGNIZED),
        missing: &[("date", 40522)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$dateFromString"],
        not_object: (40540, "{n} only supports an object as an argument, found: {k}"),
        unknown: (40541, UNRECOGNIZED),
        missing: &[("dateString", 40542)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$dateToString"],
        not_object: (18629, ONLY_OBJECT),
        unknown: (18534, UNRECOGNIZED),
        missing: &[("date", 18628)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$convert"],
        not_object: (9, "{n} expects an object of named arguments but found: {k}"),
        unknown: (9, UNKNOWN),
        missing: &[("input", 9), ("to", 9)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$regexMatch", "$regexFind", "$regexFindAll"],
        not_object: (51103, "{n} expects an object of named arguments but found: {k}"),
        unknown: (31024, UNKNOWN),
        missing: &[("input", 31022), ("regex", 31023)],
        missing_text: "{n} requires '{a}' parameter",
    },
    ErrorTexts {
        names: &["$getField"],
        not_object: (3_041_700, ONLY_OBJECT),
        unknown: (3_041_701, UNKNOWN),
        missing: &[("field", 3_041_702), ("input", 3_041_703)],
        missing_text: SPECIFIED,
    },
    ErrorTexts {
        names: &["$rand"],
        not_object: (10065, "invalid parameter: expected an object ({n})"),
        unknown: (3_040_501, "$rand does not currently accept arguments"),
        missing: &[],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$cond"],
        not_object: (17080, ONLY_OBJECT),
        unknown: (17083, "Unrecognized parameter to {n}: {a}"),
        missing: &[("if", 17080), ("then", 17081), ("else", 17082)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$map"],
        not_object: (16878, ONLY_OBJECT),
        unknown: (16879, "Unrecognized parameter to {n}: {a}"),
        missing: &[("input", 16880), ("in", 16882)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$filter"],
        not_object: (28646, ONLY_OBJECT),
        unknown: (28647, "Unrecognized parameter to {n}: {a}"),
        missing: &[("input", 28648), ("cond", 28650)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$reduce"],
        not_object: (40075, "{n} requires an object as an argument, found: {k}"),
        unknown: (40076, UNKNOWN),
        missing: &[("input", 40077), ("initialValue", 40078), ("in", 40079)],
        missing_text: SPECIFIED,
    },
    ErrorTexts {
        names: &["$let"],
        not_object: (16874, ONLY_OBJECT),
        unknown: (16875, "Unrecognized parameter to {n}: {a}"),
        missing: &[("vars", 16876), ("in", 16877)],
        missing_text: MISSING,
    },
    ErrorTexts {
        names: &["$sortArray"],
        not_object: (2_942_500, "{n} requires an object as an argument, found: {k}"),
        unknown: (2_942_501, UNKNOWN),
        missing: &[("input", 2_942_502), ("sortBy", 2_942_503)],
        missing_text: SPECIFIED,
    },
    ErrorTexts {
        names: &["$zip"],
        not_object: (34460, "{n} only supports an object as an argument, found {k}"),
        unknown: (34464, UNKNOWN),
        missing: &[("inputs", 34465)],
        missing_text: "{n} requires at least one input array",
    },
];

/// The errors of newer operators. mongod parses the arguments of these operators by a schema, like
/// the arguments of a command.
static OTHER: ErrorTexts = ErrorTexts {
    names: &[],
    not_object: (14, "BSON field '{n}' is the wrong type '{k}', expected type 'object'"),
    unknown: (40415, "BSON field '{n}.{a}' is an unknown field."),
    missing: &[],
    missing_text: "BSON field '{n}.{a}' is missing but a required field",
};

pub(super) const fn required(name: &'static str) -> Param {
    Param { name, required: true }
}

pub(super) const fn optional(name: &'static str) -> Param {
    Param { name, required: false }
}

/// Returns the given values in the order of the parameters; an optional argument that is not given
/// is `None`.
///
/// The errors are defined per operator by the tables of this file, and are checked in this order:
/// not an object, the first unknown argument, the first missing argument in the order of the
/// parameters.
pub(super) fn given_values<'v>(
    name: &str,
    params: &[Param],
    value: ValueRef<'v>,
) -> Result<Vec<Option<ValueRef<'v>>>, Error> {
    // There are few and short groups, so a search costs less than the parsing around it.
    let wording = ERROR_TEXTS.iter().find(|w| w.names.contains(&name)).unwrap_or(&OTHER);
    let say = |(code, text): (i32, &str), argument: &str| {
        let text = text.replace("{n}", name).replace("{k}", value.kind().name());
        let text = text.replace("{v}", &shell(value).to_string()).replace("{a}", argument);
        Error::new(code, text)
    };
    let fields = match value {
        ValueRef::Document(fields) => fields,
        // `$rand`, the operator without parameters, reads an array like an object.
        ValueRef::Array(values) if params.is_empty() => {
            return if values.is_empty() { Ok(Vec::new()) } else { Err(say(wording.unknown, "0")) };
        }
        _ => return Err(say(wording.not_object, "")),
    };
    let mut given = vec![None; params.len()];
    for (argument, value) in fields.iter() {
        let at = params.iter().position(|param| param.name == argument);
        match at.and_then(|at| given.get_mut(at)) {
            // If an argument is repeated, the last one is used.
            Some(slot) => *slot = Some(value),
            None => return Err(say(wording.unknown, argument)),
        }
    }
    for (param, given) in params.iter().zip(&given) {
        if param.required && given.is_none() {
            // 40414 is the code that mongod's schemas have for a missing argument.
            let code = wording.missing.iter().find(|(missing, _)| *missing == param.name);
            let code = code.map_or(40414, |(_, code)| *code);
            return Err(say((code, wording.missing_text), param.name));
        }
    }
    Ok(given)
}

/// Parses the arguments in the order of the parameters. An argument that is not given is
/// [`Expr::Absent`].
pub(super) fn parse_arguments(
    name: &str,
    params: &[Param],
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Vec<Expr>, Error> {
    let given = given_values(name, params, value)?;
    // The conditions on combinations of arguments.
    if name == "$dateFromParts" {
        check_parts(&given)?;
    }
    let parse = |value: Option<ValueRef<'_>>| {
        value.map_or(Ok(Expr::Absent), |value| parse_operand(value, scope))
    };
    given.into_iter().map(parse).collect()
}

/// Checks the parts of `$dateFromParts`: natural ones (year, month, day) and ISO ones (week year,
/// week, day) are mutually exclusive. `given` has the parts in the order of the parameters.
///
/// Fails with 40516 if neither `year` nor `isoWeekYear` is given, 40489 if `year` is given with an
/// ISO part, and 40525 if `isoWeekYear` is given with a natural part.
fn check_parts(given: &[Option<ValueRef<'_>>]) -> Result<(), Error> {
    // Year, month, day are the first three, the ISO parts the next three.
    let has = |range: std::ops::Range<usize>| {
        given.get(range).unwrap_or_default().iter().any(Option::is_some)
    };
    let text = "$dateFromParts does not allow mixing";
    match (has(0..1), has(3..4)) {
        (false, false) => {
            let text = "$dateFromParts requires either 'year' or 'isoWeekYear' to be present";
            Err(Error::new(40516, text))
        }
        (true, _) if has(3..6) => {
            Err(Error::new(40489, format!("{text} natural dates with ISO dates")))
        }
        (false, true) if has(0..3) => {
            Err(Error::new(40525, format!("{text} ISO dates with natural dates")))
        }
        _ => Ok(()),
    }
}
