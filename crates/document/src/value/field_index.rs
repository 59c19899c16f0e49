//! A lazily built index by name over the fields of a wide document, so that a document of a hundred
//! thousand fields can be built field by field. The index is not part of the value and does not
//! take part in comparisons.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::Value;

/// Number of fields from which a document may get an index. Most documents have fewer fields;
/// searches in them are not counted.
const WIDE: usize = 64;
/// The index is built once linear searches have compared this many names per field, which costs
/// about as much as building it.
const LOOKS: usize = 8;

/// The positions of a document's fields by name, empty until enough names have been searched for.
#[derive(Clone, Default)]
pub(super) struct FieldPositions(Option<Box<Index>>);

#[derive(Clone, Default)]
struct Index {
    /// Number of field names that linear searches have compared so far.
    looked: usize,
    /// Position of the first field of each name, once the index is built.
    positions: Option<(HashTable<usize>, RandomState)>,
}

impl FieldPositions {
    /// Returns the position of the first field with this name. Counts the cost of the search and
    /// builds the index when it is worthwhile.
    pub(super) fn find_and_learn(
        &mut self,
        fields: &[(String, Value)],
        name: &str,
    ) -> Option<usize> {
        if fields.len() < WIDE {
            return look_through(fields, name);
        }
        let index = self.0.get_or_insert_default();
        if index.positions.is_none() && fields.len().saturating_mul(LOOKS) < index.looked {
            index.positions = Some(index_of(fields));
        }
        if index.positions.is_some() {
            return self.find(fields, name);
        }
        let found = look_through(fields, name);
        index.looked += found.map_or(fields.len(), |at| at + 1);
        found
    }

    /// Returns the position of the first field with this name; never builds the index.
    pub(super) fn find(&self, fields: &[(String, Value)], name: &str) -> Option<usize> {
        match self.0.as_ref().and_then(|index| index.positions.as_ref()) {
            Some((table, state)) => {
                table.find(state.hash_one(name), |at| is_named(fields, *at, name)).copied()
            }
            None => look_through(fields, name),
        }
    }

    /// Adds the last field, which has just been appended, to the index.
    pub(super) fn note_last(&mut self, fields: &[(String, Value)]) {
        if let Some((table, state)) = self.0.as_mut().and_then(|index| index.positions.as_mut())
            && let Some(at) = fields.len().checked_sub(1)
        {
            note(table, state, fields, at);
        }
    }

    /// Discards the index because positions have changed.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

fn look_through(fields: &[(String, Value)], name: &str) -> Option<usize> {
    fields.iter().position(|(field, _)| field == name)
}

fn index_of(fields: &[(String, Value)]) -> (HashTable<usize>, RandomState) {
    // Names come from clients, so the hash is seeded randomly against chosen collisions.
    let (mut table, state) = (HashTable::with_capacity(fields.len()), RandomState::new());
    for at in 0..fields.len() {
        note(&mut table, &state, fields, at);
    }
    (table, state)
}

fn note(table: &mut HashTable<usize>, state: &RandomState, fields: &[(String, Value)], at: usize) {
    let name_at = |at: &usize| fields.get(*at).map_or("", |(name, _)| name.as_str());
    let name = name_at(&at);
    let hash = state.hash_one(name);
    // Only the first of several fields with one name can be found.
    if table.find(hash, |first| is_named(fields, *first, name)).is_none() {
        table.insert_unique(hash, at, |at| state.hash_one(name_at(at)));
    }
}

fn is_named(fields: &[(String, Value)], at: usize, name: &str) -> bool {
    fields.get(at).is_some_and(|(field, _)| field == name)
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use crate::Value;

    /// A plain list of fields with linear searches, with which a test compares the index.
    #[derive(Default)]
    struct Model(Vec<(String, i32)>);

    impl Model {
        fn position(&self, name: &str) -> Option<usize> {
            self.0.iter().position(|(field, _)| field == name)
        }
    }

    #[test]
    fn a_document_with_an_index_answers_as_a_list_does() {
        let mut random = 1_u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        let (mut model, mut document) = (Model::default(), Document::new());
        let mut most = 0;
        for step in 0..20_000_i32 {
            let name = format!("f{}", next(600));
            match next(40) {
                0 if step > 10_000 => {
                    let expected = model.position(&name).map(|at| model.0.remove(at).1);
                    assert_eq!(document.remove(&name), expected.map(Value::Int32), "{step}");
                }
                1 => {
                    model.0.push((name.clone(), step));
                    document.push(name, step);
                }
                2 if step > 10_000 => {
                    let at = next(700) as usize;
                    model.0.insert(at.min(model.0.len()), (name.clone(), step));
                    document.insert_at(at, name, step);
                }
                3..20 => {
                    match model.position(&name) {
                        Some(at) => model.0[at].1 = step,
                        None => model.0.push((name.clone(), step)),
                    }
                    document.insert(name, step);
                }
                20 => document = document.clone(),
                _ => {
                    let expected = model.position(&name).map(|at| Value::Int32(model.0[at].1));
                    assert_eq!(document.get(&name), expected.as_ref(), "{step}");
                    assert_eq!(document.get_mut(&name).cloned(), expected, "{step}");
                }
            }
            most = most.max(document.len());
        }
        let fields = model.0.into_iter().map(|(name, value)| (name, Value::Int32(value)));
        assert_eq!(document, fields.collect::<Document>());
        assert!(most > 600, "it was never wide: {most}");
    }

    #[test]
    fn looking_up_does_not_make_documents_different() {
        let wide = || (0..1000).map(|i| (format!("f{i}"), Value::Int32(i))).collect::<Document>();
        let mut looked = wide();
        for i in 0..1000 {
            assert_eq!(looked.get_mut(&format!("f{i}")), Some(&mut Value::Int32(i)));
        }
        assert_eq!(looked, wide());
    }
}
