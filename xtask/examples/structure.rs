//! Prints a table of the structure of the Rust code: `cargo run -p xtask --example structure --
//! [ROOT]`, for the repository at a path, or for this one. Per crate it counts:
//!
//! ```text
//! product   lines before the unit tests of a file, with comments and blank lines
//! tests     lines of unit tests, of files of tests, and of crates that are never shipped
//! files     source files
//! small     files of at most 20 lines; comments and blank lines are not counted
//! private   functions in product code that are not `pub`, without methods of traits
//! once      those of them that exactly one place refers to
//! share     the share of `once` in `private`
//! ```
//!
//! References are counted by name in the product code of the crate, as an approximation: each
//! occurrence of the identifier outside of imports counts. A variable or a field of the same name
//! therefore hides a function with one caller, and a name that several functions of a crate have is
//! never counted in `once`.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use xtask::tidy::{Source, sources};

/// Maximum number of lines of a small file.
const SMALL_FILE: usize = 20;
/// First line of the table.
const HEAD: &str = "crate               product    tests  files  small  private   once  share";

fn main() {
    let root = std::env::args().nth(1).map_or_else(xtask::root, PathBuf::from);
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for source in sources(&root) {
        crates.entry(crate_of(&source)).or_default().add_source(&source);
    }
    println!("{HEAD}");
    let mut total = Counts::default();
    for (name, one) in crates {
        let counts = one.counts();
        total.include(counts);
        counts.print(&name);
    }
    total.print("all");
}

/// Returns the crate of a source, which is the name of its folder.
fn crate_of(source: &Source) -> String {
    let name = source.name();
    let inner = name.strip_prefix("crates/").unwrap_or(&name);
    inner.split('/').next().unwrap_or_default().to_owned()
}

/// The figures of one crate or, in the last line, of all crates.
#[derive(Clone, Copy, Default)]
struct Counts {
    product: usize,
    tests: usize,
    files: usize,
    small: usize,
    private: usize,
    once: usize,
}

impl Counts {
    fn include(&mut self, other: Self) {
        self.product += other.product;
        self.tests += other.tests;
        self.files += other.files;
        self.small += other.small;
        self.private += other.private;
        self.once += other.once;
    }

    fn print(&self, name: &str) {
        let Self { product, tests, files, small, private, once } = self;
        let share = once * 100 / (*private).max(1);
        println!(
            "{name:18} {product:>8} {tests:>8} {files:>6} {small:>6} {private:>8} {once:>6} {share:>5}%"
        );
    }
}

/// The figures of a crate while its sources are read.
#[derive(Default)]
struct Crate {
    lines: Counts,
    /// For each name of a function, how often it is defined, and whether all definitions are
    /// private functions outside of traits.
    functions: HashMap<String, (usize, bool)>,
    /// Number of occurrences of each identifier, without definitions of functions and imports.
    references: HashMap<String, usize>,
}

impl Crate {
    fn add_source(&mut self, source: &Source) {
        let lines = source.text.lines().count();
        let code = source.text.lines().map(str::trim);
        let code = code.filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        self.lines.files += 1;
        self.lines.small += usize::from(code <= SMALL_FILE);
        if source.is_test() {
            self.lines.tests += lines;
            return;
        }
        let product = source.production_text();
        self.lines.product += product.lines().count();
        self.lines.tests += lines - product.lines().count();
        self.read_tokens(product.parse().unwrap_or_default(), false);
    }

    /// Counts definitions and references in the tokens of a file or of a group in it.
    fn read_tokens(&mut self, stream: TokenStream, in_trait: bool) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        // Whether the current item is public, and whether its body is that of a trait.
        let (mut public, mut of_trait) = (false, false);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 1);
            at += 1;
            match token {
                TokenTree::Group(group) => {
                    self.read_tokens(group.stream(), of_trait);
                    if group.delimiter() == Delimiter::Brace {
                        (public, of_trait) = (false, false);
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => {
                    (public, of_trait) = (false, false);
                }
                TokenTree::Punct(punct) if punct.as_char() == ',' => public = false,
                TokenTree::Ident(word) if word == "use" => {
                    at = end_of_statement(&tokens, at);
                    public = false;
                }
                TokenTree::Ident(word) if word == "pub" => {
                    public = !matches!(next, Some(TokenTree::Group(_)));
                }
                TokenTree::Ident(word) if word == "trait" => of_trait = true,
                TokenTree::Ident(word) if word == "impl" => {
                    of_trait = implements_trait(tokens.get(at..).unwrap_or_default());
                }
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = next {
                        let (times, private) =
                            self.functions.entry(name.to_string()).or_insert((0, true));
                        *times += 1;
                        *private &= !public && !in_trait && name != "main";
                        at += 1;
                    }
                    public = false;
                }
                TokenTree::Ident(word) => {
                    *self.references.entry(word.to_string()).or_default() += 1;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn counts(&self) -> Counts {
        let private = self.functions.iter().filter(|(_, (_, private))| *private);
        let once = private.clone().filter(|(name, (times, _))| {
            *times == 1 && self.references.get(name.as_str()) == Some(&1)
        });
        Counts {
            private: private.map(|(_, (times, _))| times).sum(),
            once: once.count(),
            ..self.lines
        }
    }
}

/// Returns the index after the semicolon that ends the statement at this index.
fn end_of_statement(tokens: &[TokenTree], at: usize) -> usize {
    let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ';');
    let rest = tokens.get(at..).unwrap_or_default();
    at + rest.iter().position(is_end).map_or(rest.len(), |end| end + 1)
}

/// Returns whether the tokens after `impl` implement a trait: `for` occurs before the body, and not
/// as the start of `for<'a>`.
fn implements_trait(tokens: &[TokenTree]) -> bool {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "for" => {
                let next = tokens.get(at + 1);
                if !matches!(next, Some(TokenTree::Punct(it)) if it.as_char() == '<') {
                    return true;
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return false,
            TokenTree::Punct(punct) if punct.as_char() == ';' => return false,
            _ => {}
        }
    }
    false
}
