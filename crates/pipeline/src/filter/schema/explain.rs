//! Describes why a value does not match a schema, with the fields and texts that MongoDB's errors
//! have.
//!
//! ```text
//! {operatorName: "properties", propertiesNotSatisfied: [{propertyName: "a", details: [
//!     {operatorName: "minimum", specifiedAs: {minimum: 1}, reason: "comparison failed",
//!      consideredValue: 0}]}]}
//! ```

use document::{ArrayRef, DocRef, Document, Value, ValueRef, doc};
use evaluation::{Context, Error, memory_of};
use memory::Share;

use super::{
    Allowed, Keyword, Notes, Rule, Schema, matching::matching_schemas, unordered::find_duplicate,
};

/// Bytes of the description of one operator besides its values.
pub(super) const DETAIL: usize = 64;
/// Bytes of an array element in a description besides its value.
const ELEMENT: usize = 8;
/// Estimated memory per byte of a description. It does not apply to values of the document and
/// parts of the schema, whose memory is known.
const MEMORY_PER_BYTE: usize = 8;

/// Reason why a description was not completed.
#[derive(Debug)]
pub(in crate::filter) enum Cut {
    /// The description would exceed its maximum size or the available memory.
    TooLarge,
    /// The operation has to end early.
    Failed(Error),
}

impl From<Error> for Cut {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The limits of a description while it is built.
#[derive(Debug)]
pub(in crate::filter) struct Details<'c> {
    /// The context of the operation.
    pub(in crate::filter) context: &'c Context,
    /// Bytes that the description may still take.
    pub(in crate::filter) left: usize,
    /// Memory reserved for the description.
    pub(in crate::filter) held: Share,
    /// Whether the description contains values of the document and parts of the schema. They are
    /// left out if the whole description would be too large.
    pub(in crate::filter) whole: bool,
    /// Returns the name of an error code.
    pub(in crate::filter) code_name: fn(i32) -> String,
}

impl Details<'_> {
    /// Counts bytes of the description and reserves their memory.
    pub(in crate::filter) fn take(&mut self, bytes: usize) -> Result<(), Cut> {
        self.reserve(bytes, bytes.saturating_mul(MEMORY_PER_BYTE))
    }

    /// Counts bytes of the description and reserves `memory` for them.
    fn reserve(&mut self, bytes: usize, memory: usize) -> Result<(), Cut> {
        self.left = self.left.checked_sub(bytes).ok_or(Cut::TooLarge)?;
        self.held.grow(memory).map_err(|_| Cut::TooLarge)
    }

    /// Returns a copy of a value for the description.
    pub(in crate::filter) fn copy(&mut self, value: ValueRef<'_>) -> Result<Value, Cut> {
        self.reserve(ELEMENT + value.encoded_len(), memory_of(value))?;
        Ok(value.to_value())
    }

    /// Starts the description of a failed operator.
    pub(in crate::filter) fn begin(&mut self, operator: &str) -> Result<Document, Cut> {
        self.take(DETAIL + operator.len())?;
        Ok(doc! { "operatorName": operator })
    }

    /// Adds a copy of a value to the description, unless values are left out.
    pub(in crate::filter) fn push(
        &mut self,
        detail: &mut Document,
        name: &str,
        value: ValueRef<'_>,
    ) -> Result<(), Cut> {
        if self.whole {
            self.take(name.len())?;
            detail.push(name, self.copy(value)?);
        }
        Ok(())
    }

    /// Adds to the description the part of the query or schema that was not met.
    pub(in crate::filter) fn push_specified(
        &mut self,
        detail: &mut Document,
        specified: &Document,
    ) -> Result<(), Cut> {
        self.push(detail, "specifiedAs", ValueRef::Document(DocRef::Tree(specified)))
    }

    /// Adds the title and the description of a schema.
    pub(super) fn push_notes(&mut self, detail: &mut Document, notes: &Notes) -> Result<(), Cut> {
        for (name, note) in [("title", &notes.title), ("description", &notes.description)] {
            if let Some(note) = note {
                self.take(note.len())?;
                detail.push(name, note.as_str());
            }
        }
        Ok(())
    }

    /// Describes why a document does not match the operand of `$jsonSchema`.
    pub(in crate::filter) fn of_root(
        &mut self,
        schema: &Schema,
        document: DocRef<'_>,
    ) -> Result<Document, Cut> {
        let mut detail = self.begin("$jsonSchema")?;
        self.push_notes(&mut detail, &schema.notes)?;
        let rules = self.of_schema(schema, ValueRef::Document(document))?;
        detail.push("schemaRulesNotSatisfied", rules);
        Ok(detail)
    }

    /// Describes the rules of a schema that a value does not meet.
    pub(super) fn of_schema(&mut self, schema: &Schema, value: ValueRef<'_>) -> Result<Value, Cut> {
        let mut failed = Vec::new();
        for keyword in &schema.keywords {
            if !keyword.rule.is_met(value, self.context)? {
                failed.extend(self.of_keyword(keyword, value)?.into_iter().map(Value::Document));
            }
        }
        Ok(Value::Array(failed))
    }

    /// Describes a schema that is part of a rule and that a value does not match. The description
    /// is added to `entry`.
    pub(super) fn of_part(
        &mut self,
        mut entry: Document,
        schema: &Schema,
        value: ValueRef<'_>,
    ) -> Result<Value, Cut> {
        self.take(DETAIL)?;
        self.push_notes(&mut entry, &schema.notes)?;
        entry.push("details", self.of_schema(schema, value)?);
        Ok(Value::Document(entry))
    }

    /// Describes a rule that a value does not meet. Returns one description, or two for a rule of
    /// two keywords.
    fn of_keyword(&mut self, keyword: &Keyword, value: ValueRef<'_>) -> Result<Vec<Document>, Cut> {
        let one = match (&keyword.rule, value) {
            (Rule::AllOf(schemas) | Rule::AnyOf(schemas) | Rule::OneOf(schemas), value) => {
                self.of_schemas(&keyword.rule, schemas, value)?
            }
            (Rule::Not(_), _) => {
                let mut detail = self.begin("not")?;
                detail.push("reason", "child expression matched");
                detail
            }
            (rule, ValueRef::Array(array)) if rule.has_schemas() => self.of_items(rule, array)?,
            (Rule::OtherProperties { patterns, .. }, ValueRef::Document(document)) => {
                let found =
                    [self.of_additional(keyword, document)?, self.of_patterns(patterns, document)?];
                return Ok(found.into_iter().flatten().collect());
            }
            (rule, ValueRef::Document(document)) if rule.has_schemas() => {
                self.of_fields(rule, document)?
            }
            (Rule::Required(names), ValueRef::Document(document)) => {
                let mut detail = self.begin("required")?;
                self.push_specified(&mut detail, &keyword.specified)?;
                detail.push("missingProperties", self.missing(names, document)?);
                detail
            }
            _ => self.of_value(keyword, value)?,
        };
        Ok(vec![one])
    }

    /// Describes a rule that contains no schemas.
    fn of_value(&mut self, keyword: &Keyword, value: ValueRef<'_>) -> Result<Document, Cut> {
        let operator = keyword.specified.fields().first().map_or("", |(name, _)| name.as_str());
        let mut detail = self.begin(operator)?;
        self.push_specified(&mut detail, &keyword.specified)?;
        let (reason, shows_value) = match &keyword.rule {
            Rule::Type(_) => ("type did not match", true),
            Rule::Pattern(_) => ("regular expression did not match", true),
            Rule::MaxLength(_) | Rule::MinLength(_) => {
                ("specified string length was not satisfied", true)
            }
            Rule::MultipleOf(_) => {
                ("considered value is not a multiple of the specified value", true)
            }
            Rule::MinItems(_) | Rule::MaxItems(_) => ("array did not match specified length", true),
            Rule::UniqueItems => ("found a duplicate item", true),
            Rule::MinProperties(_) | Rule::MaxProperties(_) => {
                ("specified number of properties was not satisfied", false)
            }
            Rule::Enum(_) => ("value was not found in enum", true),
            _ => ("comparison failed", true),
        };
        detail.push("reason", reason);
        if shows_value {
            self.push(&mut detail, "consideredValue", value)?;
        }
        match (&keyword.rule, value) {
            (Rule::Type(_), value) => detail.push("consideredType", value.kind().name()),
            (Rule::MinItems(_) | Rule::MaxItems(_), ValueRef::Array(array)) => {
                detail.push("numberOfItems", number(array.len()));
            }
            (Rule::MinProperties(_) | Rule::MaxProperties(_), ValueRef::Document(document)) => {
                detail.push("numberOfProperties", number(document.len()));
            }
            (Rule::UniqueItems, ValueRef::Array(array)) => {
                if let Some(repeated) = find_duplicate(array, self.context)? {
                    self.push(&mut detail, "duplicatedValue", repeated)?;
                }
            }
            _ => {}
        }
        Ok(detail)
    }

    /// Describes `allOf`, `anyOf` or `oneOf`.
    fn of_schemas(
        &mut self,
        rule: &Rule,
        schemas: &[Schema],
        value: ValueRef<'_>,
    ) -> Result<Document, Cut> {
        let mut detail = self.begin(match rule {
            Rule::AllOf(_) => "allOf",
            Rule::AnyOf(_) => "anyOf",
            _ => "oneOf",
        })?;
        let matching = matching_schemas(schemas, value, self.context)?;
        if matches!(rule, Rule::OneOf(_)) && !matching.is_empty() {
            detail.push("reason", "more than one subschema matched");
            self.take(matching.len().saturating_mul(ELEMENT))?;
            let indexes = matching.into_iter().map(number).collect();
            detail.push("matchingSchemaIndexes", Value::Array(indexes));
            return Ok(detail);
        }
        let mut failed = Vec::new();
        for (at, schema) in schemas.iter().enumerate() {
            if matching.binary_search(&at).is_err() {
                failed.push(self.of_part(doc! { "index": number(at) }, schema, value)?);
            }
        }
        detail.push("schemasNotSatisfied", Value::Array(failed));
        Ok(detail)
    }

    /// Describes a rule that has schemas for the elements of an array.
    fn of_items(&mut self, rule: &Rule, array: ArrayRef<'_>) -> Result<Document, Cut> {
        match rule {
            Rule::ItemList(schemas) => {
                let mut detail = self.begin("items")?;
                let mut failed = Vec::new();
                for (at, (item, schema)) in array.iter().zip(schemas).enumerate() {
                    if !schema.matches(item, self.context)? {
                        let entry = doc! { "itemIndex": number(at) };
                        failed.push(self.of_part(entry, schema, item)?);
                    }
                }
                detail.push("details", Value::Array(failed));
                Ok(detail)
            }
            Rule::Items(schema) => {
                let reason = "At least one item did not match the sub-schema";
                self.of_first_item("items", reason, (0, &**schema), array)
            }
            Rule::AdditionalItems(from, Allowed::Matching(schema)) => {
                let reason = "At least one additional item did not match the sub-schema";
                self.of_first_item("additionalItems", reason, (*from, &**schema), array)
            }
            Rule::AdditionalItems(from, _) => {
                let mut detail = self.begin("additionalItems")?;
                self.push_specified(&mut detail, &doc! { "additionalItems": false })?;
                detail.push("reason", "found additional items");
                if self.whole {
                    let mut items = Vec::new();
                    for item in array.iter().skip(*from) {
                        items.push(self.copy(item)?);
                    }
                    detail.push("additionalItems", Value::Array(items));
                }
                Ok(detail)
            }
            _ => self.begin(""),
        }
    }

    /// Describes the first element, from a position on, that does not match a schema.
    fn of_first_item(
        &mut self,
        operator: &str,
        reason: &str,
        (from, schema): (usize, &Schema),
        array: ArrayRef<'_>,
    ) -> Result<Document, Cut> {
        let mut detail = self.begin(operator)?;
        self.push_notes(&mut detail, &schema.notes)?;
        detail.push("reason", reason);
        for (at, item) in array.iter().enumerate().skip(from) {
            if !schema.matches(item, self.context)? {
                detail.push("itemIndex", number(at));
                detail.push("details", self.of_schema(schema, item)?);
                break;
            }
        }
        Ok(detail)
    }
}

impl Rule {
    /// Returns whether a rule applies schemas to the elements of an array or to the fields of a
    /// document. `additionalItems: false` is such a rule, too.
    fn has_schemas(&self) -> bool {
        matches!(
            self,
            Self::Items(_)
                | Self::ItemList(_)
                | Self::AdditionalItems(..)
                | Self::Properties(_)
                | Self::Dependencies(..)
        )
    }
}

/// Returns a position or length as the value that descriptions contain.
fn number(count: usize) -> Value {
    Value::Int32(i32::try_from(count).unwrap_or(i32::MAX))
}
