//! Regular expressions applied to text (`$regexMatch`, `$regexFind`, `$regexFindAll`).

use std::sync::Arc;

use document::{Document, Value, ValueRef};
use evaluation::{Context, Error, Evaluated, Kind, Pattern, Size};

use super::{Env, Expr};
use crate::{invalid_request, type_mismatch};

/// The result to compute. All three forms have the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexForm {
    /// `$regexMatch`: whether the text matches.
    Match,
    /// `$regexFind`: the first match as a document.
    Find,
    /// `$regexFindAll`: an array of all matches.
    FindAll,
}

impl RegexForm {
    /// Returns the name of the operator.
    pub fn operator_name(self) -> &'static str {
        match self {
            Self::Match => "$regexMatch",
            Self::Find => "$regexFind",
            Self::FindAll => "$regexFindAll",
        }
    }
}

/// A compiled regular expression. Clones, such as those in copies of a plan, share it.
#[derive(Clone, Debug)]
pub struct Compiled(Arc<Pattern>);

/// A call of `$regexMatch`, `$regexFind` or `$regexFindAll`.
#[derive(Clone, Debug)]
pub struct RegexCall {
    /// The operator, which determines the form of the result.
    pub form: RegexForm,
    /// The expression of the text to search.
    pub input: Expr,
    /// The pattern, with options if it is a regular expression value.
    pub regex: Expr,
    /// Options in addition to those of the pattern.
    pub options: Expr,
    /// The compiled pattern, if pattern and options are constant. `None` if the pattern has to be
    /// evaluated for each row, and for a constant null.
    pub ready: Option<Compiled>,
}

impl RegexCall {
    /// Creates a call. A constant pattern is compiled, and fails if it is invalid.
    pub fn new(form: RegexForm, input: Expr, regex: Expr, options: Expr) -> Result<Self, Error> {
        let constant = |expr: &Expr| matches!(expr, Expr::Literal(_) | Expr::Absent);
        let mut call = Self { form, input, regex, options, ready: None };
        if constant(&call.regex) && constant(&call.options) {
            let nothing = Document::new();
            let context = Context::default();
            let env = Env::new(document::DocRef::Tree(&nothing), &context);
            call.ready = call.compile_arguments(&env)?;
        }
        Ok(call)
    }

    /// Evaluates the call. A text or pattern that is null or missing matches nothing; any other
    /// type of text is an error. The work of matching is counted while it is done.
    pub(super) fn match_text<'e>(&'e self, env: &Env<'e>) -> Result<Evaluated<'e>, Error> {
        let input = self.input.evaluate_borrowed(env)?;
        // The pattern is checked even if the text is null.
        let compiled = match &self.ready {
            Some(ready) => Some(ready.clone()),
            None => self.compile_arguments(env)?,
        };
        let text = match input.value() {
            None => None,
            Some(value) if value.is_nullish() => None,
            Some(ValueRef::String(text) | ValueRef::Symbol(text)) => Some(text),
            Some(_) => {
                let name = self.form.operator_name();
                let text = format!("{name} needs 'input' to be of type string");
                return Err(type_mismatch(51104, text));
            }
        };
        let (Some(text), Some(Compiled(pattern))) = (text, compiled) else {
            return Ok(Evaluated::Owned(match self.form {
                RegexForm::Match => Value::Bool(false),
                RegexForm::Find => Value::Null,
                RegexForm::FindAll => Value::Array(Vec::new()),
            }));
        };
        env.context.budget.spend_bounded(text.len())?;
        let count = |units: usize| env.context.budget.spend_bounded(units);
        let value = match self.form {
            RegexForm::Match => Value::Bool(pattern.is_match(text, &count)?),
            RegexForm::Find => {
                let found = pattern.find_matches(text, &count)?.find_at(0, &count)?;
                found.map_or(Value::Null, |found| match_document(&found, text, 0, 0).0)
            }
            RegexForm::FindAll => find_all(&pattern, text, env)?,
        };
        Ok(Evaluated::Owned(value))
    }

    /// Compiles the pattern; `None` if it is null or missing. Options may be in the pattern or an
    /// argument, not both.
    fn compile_arguments(&self, env: &Env<'_>) -> Result<Option<Compiled>, Error> {
        let name = self.form.operator_name();
        let regex = self.regex.evaluate_borrowed(env)?;
        let options = self.options.evaluate_borrowed(env)?;
        let options = match options.value() {
            None => None,
            Some(value) if value.is_nullish() => None,
            Some(ValueRef::String(options)) => Some(options),
            Some(_) => {
                let text = format!("{name} needs 'options' to be of type string");
                return Err(type_mismatch(51106, text));
            }
        };
        if options.is_some_and(|options| options.contains('\0')) {
            let text =
                format!("{name}: regular expression options cannot contain an embedded null byte");
            return Err(invalid_request(51110, text));
        }
        let (pattern, own) = match regex.value() {
            None => return Ok(None),
            Some(value) if value.is_nullish() => return Ok(None),
            Some(ValueRef::String(pattern)) if pattern.contains('\0') => {
                let text =
                    format!("{name}: regular expression cannot contain an embedded null byte");
                return Err(invalid_request(51109, text));
            }
            Some(ValueRef::String(pattern)) => (pattern, ""),
            Some(ValueRef::Regex { pattern, options }) => (pattern, options),
            Some(_) => {
                let text = format!("{name} needs 'regex' to be of type string or regex");
                return Err(type_mismatch(51105, text));
            }
        };
        if !own.is_empty() && options.is_some() {
            return Err(invalid_request(
                51107,
                format!(
                    "{name}: found regex option(s) specified in both 'regex' and 'option' fields"
                ),
            ));
        }
        let options = options.unwrap_or(own);
        compile_pattern(self.form, pattern, options).map(Some)
    }
}

/// Compiles a pattern; errors contain the operator's name.
fn compile_pattern(form: RegexForm, pattern: &str, options: &str) -> Result<Compiled, Error> {
    let name = form.operator_name();
    let compiled = match form {
        RegexForm::Match => Pattern::perl(pattern, options),
        RegexForm::Find | RegexForm::FindAll => Pattern::with_spans(pattern, options),
    };
    match compiled {
        Ok(pattern) => Ok(Compiled(Arc::new(pattern))),
        // The pattern is valid, but there is not enough memory.
        Err(error) if error.kind == Kind::Short || error.number == 146 => Err(error),
        Err(error) if error.number == 51108 => {
            Err(Error { message: format!("{name} {}", error.message), ..error })
        }
        Err(error) => {
            let reason = error.message.trim_start_matches("Regular expression is invalid: ");
            Err(invalid_request(51111, format!("Invalid Regex in {name}: {reason}")))
        }
    }
}

/// Returns a match as a document (`match`, `idx`, `captures`), and the start of the match in bytes
/// and in characters. `counted` is the number of characters before byte `from`; only the characters
/// after it are counted, so that finding all matches reads the text once. A group that did not take
/// part is null in the captures; `idx` is in characters.
fn match_document(
    found: &[Option<(usize, usize)>],
    text: &str,
    from: usize,
    counted: usize,
) -> (Value, usize, usize) {
    let part = |(start, end): (usize, usize)| text.get(start..end).unwrap_or_default();
    let (start, matched) = whole_span(found).map_or((0, ""), |span| (span.0, part(span)));
    let before = text.get(from..start).unwrap_or_default().chars().count() + counted;
    let captures = found
        .iter()
        .skip(1)
        .map(|group| group.map_or(Value::Null, |group| Value::from(part(group))))
        .collect();
    let mut fields = Document::new();
    fields.push("match", matched);
    fields.push("idx", i32::try_from(before).unwrap_or(i32::MAX));
    fields.push("captures", Value::Array(captures));
    (Value::Document(fields), start, before)
}

fn whole_span(found: &[Option<(usize, usize)>]) -> Option<(usize, usize)> {
    found.first().copied().flatten()
}

/// Returns all matches; after an empty match the search continues one character later. The memory
/// of the list is counted while it grows.
fn find_all(pattern: &Pattern, text: &str, env: &Env<'_>) -> Result<Value, Error> {
    let count = |units: usize| env.context.budget.spend_bounded(units);
    let finder = pattern.find_matches(text, &count)?;
    let mut all = Vec::new();
    let mut growth = env.new_growth();
    let (mut next, mut from, mut counted) = (0, 0, 0);
    while let Some(found) = finder.find_at(next, &count)? {
        let end = whole_span(&found).map_or(text.len(), |(_, end)| end);
        let (value, start, before) = match_document(&found, text, from, counted);
        // For the next match, only the characters after the start of this one are counted.
        (from, counted) = (start, before);
        let size = Size::of_value(value.as_ref());
        env.context.budget.spend_bounded(size.memory)?;
        growth.add_size(size)?;
        all.push(value);
        let step = text.get(end..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        // An empty match would be found again at the same position.
        next = if end == start { end + step } else { end };
        if text.len() <= next {
            break;
        }
    }
    Ok(Value::Array(all))
}
