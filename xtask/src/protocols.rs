//! Checks which protocol each crate refers to: none, MongoDB's, the NoSQL API's, or both. The check
//! reads words in identifiers, and marks of a protocol in string literals: operators, option names,
//! headers and codes. A mark is foreign to a crate that may not refer to its protocol. Comments and
//! tests are exempt.

use std::{collections::BTreeSet, path::Path};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::modules;

/// The protocols that a crate may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// No protocol: the crate is used by both APIs.
    Nothing,
    /// MongoDB: its operators, options, error numbers and error texts.
    Mongo,
    /// The NoSQL API: its headers, system properties and codes.
    NoSql,
    /// Both: crates that combine the two, or are clients of either.
    Both,
}

/// Each crate and the protocols it may refer to.
pub const TABLE: &[(&str, Speech)] = &[
    ("clock", Speech::Nothing),
    ("document", Speech::Nothing),
    ("memory", Speech::Nothing),
    ("metrics", Speech::Nothing),
    ("secret", Speech::Nothing),
    ("throughput", Speech::Nothing),
    ("traces", Speech::Nothing),
    ("audit", Speech::Both),
    ("backup", Speech::Nothing),
    ("spill", Speech::Nothing),
    ("tree", Speech::Nothing),
    ("journal", Speech::Nothing),
    ("cluster", Speech::Nothing),
    ("journal-cassandra", Speech::Nothing),
    ("store", Speech::Nothing),
    ("store-tree", Speech::Nothing),
    ("store-shared", Speech::Nothing),
    ("expiry", Speech::Nothing),
    ("collation", Speech::Nothing),
    ("evaluation", Speech::Nothing),
    ("engine", Speech::Nothing),
    ("full-text", Speech::Mongo),
    ("geometry", Speech::Both),
    ("pipeline", Speech::Mongo),
    ("mongo-query", Speech::Mongo),
    ("mongo", Speech::Mongo),
    ("mongo-client", Speech::Mongo),
    ("select", Speech::NoSql),
    ("cosmos-sql", Speech::NoSql),
    ("hybrid-row", Speech::NoSql),
    ("rntbd", Speech::NoSql),
    ("cosmos", Speech::NoSql),
    ("auth", Speech::NoSql),
    ("portal", Speech::Both),
    ("server-base", Speech::Both),
    ("admin", Speech::Both),
    ("server", Speech::Both),
    ("node", Speech::Both),
    ("bench", Speech::Both),
    ("transfer", Speech::Both),
    ("ebb", Speech::Both),
    ("test-kit", Speech::Both),
    ("test-server", Speech::Both),
    ("sim", Speech::Both),
    ("fuzz-targets", Speech::Both),
];

/// A file, the foreign mark in it, and the reason why the mark is permitted.
pub const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "crates/cosmos/src/link.rs",
        "$partitionKeyRangeIds",
        "a parameter of the request for addresses",
    ),
    ("crates/cosmos/src/link.rs", "$resolveFor", "a parameter of the request for addresses"),
    (
        "crates/evaluation/src/error.rs",
        "error numbers",
        "both evaluators share these failures, and one API shows their numbers",
    ),
    (
        "crates/evaluation/src/size.rs",
        "bsonobj",
        "the text of one failure that users of both APIs have always been shown",
    ),
];

/// Words in identifiers and texts that belong to MongoDB.
const MONGO_WORDS: &[&str] = &["mongo", "mongodb", "mongod", "mongos", "bsonobj"];
/// Words in identifiers and texts that belong to the NoSQL API.
const NOSQL_WORDS: &[&str] = &["cosmos", "cosmosdb", "nosql", "azure", "documentdb"];
/// Names of MongoDB's options and commands in texts.
const MONGO_OPTIONS: &[&str] = &[
    "allowDiskUse",
    "arrayFilters",
    "collMod",
    "createIndexes",
    "dropIndexes",
    "expireAfterSeconds",
    "findAndModify",
    "getMore",
    "killCursors",
    "killOp",
    "listCollections",
    "listIndexes",
    "maxTimeMS",
    "partialFilterExpression",
    "readConcern",
    "writeConcern",
];
/// Prefixes of headers, links and properties of the NoSQL API.
const NOSQL_MARKS: &[&str] = &["x-ms-", "_attachments", "_etag", "_rid", "_self"];
/// Functions that, like `Error::new`, create an error from a number: a literal in their arguments
/// is an error number of a protocol.
const NUMBERED: &[&str] = &["fail", "mismatch"];

/// Returns a message for each foreign mark in a crate's files that is not an exception, and for
/// each unused exception.
pub fn violations(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut needed = BTreeSet::new();
    for folder in modules::crates(root) {
        let Some((_, speech)) = TABLE.iter().find(|(name, _)| *name == folder) else {
            found.push(format!("{folder} has no row that says which protocol it may speak of"));
            continue;
        };
        let source = root.join("crates").join(&folder).join("src");
        for file in modules::files(&source) {
            let name =
                file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let stream = modules::read(&file);
            let numbers = declares_numbers(&stream) && *speech == Speech::Nothing;
            let mut marks = foreign_marks(stream, *speech);
            if numbers {
                marks.insert("error numbers".to_owned());
            }
            for mark in marks {
                let excepted = |row: &&(&str, &str, &str)| row.0 == name && row.1 == mark;
                match EXCEPTIONS.iter().find(excepted) {
                    Some(row) => drop(needed.insert((row.0, row.1))),
                    None => found.push(format!("{name} speaks of a protocol: {mark}")),
                }
            }
        }
    }
    let idle = EXCEPTIONS.iter().filter(|row| !needed.contains(&(row.0, row.1)));
    found.extend(idle.map(|row| format!("{} no longer says {}", row.0, row.1)));
    found
}

/// Returns whether a file declares a module of error numbers.
fn declares_numbers(stream: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    tokens.windows(2).any(|two| {
        matches!(two, [TokenTree::Ident(word), TokenTree::Ident(name)]
            if word == "mod" && name == "numbers")
    })
}

/// Returns the words and marks in a file that belong to a protocol to which its crate may not
/// refer, without duplicates.
fn foreign_marks(stream: TokenStream, speech: Speech) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mongo, nosql) = match speech {
        Speech::Nothing => (true, true),
        Speech::Mongo => (false, true),
        Speech::NoSql => (true, false),
        Speech::Both => return found,
    };
    let foreign = Foreign { mongo, nosql };
    foreign.collect(stream, &mut found);
    found
}

/// The protocols that are foreign to a crate.
#[derive(Clone, Copy)]
struct Foreign {
    mongo: bool,
    nosql: bool,
}

impl Foreign {
    fn collect(self, stream: TokenStream, found: &mut BTreeSet<String>) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                // Attributes are skipped, because doc comments are attributes.
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Bracket && is_attribute(&tokens, at) => {}
                TokenTree::Group(group) => {
                    if self.mongo && makes_error(&tokens, at) {
                        found.extend(error_number(group.stream()));
                    }
                    self.collect(group.stream(), found);
                }
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    let words = words(&name);
                    found.extend(words.into_iter().filter(|word| self.is_foreign_word(word)));
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if text.ends_with(['"', '#']) {
                        self.read_text(&text, found);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn is_foreign_word(self, word: &str) -> bool {
        (self.mongo && MONGO_WORDS.contains(&word)) || (self.nosql && NOSQL_WORDS.contains(&word))
    }

    fn read_text(self, text: &str, found: &mut BTreeSet<String>) {
        let split = |c: char| !c.is_ascii_alphanumeric();
        let words = text.split(split).map(str::to_ascii_lowercase);
        found.extend(words.filter(|word| self.is_foreign_word(word)));
        if self.mongo {
            let options = text.split(split).filter(|word| MONGO_OPTIONS.contains(word));
            found.extend(options.map(str::to_owned));
            found.extend(operators(text));
        }
        if self.nosql {
            let marks = NOSQL_MARKS.iter().filter(|mark| text.contains(**mark));
            found.extend(marks.map(|mark| (*mark).to_owned()));
            let codes = text.split(split).filter(|word| is_nosql_code(word));
            found.extend(codes.map(str::to_owned));
        }
    }
}

/// Returns whether the group at index `at` belongs to an attribute: it follows `#` or `#!`.
fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let mark = |back: usize, mark: char| {
        let before = at.checked_sub(back).and_then(|at| tokens.get(at));
        matches!(before, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
    };
    mark(1, '#') || (mark(1, '!') && mark(2, '#'))
}

/// Returns whether the group at index `at` contains the arguments of a call that creates an error
/// from a number.
fn makes_error(tokens: &[TokenTree], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    match before(1) {
        Some(TokenTree::Ident(name)) if name == "new" => {
            matches!(before(4), Some(TokenTree::Ident(owner)) if owner == "Error")
        }
        Some(TokenTree::Ident(name)) => NUMBERED.iter().any(|listed| name == listed),
        _ => false,
    }
}

/// Returns the first number that is a whole argument, as a mark; 0 belongs to no protocol.
fn error_number(arguments: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    let comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let numbers = tokens.split(comma).filter_map(|argument| match argument {
        [TokenTree::Literal(number)] => Some(number.to_string().replace('_', "")),
        _ => None,
    });
    let mut numbers =
        numbers.filter(|number| number.parse::<i32>().is_ok_and(|number| number != 0));
    numbers.next().map(|number| format!("error {number}"))
}

/// Splits a name into lower-case words: `MongoApi` and `mongo_api` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        let starts = c == '_' || c.is_ascii_uppercase();
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c != '_'
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// Returns the operators in a text, such as `$match`.
fn operators(text: &str) -> Vec<String> {
    let names = text.split('$').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    });
    let named =
        names.filter(|name| 1 < name.len() && name.starts_with(|c: char| c.is_ascii_lowercase()));
    named.map(|name| format!("${name}")).collect()
}

/// Returns whether a word is an error code of the NoSQL query language, such as `SC1001`.
fn is_nosql_code(word: &str) -> bool {
    let digits = word.strip_prefix("SC").unwrap_or_default();
    digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str, speech: Speech) -> Vec<String> {
        foreign_marks(text.parse().unwrap(), speech).into_iter().collect()
    }

    #[test]
    fn crates_speak_of_what_they_may() {
        let found = violations(&crate::root());
        assert_eq!(found, Vec::<String>::new(), "{} violations", found.len());
    }

    #[test]
    fn marks_of_protocols_are_found() {
        for (text, mongo, nosql) in [
            ("const A: &str = \"the $match stage\";", &["$match"][..], &[][..]),
            ("const A: &str = r#\"pass allowDiskUse:true\"#;", &["allowDiskUse"], &[]),
            ("fn f() { let of_mongo = MongoApi; }", &["mongo"], &[]),
            (
                "fn f() { cosmos(); \"x-ms-version\"; \"SC1001\" }",
                &[],
                &["SC1001", "cosmos", "x-ms-"],
            ),
            ("const A: &str = \"like mongod\";", &["mongod"], &[]),
            ("fn f() { Error::new(Kind::Invalid, 10_334, text) }", &["error 10334"], &[]),
            ("fn f() { g(fail(146, \"too much\")) }", &["error 146"], &[]),
            ("const A: [&str; 2] = [\"_etag\", \"_rid\"];", &[], &["_etag", "_rid"]),
        ] {
            assert_eq!(marks(text, Speech::NoSql), mongo, "{text}");
            assert_eq!(marks(text, Speech::Mongo), nosql, "{text}");
            let all: Vec<_> = mongo.iter().chain(nosql).map(|mark| (*mark).to_owned()).collect();
            let all: BTreeSet<_> = all.into_iter().collect();
            assert_eq!(marks(text, Speech::Nothing), all.into_iter().collect::<Vec<_>>(), "{text}");
            assert_eq!(marks(text, Speech::Both), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_is_nobodys_mark_passes() {
        for text in [
            "/// MongoDB's `$match` and Cosmos are explained here.\nstruct A;",
            "#![doc = \"mongo\"]",
            "const A: &str = \"costs $5, {0:.1$}\";",
            "macro_rules! m { ($name:ident) => { $crate::A } }",
            "fn f() { Error::new(Kind::Stopped, NUMBER, text); Vec::with_capacity(146) }",
            "fn f() { Error::new(Kind::Unsupported, 0, text) }",
        ] {
            assert_eq!(marks(text, Speech::Nothing), Vec::<String>::new(), "{text}");
        }
    }
}
