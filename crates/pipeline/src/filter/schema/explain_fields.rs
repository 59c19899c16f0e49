//! Describes rules about the fields of a document.

use document::{DocRef, Document, Value, ValueRef, doc};
use evaluation::{Error, Pattern, STEP};

use super::{
    Allowed, Dependency, Keyword, Rule, Schema,
    explain::{Cut, DETAIL, Details},
    properties::{find_properties, names_of},
};

impl Details<'_> {
    /// Describes the failure of `properties` or `dependencies`.
    pub(super) fn of_fields(&mut self, rule: &Rule, document: DocRef<'_>) -> Result<Document, Cut> {
        let mut failed = Vec::new();
        match rule {
            Rule::Properties(schemas) => {
                let values = find_properties(document, names_of(schemas), self.context)?;
                for ((name, schema), value) in schemas.iter().zip(values) {
                    let Some(value) = value else { continue };
                    if !schema.matches(value, self.context)? {
                        self.take(name.len())?;
                        let entry = doc! { "propertyName": name.as_str() };
                        failed.push(self.of_part(entry, schema, value)?);
                    }
                }
                let mut detail = self.begin("properties")?;
                detail.push("propertiesNotSatisfied", Value::Array(failed));
                Ok(detail)
            }
            Rule::Dependencies(notes, dependencies) => {
                let values = find_properties(document, names_of(dependencies), self.context)?;
                for ((name, needed), value) in dependencies.iter().zip(values) {
                    if value.is_none() || needed.is_met(document, self.context)? {
                        continue;
                    }
                    self.take(DETAIL + name.len())?;
                    let mut entry = doc! { "conditionalProperty": name.as_str() };
                    match needed {
                        Dependency::Properties(names) => {
                            entry.push("missingProperties", self.missing(names, document)?);
                        }
                        Dependency::Matching(schema) => {
                            let value = ValueRef::Document(document);
                            entry.push("details", self.of_schema(schema, value)?);
                        }
                    }
                    failed.push(Value::Document(entry));
                }
                let mut detail = self.begin("dependencies")?;
                self.push_notes(&mut detail, notes)?;
                detail.push("failingDependencies", Value::Array(failed));
                Ok(detail)
            }
            _ => self.begin(""),
        }
    }

    /// Describes fields that `additionalProperties` does not allow; `None` if it allows all.
    pub(super) fn of_additional(
        &mut self,
        keyword: &Keyword,
        document: DocRef<'_>,
    ) -> Result<Option<Document>, Cut> {
        let Rule::OtherProperties { named, patterns, allowed } = &keyword.rule else {
            return Ok(None);
        };
        let mut refused = Vec::new();
        for (name, value) in document.iter() {
            let count = |units| self.context.budget.spend(units);
            count(STEP)?;
            let covered = named.contains(name)
                || patterns.iter().try_fold(false, |covered, (pattern, _)| {
                    Ok::<_, Error>(covered || pattern.is_match(name, &count)?)
                })?;
            if covered || allowed.allows(value, self.context)? {
                continue;
            }
            self.take(DETAIL + name.len())?;
            let Allowed::Matching(schema) = allowed else {
                refused.push(Value::from(name));
                continue;
            };
            let mut detail = self.begin("additionalProperties")?;
            self.push_notes(&mut detail, &schema.notes)?;
            let reason = "at least one additional property did not match the subschema";
            detail.push("reason", reason);
            detail.push("failingProperty", name);
            detail.push("details", self.of_schema(schema, value)?);
            return Ok(Some(detail));
        }
        if refused.is_empty() {
            return Ok(None);
        }
        let mut detail = self.begin("additionalProperties")?;
        self.push_specified(&mut detail, &doc! { "additionalProperties": false })?;
        detail.push("additionalProperties", Value::Array(refused));
        Ok(Some(detail))
    }

    /// Describes fields that do not match the schemas of the patterns that their names match;
    /// `None` if all match.
    pub(super) fn of_patterns(
        &mut self,
        patterns: &[(Pattern, Schema)],
        document: DocRef<'_>,
    ) -> Result<Option<Document>, Cut> {
        let mut failed = Vec::new();
        for (name, value) in document.iter() {
            for (pattern, schema) in patterns {
                let count = |units| self.context.budget.spend(units);
                if !pattern.is_match(name, &count)? || schema.matches(value, self.context)? {
                    continue;
                }
                self.take(DETAIL + name.len() + pattern.source().len())?;
                let mut entry = doc! { "propertyName": name };
                self.push_notes(&mut entry, &schema.notes)?;
                entry.push("regexMatched", pattern.source());
                entry.push("details", self.of_schema(schema, value)?);
                failed.push(Value::Document(entry));
            }
        }
        if failed.is_empty() {
            return Ok(None);
        }
        let mut detail = self.begin("patternProperties")?;
        detail.push("details", Value::Array(failed));
        Ok(Some(detail))
    }

    /// Returns the names of the fields that a document lacks.
    pub(super) fn missing(&mut self, names: &[String], document: DocRef<'_>) -> Result<Value, Cut> {
        let mut missing = Vec::new();
        let values = find_properties(document, names.iter().map(String::as_str), self.context)?;
        for (name, value) in names.iter().zip(values) {
            if value.is_none() {
                self.take(DETAIL / 4 + name.len())?;
                missing.push(Value::from(name.as_str()));
            }
        }
        Ok(Value::Array(missing))
    }
}
