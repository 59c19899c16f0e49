//! Fuzz target of searches for texts: words of documents, and searches with phrases and negations.

use document::{DocRef, doc};
use full_text::{Language, TextIndex, TextQuery};

use crate::context;

/// Checks that a search finds what the words in a text index promise. The input has the languages of
/// the index and of the search with `c` and `d` for sensitivity, the search, and the text, each
/// up to a line break: `english,german,c`.
pub(crate) fn searches(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let mut lines = input.splitn(3, '\n');
    let (Some(rules), Some(search), Some(text)) = (lines.next(), lines.next(), lines.next()) else {
        return;
    };
    let mut rules = rules.split(',');
    let default_language = rules.next().and_then(Language::named).unwrap_or(Language::English);
    let asked = rules.next().and_then(Language::named);
    let flags = rules.next().unwrap_or_default();
    let index = TextIndex {
        weights: vec![("t".to_owned(), 3)],
        default_language,
        language_override: "language".to_owned(),
    };
    let document = doc! { "t": text, "u": search };
    let (document, context) = (DocRef::Tree(&document), context());
    let Ok(words) = index.words(document, &context) else { return };
    assert!(words.values().all(|weight| weight.is_finite() && 0.0 < *weight), "{words:?}");
    let query = TextQuery::new(search, asked, flags.contains('c'), flags.contains('d'));
    assert!(query.matches(document, &context).is_err(), "a search that is bound to no index");
    assert!(query.bind(&index), "a search that was bound before");
    let has_word = query.index_words().any(|word| words.contains_key(word));
    let (Ok(matches), Ok(score)) =
        (query.matches(document, &context), query.score(document, &context))
    else {
        return;
    };
    assert_eq!(has_word, 0.0 < score, "{search:?} in {text:?}");
    if query.is_answered_by_words() {
        assert_eq!(matches, has_word, "{search:?} in {text:?}");
    }
    // Words of another language than the text's may be others in the index.
    if matches && asked.is_none_or(|asked| asked == default_language) {
        assert!(has_word, "{search:?} in {text:?} is not found by the index");
    }
}
