//! Values in which texts are replaced by their sort keys, so that a comparison of bytes, or of
//! values in the plain order, compares by the collation.
//!
//! ```text
//! {a: ["B", 1]}   ->   {a: [key of "B", 1]}
//! ```
//!
//! A key is a text, too: each byte of the sort key is the character with this number. The order of
//! characters is that of the bytes, and the key can be stored wherever a text can.

use document::{Document, Value, ValueRef};

use crate::collator::Collation;

impl Collation {
    /// Returns the sort key of a text as a text. Keys compare by their bytes as the texts compare
    /// by the collation.
    pub fn key_of_text(&self, text: &str) -> String {
        let mut bytes = Vec::with_capacity(text.len() + text.len() / 2 + 8);
        self.push_sort_key(text, &mut bytes);
        bytes.into_iter().map(char::from).collect()
    }

    /// Returns a value with all texts replaced by their keys. Such values compare in the plain
    /// order as the original values compare by the collation.
    pub fn key_of_value(&self, value: ValueRef<'_>) -> Value {
        match value {
            ValueRef::String(text) | ValueRef::Symbol(text) => {
                Value::String(self.key_of_text(text))
            }
            ValueRef::Document(fields) => {
                let keyed = |(name, value): (&str, ValueRef<'_>)| {
                    (name.to_owned(), self.key_of_value(value))
                };
                Value::Document(fields.iter().map(keyed).collect::<Document>())
            }
            ValueRef::Array(values) => {
                Value::Array(values.iter().map(|value| self.key_of_value(value)).collect())
            }
            other => other.to_value(),
        }
    }
}

/// Returns whether a value is a text or contains one, so that a collation affects its order.
pub fn contains_text(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::String(_) | ValueRef::Symbol(_) => true,
        ValueRef::Document(fields) => fields.iter().any(|(_, value)| contains_text(value)),
        ValueRef::Array(values) => values.iter().any(contains_text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use document::{array, compare, doc};

    use super::*;
    use crate::{Alternate, CaseFirst, Refusal, Wanted};

    fn collation(change: impl Fn(&mut Wanted)) -> Collation {
        let mut wanted = Wanted { locale: "en".into(), ..Wanted::default() };
        change(&mut wanted);
        Collation::new(&wanted).unwrap()
    }

    fn all() -> Vec<Collation> {
        let mut all: Vec<Collation> =
            (1..=5).map(|strength| collation(|wanted| wanted.strength = Some(strength))).collect();
        for locale in
            ["sv", "da", "th", "ja", "zh", "de@collation=phonebook", "fr_CA", "en_US_POSIX"]
        {
            all.push(collation(|wanted| wanted.locale = locale.into()));
        }
        all.push(collation(|wanted| wanted.numeric_ordering = Some(true)));
        all.push(collation(|wanted| wanted.alternate = Some(Alternate::Shifted)));
        all.push(collation(|wanted| wanted.case_first = Some(CaseFirst::Upper)));
        all.push(collation(|wanted| {
            (wanted.strength, wanted.case_level) = (Some(1), Some(true));
        }));
        all
    }

    const TEXTS: [&str; 24] = [
        "", "a", "A", "á", "Á", "b", "ab", "a b", "a-b", "ae", "æ", "ö", "oz", "z", "10", "9", "1",
        "côte", "coté", "cote", "\0", "\u{1}x", "日本", "あア",
    ];

    #[test]
    fn keys_compare_as_the_texts_do() {
        for collation in all() {
            for a in TEXTS {
                for b in TEXTS {
                    let texts = collation.compare_texts(a, b);
                    let (one, other) = (ValueRef::String(a), ValueRef::String(b));
                    let keys = [one, other].map(|text| collation.key_of_value(text));
                    let found = compare(keys[0].as_ref(), keys[1].as_ref());
                    assert_eq!(found, texts, "{a:?} {b:?} {collation:?}");
                    assert_eq!(collation.compare(one, other), texts);
                }
            }
        }
    }

    #[test]
    fn texts_inside_values_compare_by_the_collation() {
        let loose = collation(|wanted| wanted.strength = Some(2));
        let (a, b) = (doc! { "x": array!["A", 1] }, doc! { "x": array!["a", 1.0] });
        let (a, b) = (Value::Document(a), Value::Document(b));
        assert_eq!(loose.compare(a.as_ref(), b.as_ref()), Ordering::Equal);
        assert_ne!(compare(a.as_ref(), b.as_ref()), Ordering::Equal);
        let keys = [a.as_ref(), b.as_ref()].map(|value| loose.key_of_value(value));
        assert_eq!(compare(keys[0].as_ref(), keys[1].as_ref()), Ordering::Equal);
        assert!(contains_text(a.as_ref()) && !contains_text(array![1, doc! {}].as_ref()));
    }

    /// Indexes store these bytes. If this test fails after a change of `icu_collator`, stored
    /// indexes with a collation have to be built again.
    #[test]
    fn keys_are_part_of_the_format() {
        let hexadecimal =
            |key: &str| key.chars().map(|c| format!("{:02x}", u32::from(c))).collect::<String>();
        let mut found = Vec::new();
        for collation in all() {
            found.push(TEXTS.map(|text| hexadecimal(&collation.key_of_text(text))).join(","));
        }
        let digest = found
            .iter()
            .flat_map(|text| text.bytes())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        assert_eq!(hexadecimal(&all()[1].key_of_text("Abc")), "2b2d2f0107");
        assert_eq!(digest, 15_150_014_543_353_810_093);
    }

    #[test]
    fn options_not_given_are_those_of_the_locale() {
        let options =
            |locale: &str| collation(|wanted| wanted.locale = locale.into()).options().clone();
        assert_eq!(options("en").case_first, CaseFirst::Off);
        assert_eq!(options("da").case_first, CaseFirst::Upper);
        assert_eq!(options("th").alternate, Alternate::Shifted);
        assert!(options("fr_CA").backwards && !options("fr").backwards);
        for collation in all() {
            assert_eq!(Collation::of_document(&collation.to_document()), Some(collation));
        }
    }

    #[test]
    fn accents_compare_from_the_end_if_wanted() {
        let order = |locale: &str, backwards| {
            let collation = collation(|wanted| {
                (wanted.locale, wanted.backwards) = (locale.into(), Some(backwards));
            });
            collation.compare_texts("coté", "côte")
        };
        for locale in ["fr", "fr_CA", "en", "de"] {
            assert_eq!(order(locale, false), Ordering::Less, "{locale}");
            assert_eq!(order(locale, true), Ordering::Greater, "{locale}");
        }
    }

    #[test]
    fn options_without_rules_are_refused() {
        let refusal = |change: &dyn Fn(&mut Wanted)| {
            let mut wanted = Wanted { locale: "en".into(), ..Wanted::default() };
            change(&mut wanted);
            Collation::new(&wanted).err()
        };
        assert_eq!(refusal(&|w| w.locale = "xx".into()), Some(Refusal::UnknownLocale(None)));
        assert_eq!(
            refusal(&|w| w.locale = "en_GB".into()),
            Some(Refusal::UnknownLocale(Some("en")))
        );
        assert_eq!(refusal(&|w| w.locale = String::new()), Some(Refusal::UnknownLocale(None)));
        let search = "de@collation=search";
        assert_eq!(refusal(&|w| w.locale = search.into()), Some(Refusal::MissingVariant));
        assert_eq!(refusal(&|w| w.strength = Some(6)), Some(Refusal::Strength));
        let backwards = |w: &mut Wanted| (w.strength, w.backwards) = (Some(1), Some(true));
        assert_eq!(refusal(&backwards), Some(Refusal::BackwardsAtPrimary));
        let swedish = |w: &mut Wanted| (w.locale, w.backwards) = ("sv".into(), Some(true));
        assert_eq!(refusal(&swedish), Some(Refusal::Direction));
        let upper = |w: &mut Wanted| (w.strength, w.case_first) = (Some(2), Some(CaseFirst::Upper));
        assert_eq!(refusal(&upper), Some(Refusal::CaseFirstWithoutCase));
    }
}
