//! The locales of collations: their names in requests, and the language tags of the rules.

/// Names of supported locales, without the variants of [`VARIANTS`].
const LOCALES: &[&str] = &[
    "af",
    "am",
    "ar",
    "as",
    "az",
    "be",
    "bg",
    "bn",
    "bo",
    "bs",
    "bs_Cyrl",
    "ca",
    "chr",
    "cs",
    "cy",
    "da",
    "de",
    "de_AT",
    "dsb",
    "dz",
    "ee",
    "el",
    "en",
    "en_US",
    "en_US_POSIX",
    "eo",
    "es",
    "et",
    "fa",
    "fa_AF",
    "fi",
    "fil",
    "fo",
    "fr",
    "fr_CA",
    "ga",
    "gl",
    "gu",
    "ha",
    "haw",
    "he",
    "hi",
    "hr",
    "hsb",
    "hu",
    "hy",
    "id",
    "ig",
    "is",
    "it",
    "ja",
    "ka",
    "kk",
    "kl",
    "km",
    "kn",
    "ko",
    "kok",
    "ky",
    "lb",
    "lkt",
    "ln",
    "lo",
    "lt",
    "lv",
    "mk",
    "ml",
    "mn",
    "mr",
    "ms",
    "mt",
    "my",
    "nb",
    "ne",
    "nl",
    "nn",
    "om",
    "or",
    "pa",
    "pl",
    "ps",
    "pt",
    "ro",
    "ru",
    "se",
    "si",
    "sk",
    "sl",
    "smn",
    "sq",
    "sr",
    "sr_Latn",
    "sv",
    "sw",
    "ta",
    "te",
    "th",
    "to",
    "tr",
    "ug",
    "uk",
    "ur",
    "vi",
    "wae",
    "yi",
    "yo",
    "zh",
    "zh_Hant",
    "zu",
];

/// Variants of locales: the name and the language tag.
const VARIANTS: &[(&str, &str)] = &[
    ("ar@collation=compat", "ar-u-co-compat"),
    ("bn@collation=traditional", "bn-u-co-trad"),
    ("de@collation=phonebook", "de-u-co-phonebk"),
    ("de_AT@collation=phonebook", "de-AT-u-co-phonebk"),
    ("es@collation=traditional", "es-u-co-trad"),
    ("fi@collation=traditional", "fi-u-co-trad"),
    ("ja@collation=unihan", "ja-u-co-unihan"),
    ("kn@collation=traditional", "kn-u-co-trad"),
    ("ko@collation=unihan", "ko-u-co-unihan"),
    ("si@collation=dictionary", "si-u-co-dict"),
    ("zh@collation=pinyin", "zh-u-co-pinyin"),
    ("zh@collation=stroke", "zh-u-co-stroke"),
    ("zh@collation=unihan", "zh-u-co-unihan"),
    ("zh@collation=zhuyin", "zh-u-co-zhuyin"),
];

/// Variants that exist elsewhere, but whose rules the compiled data lacks.
const MISSING: &[&str] =
    &["search", "searchjl", "eor", "phonetic", "reformed", "big5han", "gb2312han"];

/// Languages whose rules are those of the root collation. For these the rules of Canadian French,
/// which differ from the root only in the direction of accents, implement `backwards`.
const OF_ROOT: &[&str] =
    &["ca", "de", "en", "en_US", "fr", "fr_CA", "ga", "id", "it", "lb", "ms", "nl", "pt"];

/// A supported or missing locale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The rules of the locale have this language tag.
    Tag(String),
    /// The variant exists, but its rules are not compiled in.
    Missing,
    /// There is no such locale. Its language may be supported without it.
    Unknown(Option<&'static str>),
}

/// Finds a locale by its exact name.
pub(crate) fn find_locale(name: &str) -> Found {
    if LOCALES.contains(&name) {
        // The tag of a variant of a country is written in lower case.
        let tag =
            if name == "en_US_POSIX" { "en-US-posix".to_owned() } else { name.replace('_', "-") };
        return Found::Tag(tag);
    }
    if let Some((_, tag)) = VARIANTS.iter().find(|(variant, _)| *variant == name) {
        return Found::Tag((*tag).to_owned());
    }
    let (base, variant) = name.split_once("@collation=").unwrap_or((name, ""));
    if LOCALES.contains(&base) && MISSING.contains(&variant) {
        return Found::Missing;
    }
    Found::Unknown(closest_locale(name))
}

/// Returns the supported locale that a name with unknown parts falls back to.
fn closest_locale(name: &str) -> Option<&'static str> {
    let known = |name: &str| LOCALES.iter().copied().find(|known| known.eq_ignore_ascii_case(name));
    let mut rest = name.split('@').next().unwrap_or(name).replace('-', "_");
    loop {
        if let Some(known) = known(&rest) {
            return Some(known);
        }
        rest.truncate(rest.rfind('_')?);
    }
}

/// Returns whether accents are compared from the end of a text unless a request says otherwise.
pub(crate) fn is_backwards(name: &str) -> bool {
    name == "fr_CA"
}

/// Returns the tag of rules that compare accents in the direction; `None` if there are no such
/// rules for the locale. `tag` has the rules of the locale itself.
pub(crate) fn tag_for_direction(name: &str, tag: String, backwards: bool) -> Option<String> {
    if backwards == is_backwards(name) {
        return Some(tag);
    }
    let tag = if backwards { "fr-CA" } else { "fr" };
    OF_ROOT.contains(&name).then(|| tag.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collation, Wanted};

    fn collation(locale: &str) -> Collation {
        Collation::new(&Wanted { locale: locale.to_owned(), ..Wanted::default() }).unwrap()
    }

    #[test]
    fn every_listed_locale_is_supported() {
        let variants = VARIANTS.iter().map(|(name, _)| *name);
        for name in LOCALES.iter().copied().chain(variants) {
            assert_eq!(collation(name).options().locale, name);
        }
    }

    #[test]
    fn the_rules_of_some_locales_are_those_of_the_root() {
        let of = |locale: &str| {
            let backwards = Some(false);
            let wanted = Wanted { locale: locale.to_owned(), backwards, ..Wanted::default() };
            Collation::new(&wanted).unwrap()
        };
        let english = of("en");
        for name in OF_ROOT {
            let other = of(name);
            for text in
                ('!'..='\u{24f}').flat_map(|c| [format!("{c}"), format!("c{c}"), format!("l{c}")])
            {
                assert_eq!(other.key_of_text(&text), english.key_of_text(&text), "{name} {text}");
            }
        }
    }
}
