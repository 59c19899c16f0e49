//! Checks the order of modules within a crate: a module may import only from modules below it.
//! Tests of a module may import more. The check works on tokens and compiles nothing.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{
    client_module_table,
    module_table::{CIRCLES, ORDERS},
    server_module_table, store_module_table,
};

/// Returns a message for each wrong import in the crates of the tables.
pub fn violations(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let tables = [
        ORDERS,
        store_module_table::ORDERS,
        server_module_table::ORDERS,
        client_module_table::ORDERS,
    ];
    for (name, order) in tables.into_iter().flatten() {
        let source = root.join("crates").join(name).join("src");
        let circles: Vec<_> = CIRCLES.iter().filter(|circle| circle.0 == *name).collect();
        let allowed = |from: &str, to: &str| {
            circles.iter().any(|(_, members, _)| members.contains(&from) && members.contains(&to))
        };
        found.extend(wrong_imports(name, &source, order, &allowed));
    }
    found
}

/// Checks the modules of one crate against `order`, its list of modules from bottom to top. Returns
/// a message for each module that only one of the crate and the list contains, for each import of a
/// module that is higher in the list, and for each import of a name from the crate's root that a
/// module defines.
fn wrong_imports(
    name: &str,
    source: &Path,
    order: &[&str],
    allowed: &dyn Fn(&str, &str) -> bool,
) -> Vec<String> {
    let place = |module: &str| order.iter().position(|listed| *listed == module);
    let mut found = BTreeSet::new();
    let library = source.join("lib.rs");
    let root = read(&if library.exists() { library } else { source.join("main.rs") });
    let modules = declared(root.clone());
    for module in modules.iter().filter(|module| place(module).is_none()) {
        found.insert(format!("{name}: module {module} is missing in the list of modules"));
    }
    for module in order.iter().filter(|module| !modules.contains(**module)) {
        found.insert(format!("{name}: there is no module {module}"));
    }
    let reexported = reexported(root);
    for file in files(source) {
        let relative = file.strip_prefix(source).unwrap_or(&file);
        let path = module_path(relative);
        let Some(own) = path.first() else { continue };
        for target in targets(read(&file), &path) {
            let at = relative.display();
            match (place(own), place(&target)) {
                _ if reexported.contains(&target) && place(&target).is_none() => {
                    found.insert(format!(
                        "{name}/{at} imports {target} from the crate's root, not from its module"
                    ));
                }
                (Some(from), Some(to)) if from < to && !allowed(own, &target) => {
                    found.insert(format!("{name}/{at} imports {target}, which stands above {own}"));
                }
                _ => {}
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the folder names of all crates.
pub(crate) fn crates(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("crates")).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the shipped files below a folder, without the crate root.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let tests = tests_of(folder);
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if tests.contains(&stem)
            || stem == "tests"
            || path.ends_with("lib.rs")
            || path.ends_with("main.rs")
        {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the modules of a folder that exist only in tests.
fn tests_of(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let tokens: Vec<TokenTree> = tokens(&entry.path()).into_iter().collect();
        for (at, _) in tokens.iter().enumerate() {
            let Some(after) = behind_cfg_test(&tokens, at) else { continue };
            let rest = tokens.get(after..).unwrap_or_default();
            if let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = rest
                && word == "mod"
            {
                found.insert(name.to_string());
            }
        }
    }
    found
}

fn tokens(file: &Path) -> TokenStream {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// Returns the tokens of a file without test-only items.
pub(crate) fn read(file: &Path) -> TokenStream {
    without_tests(tokens(file))
}

fn without_tests(stream: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some(after) = behind_cfg_test(&tokens, at) {
            // The item ends with a body in braces, or with a semicolon.
            let ends = |token: &TokenTree| match token {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(punct) => punct.as_char() == ';',
                _ => false,
            };
            let item = tokens.get(after..).unwrap_or_default();
            at = after + item.iter().position(ends).map_or(item.len(), |end| end + 1);
            continue;
        }
        out.push(token.clone());
        at += 1;
    }
    out.into_iter().collect()
}

/// Returns the index of the token after `#[cfg(test)]` if this attribute starts at index `at`;
/// otherwise `None`.
fn behind_cfg_test(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute)] = tokens.get(at..at + 2)? else {
        return None;
    };
    let text = attribute.stream().to_string().replace(' ', "");
    (hash.as_char() == '#' && text == "cfg(test)").then_some(at + 2)
}

/// Returns the modules that a crate root declares.
fn declared(root: TokenStream) -> BTreeSet<String> {
    let tokens: Vec<TokenTree> = root.into_iter().collect();
    let named = tokens.windows(3).filter_map(|three| match three {
        [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end)]
            if word == "mod" && end.as_char() == ';' =>
        {
            Some(name.to_string())
        }
        _ => None,
    });
    named.collect()
}

/// Returns the names that a crate root reexports from its modules.
fn reexported(root: TokenStream) -> BTreeSet<String> {
    let modules = declared(root.clone());
    let tokens: Vec<TokenTree> = root.into_iter().collect();
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_use = matches!(token, TokenTree::Ident(word) if word == "use");
        let Some(TokenTree::Ident(module)) = tokens.get(at + 1).filter(|_| is_use) else {
            continue;
        };
        if modules.contains(&module.to_string()) {
            let item = tokens.get(at + 2..).unwrap_or_default();
            let end = item.iter().position(is_semicolon).unwrap_or(item.len());
            names(item.get(..end).unwrap_or_default().iter().cloned().collect(), &mut found);
        }
    }
    found
}

fn is_semicolon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';')
}

fn names(stream: TokenStream, found: &mut BTreeSet<String>) {
    for token in stream {
        match token {
            TokenTree::Ident(name) => drop(found.insert(name.to_string())),
            TokenTree::Group(group) => names(group.stream(), found),
            _ => {}
        }
    }
}

/// Returns the module path of a file.
fn module_path(relative: &Path) -> Vec<String> {
    let parts = relative.components().map(|part| part.as_os_str().to_string_lossy());
    let mut path: Vec<String> = parts.map(|part| part.trim_end_matches(".rs").to_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    path
}

/// Returns the modules that a file refers to: the first name of each path that starts at the crate
/// root.
fn targets(stream: TokenStream, path: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_targets(stream, path, &mut found);
    found
}

fn collect_targets(stream: TokenStream, path: &[String], found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => collect_targets(group.stream(), path, found),
            // `$crate` in an exported macro can only name what the crate root exports.
            TokenTree::Ident(word) if word == "crate" && !follows(&tokens, at, '$') => {
                found.extend(first_names(tokens.get(at + 1..).unwrap_or_default()));
            }
            TokenTree::Ident(word) if word == "super" && !follows(&tokens, at, ':') => {
                // A path with as many `super` as the module is deep starts at the crate root.
                let mut rest = tokens.get(at + 1..).unwrap_or_default();
                let mut up = 1;
                while let [_, _, TokenTree::Ident(next), more @ ..] = rest
                    && next == "super"
                {
                    (rest, up) = (more, up + 1);
                }
                if up == path.len() {
                    found.extend(first_names(rest));
                }
            }
            _ => {}
        }
    }
}

/// Returns whether the token at an index directly follows the character `mark`.
fn follows(tokens: &[TokenTree], at: usize, mark: char) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    matches!(before, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Returns the names directly after `::`; a group in braces has several.
fn first_names(rest: &[TokenTree]) -> Vec<String> {
    let [TokenTree::Punct(one), TokenTree::Punct(two), next, ..] = rest else { return Vec::new() };
    if (one.as_char(), two.as_char()) != (':', ':') {
        return Vec::new();
    }
    match next {
        TokenTree::Ident(name) => vec![name.to_string()],
        TokenTree::Group(group) => {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
            let firsts = tokens.split(comma).filter_map(|item| match item.first()? {
                TokenTree::Ident(name) => Some(name.to_string()),
                _ => None,
            });
            firsts.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_import_from_below() {
        assert_eq!(violations(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_circle_has_at_most_three_members() {
        for (name, members, reason) in CIRCLES {
            assert!(members.len() <= 3 && !reason.is_empty(), "{name}: {members:?}");
        }
    }

    #[test]
    fn wrong_imports_are_found() {
        let root = std::env::temp_dir().join(format!("ebb-modules-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let tested = "#[cfg(test)]\nmod tests {\n    use crate::high::Lid;\n}\n";
        write("lib.rs", "mod high;\nmod low;\nmod new;\npub use low::{Floor, of as floor_of};\n");
        write("high/mod.rs", "mod inner;\nuse crate::low::Floor;\npub struct Lid;\n");
        write("high/inner.rs", "use super::Lid;\nuse crate::Floor;\nuse super::super::low;\n");
        write("high/macros.rs", "macro_rules! floor { () => { $crate::Floor }; }\n");
        write(
            "low.rs",
            &format!("use crate::{{high::Lid, low::of}};\npub struct Floor;\n{tested}"),
        );
        write("new.rs", "fn f() { if true { crate::low::of(); } }\n");
        let found = wrong_imports("a", &root, &["low", "high"], &|_, _| false);
        assert_eq!(
            found,
            [
                "a/high/inner.rs imports Floor from the crate's root, not from its module",
                "a/low.rs imports high, which stands above low",
                "a: module new is missing in the list of modules",
            ]
        );
        assert_eq!(wrong_imports("a", &root, &["low", "high", "new"], &|_, _| true).len(), 1);
        fs::remove_dir_all(&root).unwrap();
    }
}
