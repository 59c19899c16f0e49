//! Operators that decide which arguments are evaluated (`$and`, `$cond`, `$switch`), that bind
//! variables (`$let`), or that require constant arguments (`$literal`, `$getField`, regular
//! expressions).
//!
//! ```text
//! {$cond: {if: "$a", then: 1, else: 2}}    {$cond: ["$a", 1, 2]}
//! {$switch: {branches: [{case: "$a", then: 1}], default: 2}}
//! {$let: {vars: {x: "$a"}, in: {$add: ["$$x", 1]}}}
//! {$getField: "a.b"}    a field whose name has a dot
//! ```

use std::sync::Arc;

use document::ValueRef;
use pipeline::{
    Expr,
    expr::{
        RegexCall, RegexForm,
        functions::{self, Param},
    },
};

use super::{
    Scope, argument,
    named::{self, optional, required},
    parse_operand,
    reference::parse_reference,
    variable_name,
};
use crate::Error;

/// Parses `$and`, which stops at the first argument that is false.
pub(super) fn parse_and(_: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    argument::parse_all(value, scope).map(Expr::And)
}

/// Parses `$or`, which stops at the first argument that is true.
pub(super) fn parse_or(_: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    argument::parse_all(value, scope).map(Expr::Or)
}

/// Parses `$literal` and `$const`: the value as written, including dollars.
pub(super) fn parse_literal(_: &str, value: ValueRef<'_>, _: Scope) -> Result<Expr, Error> {
    Ok(Expr::Literal(value.to_value()))
}

/// Parses `{$meta: "textScore"}`: the score of the document in a search.
///
/// Fails with 17307 if the value is not a string, 17308 if MongoDB has no metadata of this name,
/// and 238 if this server does not support it.
pub(super) fn parse_meta(name: &str, value: ValueRef<'_>, _: Scope) -> Result<Expr, Error> {
    match value.as_str() {
        Some("textScore") => Ok(Expr::RowScore),
        Some("indexKey" | "recordId" | "sortKey" | "randVal" | "searchScore") => {
            Err(Error::unsupported(name))
        }
        Some(other) => Err(Error::new(17308, format!("Unsupported argument to $meta: {other}"))),
        None => Err(Error::new(17307, "$meta only supports string arguments")),
    }
}

/// Parses `$expr` inside an expression: the expression itself.
pub(super) fn parse_expr(_: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    parse_operand(value, scope)
}

/// Parses `$cond`, with arguments by position or by name.
///
/// Fails with 17080 to 17083 if an argument by name is unknown or missing, and with 16020 if there
/// are not exactly three arguments by position.
pub(super) fn parse_cond(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let parts = if value.as_document().is_some() {
        named::parse_arguments(
            name,
            &[required("if"), required("then"), required("else")],
            value,
            scope,
        )?
    } else {
        argument::parse_exactly(name, 3, value, scope)?
    };
    match <[Expr; 3]>::try_from(parts) {
        Ok(parts) => Ok(Expr::Cond(Box::new(parts))),
        Err(_) => Err(Error::new(16020, "Expression $cond takes exactly 3 arguments.")),
    }
}

/// Parses `$ifNull`: two or more arguments. Evaluation returns the first one that is not null.
///
/// Fails with 1257300 if there are fewer than two arguments.
pub(super) fn parse_if_null(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let parts = argument::parse_all(value, scope)?;
    if parts.len() < 2 {
        let text = format!("{name} needs at least two arguments, had: {}", parts.len());
        return Err(Error::new(1_257_300, text));
    }
    Ok(Expr::IfNull(parts))
}

/// Parses `$switch`: branches in order, and a default. A switch without a default whose cases are
/// all constant and false always fails, so it is refused (40069).
///
/// Fails with 40060 if the value is not an object, 40061 if `branches` is not an array, 40067 if an
/// argument is unknown, 40068 if there is no branch, and with the errors of [`parse_branch`].
pub(super) fn parse_switch(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let kind = value.kind().name();
    let ValueRef::Document(fields) = value else {
        let text = format!("{name} requires an object as an argument, found: {kind}");
        return Err(Error::new(40060, text));
    };
    let (mut branches, mut default) = (Vec::new(), None);
    for (argument, value) in fields.iter() {
        match (argument, value) {
            ("branches", ValueRef::Array(values)) => {
                for value in values.iter() {
                    branches.push(parse_branch(value, scope)?);
                }
            }
            ("branches", value) => {
                let kind = value.kind().name();
                let text = format!("{name} expected an array for 'branches', found: {kind}");
                return Err(Error::new(40061, text));
            }
            ("default", value) => default = Some(Box::new(parse_operand(value, scope)?)),
            (other, _) => {
                return Err(Error::new(
                    40067,
                    format!("{name} found an unknown argument: {other}"),
                ));
            }
        }
    }
    if branches.is_empty() {
        return Err(Error::new(40068, format!("{name} requires at least one branch")));
    }
    // Constants are folded already, so a constant case is a literal.
    let is_never =
        |(case, _): &(Expr, Expr)| case.as_literal().is_some_and(|it| !it.as_ref().is_truthy());
    if default.is_none() && branches.iter().all(is_never) {
        let text = "Cannot execute a switch statement where all the cases evaluate to false \
                    without a default";
        return Err(Error::new(40069, text));
    }
    Ok(Expr::Switch(branches, default))
}

/// Parses one branch of a `$switch`: the case and its result.
///
/// Fails with 40062 if the branch is not an object, 40063 if an argument is unknown, 40064 if
/// `case` is missing, and 40065 if `then` is missing.
fn parse_branch(value: ValueRef<'_>, scope: Scope) -> Result<(Expr, Expr), Error> {
    let ValueRef::Document(fields) = value else {
        let kind = value.kind().name();
        let text = format!("$switch expected each branch to be an object, found: {kind}");
        return Err(Error::new(40062, text));
    };
    let (mut case, mut then) = (None, None);
    for (argument, value) in fields.iter() {
        match argument {
            "case" => case = Some(parse_operand(value, scope)?),
            "then" => then = Some(parse_operand(value, scope)?),
            other => {
                let text = format!("$switch found an unknown argument to a branch: {other}");
                return Err(Error::new(40063, text));
            }
        }
    }
    let missing = |code: i32, what: &str| {
        Error::new(code, format!("$switch requires each branch have a '{what}' expression."))
    };
    Ok((case.ok_or_else(|| missing(40064, "case"))?, then.ok_or_else(|| missing(40065, "then"))?))
}

/// Parses `$let`. Variables are evaluated in the outer scope, so that they do not see each other.
///
/// Fails with 16874 to 16877 if the value is not an object or an argument is unknown or missing,
/// 10065 if `vars` is not an object, and 9 if a variable cannot have the given name.
pub(super) fn parse_let(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let given = named::given_values(name, &[required("vars"), required("in")], value)?;
    let [Some(variables), Some(body)] = given[..] else {
        return Err(Error::new(16874, "$let only supports an object as its argument"));
    };
    let ValueRef::Document(variables) = variables else {
        return Err(Error::new(10065, "invalid parameter: expected an object (vars)"));
    };
    let mut bound = Vec::new();
    let mut inner = scope;
    for (name, value) in variables.iter() {
        variable_name(name)?;
        // From here on `$a` is a field of the bound value.
        inner.rebound |= name == "CURRENT";
        bound.push((Arc::from(name), parse_operand(value, scope)?));
    }
    Ok(Expr::Let(bound, Box::new(parse_operand(body, inner)?)))
}

/// Parses `$regexMatch`, `$regexFind` and `$regexFindAll`. A constant pattern is compiled here,
/// once.
///
/// Fails with 51103 or 31022 to 31024 if the value is not an object or an argument is unknown or
/// missing, and with the evaluator's errors if the pattern is invalid.
pub(super) fn parse_regex(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let args = named::parse_arguments(
        name,
        &[required("input"), required("regex"), optional("options")],
        value,
        scope,
    )?;
    // The three operators differ only in their result.
    let form = match name {
        "$regexMatch" => RegexForm::Match,
        "$regexFind" => RegexForm::Find,
        _ => RegexForm::FindAll,
    };
    let Ok([input, regex, options]) = <[Expr; 3]>::try_from(args) else {
        return Err(Error::new(51103, format!("{name} expects an object of named arguments")));
    };
    Ok(Expr::Regex(Box::new(RegexCall::new(form, input, regex, options)?)))
}

/// Fails unless a field name is a constant string. `codes` are the operator's error codes for a
/// field path, for any other expression, and for a constant of another type.
fn constant_name(name: &str, field: &Expr, codes: [i32; 3]) -> Result<(), Error> {
    // A path is the likeliest mistake and has a text that suggests `$literal`.
    let [path, other, kind] = codes;
    let text = match field {
        Expr::Literal(document::Value::String(_)) => return Ok(()),
        Expr::Literal(value) => {
            let found = value.kind().name();
            let text =
                format!("{name} requires 'field' to evaluate to type String, but got {found}");
            return Err(Error::new(kind, text));
        }
        Expr::Field(held) => {
            let text =
                "is a field path reference which is not allowed in this context. Did you mean";
            let shown = format!("'$CURRENT.{held}'");
            return Err(Error::new(path, format!("{shown} {text} {{$literal: {shown}}}?")));
        }
        _ => "requires 'field' to evaluate to a constant, but got a non-constant argument",
    };
    Err(Error::new(other, format!("{name} {text}")))
}

/// Parses `$getField`. Its short form is a name instead of an object, and reads the current
/// document.
///
/// Fails with 3041700 to 3041703 if an argument is unknown or missing, and with 5654600 to 5654602
/// if the name is a path, is not constant or is not a string.
pub(super) fn parse_get_field(
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Expr, Error> {
    // An object that starts with an operator is an expression for the name, not the long form.
    let full = value
        .as_document()
        .filter(|fields| fields.iter().next().is_none_or(|(first, _)| !first.starts_with('$')));
    let args = match full {
        Some(_) => {
            named::parse_arguments(name, &[required("field"), required("input")], value, scope)?
        }
        None => {
            let current = parse_reference("$$CURRENT", scope)?;
            vec![parse_operand(value, scope)?, current]
        }
    };
    // Unlike in `$setField`, other expressions are left to the evaluator.
    if let [field @ (Expr::Literal(_) | Expr::Field(_)), ..] = &args[..] {
        constant_name(name, field, [5_654_600, 5_654_601, 5_654_602])?;
    }
    function_call(name, args)
}

/// Fails unless the name of `$setField` and `$unsetField` is a constant string that can name a
/// field. `raw` is the name as written: an object or an array counts as not constant here, even if
/// all its parts are constant.
///
/// Fails with 4161106 if the name is not constant, 4161107 if it is not a string, 4161108 if it is
/// a field path or a variable, and 9534700 if it contains a NUL character.
fn check_set_name(name: &str, field: &Expr, raw: ValueRef<'_>) -> Result<(), Error> {
    let is_computed = match raw {
        ValueRef::Array(_) => true,
        ValueRef::Document(fields) => {
            fields.iter().next().is_none_or(|(first, _)| !first.starts_with('$'))
        }
        _ => false,
    };
    match (field, raw) {
        (Expr::Literal(document::Value::String(text)), _) if text.contains('\0') => {
            let text = format!("{name} requires 'field' to have no null bytes");
            Err(Error::new(9_534_700, text))
        }
        (_, ValueRef::String(text))
            if text.starts_with("$$") && !matches!(field, Expr::Literal(_) | Expr::Field(_)) =>
        {
            let text = format!(
                "'{text}' is a field path reference which is not allowed in this context. Did you \
                 mean {{$literal: '{text}'}}?"
            );
            Err(Error::new(4_161_108, text))
        }
        _ if is_computed => {
            let text =
                "requires 'field' to evaluate to a constant, but got a non-constant argument";
            Err(Error::new(4_161_106, format!("{name} {text}")))
        }
        _ => constant_name(name, field, [4_161_108, 4_161_106, 4_161_107]),
    }
}

/// Parses `$setField` and `$unsetField`, which differ by the argument `value`.
///
/// Fails with 4161100 to 4161103 or 4161109 if the value is not an object or an argument is unknown
/// or missing, and with the errors of [`check_set_name`].
pub(super) fn parse_set_field(
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Expr, Error> {
    let params: &[Param] = match name {
        "$setField" => &[required("field"), required("input"), required("value")],
        _ => &[required("field"), required("input")],
    };
    let args = named::parse_arguments(name, params, value, scope)?;
    let given = named::given_values(name, params, value)?;
    if let ([field, ..], [Some(raw), ..]) = (&args[..], &given[..]) {
        check_set_name(name, field, *raw)?;
    }
    function_call(name, args)
}

/// Returns a call of the function with this name, for an operator that has a special syntax but
/// evaluates like a function.
pub(super) fn function_call(name: &str, args: Vec<Expr>) -> Result<Expr, Error> {
    match functions::find_function(name) {
        Some(function) => Ok(Expr::Call(function, args)),
        None => Err(Error::new(168, format!("Unrecognized expression '{name}'"))),
    }
}
