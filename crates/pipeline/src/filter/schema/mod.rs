//! The schemas of `$jsonSchema`: MongoDB's subset of JSON Schema draft 4, with BSON types.
//!
//! A schema is a list of rules, all of which a value has to meet. A rule constrains values of one
//! type, such as strings, and is met by values of any other type, so that only `type` and
//! `bsonType` restrict types. A field that does not exist meets every rule but `required`.
//!
//! ```text
//! {required: ["a"], properties: {a: {bsonType: "int", minimum: 1}}}
//!   Required(["a"])   Properties([("a", schema)])     schema: Limit(>=, 1)   Type({int})
//! ```
//!
//! A comparison evaluates each rule at most once for each value of a document, so its work is
//! limited by the product of the sizes of the schema and the document, and grows with their sum if
//! each value has its own schema. The work is counted in the
//! operation's budget.

mod explain;
mod explain_fields;
mod matching;
mod properties;
mod unordered;

use std::collections::HashSet;

use document::{Decimal128, Document, Value};
use evaluation::Pattern;

pub(super) use explain::{Cut, Details};
pub use unordered::with_sorted_fields;

use super::{Comparison, TypeSet};

/// The parsed operand of `$jsonSchema`, or a schema in it.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The schema's title and description.
    pub notes: Notes,
    /// The rules, in the order in which failures are reported.
    pub keywords: Vec<Keyword>,
}

/// The title and the description of a schema, which are shown if a value fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The title of the schema.
    pub title: Option<String>,
    /// The description of the schema.
    pub description: Option<String>,
}

/// A rule, and the part of the schema that specifies it.
#[derive(Clone, Debug)]
pub struct Keyword {
    /// The rule for the values.
    pub rule: Rule,
    /// The keywords of the rule with their values, such as `{minimum: 1, exclusiveMinimum: true}`.
    /// Empty for rules that contain schemas.
    pub specified: Document,
}

/// A rule that values have to meet.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The value has one of these types.
    Type(TypeSet),
    /// A string matches the regular expression.
    Pattern(Pattern),
    /// A string has at most this number of characters.
    MaxLength(i64),
    /// A string has at least this number of characters.
    MinLength(i64),
    /// A number is a multiple of this one, which is positive.
    MultipleOf(Decimal128),
    /// A number is within the limit of `minimum` or `maximum`: compared with this value, it meets
    /// the comparison.
    Limit(Comparison, Value),
    /// An array has at least this number of elements.
    MinItems(i64),
    /// An array has at most this number of elements.
    MaxItems(i64),
    /// The elements of an array differ from each other.
    UniqueItems,
    /// All elements of an array match the schema.
    Items(Box<Schema>),
    /// Each element of an array matches the schema at its position, if there is one.
    ItemList(Vec<Schema>),
    /// The elements of an array from this position on must be allowed.
    AdditionalItems(usize, Allowed),
    /// The fields with these names match their schemas if they exist.
    Properties(Vec<(String, Schema)>),
    /// Fields match the schemas of the patterns that their names match (`patternProperties`).
    /// Fields whose names are not in `named` and match no pattern must be allowed
    /// (`additionalProperties`).
    OtherProperties {
        /// Names of fields to which `allowed` does not apply.
        named: HashSet<String>,
        /// Patterns of field names, each with the schema of the fields whose names match it.
        patterns: Vec<(Pattern, Schema)>,
        /// Rule for the remaining fields.
        allowed: Allowed,
    },
    /// Fields with these names, which are sorted, exist.
    Required(Vec<String>),
    /// A document has at least this number of fields.
    MinProperties(i64),
    /// A document has at most this number of fields.
    MaxProperties(i64),
    /// A document that has one of these fields meets the condition of the field.
    Dependencies(Notes, Vec<(String, Dependency)>),
    /// The value matches all schemas.
    AllOf(Vec<Schema>),
    /// The value matches at least one schema.
    AnyOf(Vec<Schema>),
    /// The value matches exactly one schema.
    OneOf(Vec<Schema>),
    /// The value does not match the schema.
    Not(Box<Schema>),
    /// The value equals one of these values, whose documents have sorted fields.
    Enum(Vec<Value>),
}

/// Rule for the array elements or fields that have no schema of their own.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// All of them are allowed.
    Any,
    /// None of them is allowed.
    None,
    /// Only values that match the schema are allowed.
    Matching(Box<Schema>),
}

/// The condition that a document with a certain field has to meet.
#[derive(Clone, Debug)]
pub enum Dependency {
    /// Fields with these names exist.
    Properties(Vec<String>),
    /// The document matches a schema.
    Matching(Schema),
}

impl Schema {
    /// Returns whether no document matches, since the schema requires another type.
    pub fn refuses_documents(&self) -> bool {
        self.keywords.iter().any(|keyword| match &keyword.rule {
            Rule::Type(types) => !types.contains(document::Kind::Document),
            _ => false,
        })
    }
}
