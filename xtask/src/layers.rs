//! The import table: which crates of the workspace each crate may import.

use std::{collections::BTreeMap, fs, path::Path};

/// A crate and the workspace crates it may import; its tests may import more.
pub const TABLE: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("document", &[]),
    ("collation", &["document"]),
    ("memory", &[]),
    ("metrics", &[]),
    ("secret", &[]),
    ("throughput", &[]),
    ("traces", &[]),
    ("audit", &["clock"]),
    ("hybrid-row", &[]),
    ("rntbd", &[]),
    ("spill", &[]),
    ("backup", &[]),
    ("store", &[]),
    ("tree", &[]),
    ("expiry", &["clock", "document"]),
    ("evaluation", &["collation", "document", "memory", "spill"]),
    ("full-text", &["document", "evaluation"]),
    ("geometry", &["document", "evaluation"]),
    (
        "pipeline",
        &["collation", "document", "evaluation", "full-text", "geometry", "memory", "spill"],
    ),
    ("select", &["document", "evaluation", "geometry", "memory"]),
    (
        "mongo-query",
        &["collation", "document", "evaluation", "full-text", "geometry", "memory", "pipeline"],
    ),
    ("cosmos-sql", &["document", "evaluation", "memory", "select"]),
    ("journal", &["store"]),
    ("cluster", &["secret", "store"]),
    ("journal-cassandra", &["cluster", "secret", "store"]),
    ("store-tree", &["backup", "journal", "metrics", "store", "tree"]),
    ("store-shared", &["clock", "cluster", "journal", "store", "store-tree"]),
    (
        "engine",
        &[
            "clock",
            "collation",
            "document",
            "expiry",
            "full-text",
            "geometry",
            "memory",
            "evaluation",
            "pipeline",
            "select",
            "store",
        ],
    ),
    ("auth", &["secret"]),
    (
        "cosmos",
        &[
            "engine",
            "evaluation",
            "select",
            "document",
            "clock",
            "cosmos-sql",
            "hybrid-row",
            "rntbd",
            "audit",
            "auth",
            "memory",
            "metrics",
            "throughput",
            "traces",
        ],
    ),
    (
        "mongo",
        &[
            "collation",
            "engine",
            "evaluation",
            "full-text",
            "geometry",
            "pipeline",
            "document",
            "clock",
            "mongo-query",
            "audit",
            "auth",
            "memory",
            "metrics",
            "spill",
            "throughput",
            "traces",
        ],
    ),
    ("portal", &["auth", "clock"]),
    (
        "server-base",
        &[
            "auth",
            "backup",
            "clock",
            "cosmos",
            "document",
            "engine",
            "memory",
            "mongo",
            "store",
            "store-tree",
        ],
    ),
    (
        "admin",
        &[
            "audit",
            "auth",
            "backup",
            "clock",
            "cosmos",
            "document",
            "engine",
            "memory",
            "metrics",
            "mongo",
            "portal",
            "server-base",
            "spill",
            "store",
            "store-tree",
            "traces",
        ],
    ),
    (
        "server",
        &[
            "admin",
            "audit",
            "auth",
            "backup",
            "clock",
            "cosmos",
            "engine",
            "journal",
            "memory",
            "mongo",
            "portal",
            "server-base",
            "spill",
            "store",
            "store-tree",
            "traces",
        ],
    ),
    (
        "node",
        &[
            "admin",
            "auth",
            "clock",
            "cluster",
            "cosmos",
            "document",
            "engine",
            "journal-cassandra",
            "memory",
            "mongo",
            "portal",
            "server",
            "server-base",
            "store",
            "store-shared",
            "store-tree",
        ],
    ),
    ("mongo-client", &["document"]),
    ("bench", &["document", "clock", "hybrid-row", "mongo-client", "rntbd"]),
    ("transfer", &["auth", "clock", "document", "mongo-client"]),
    ("ebb", &["backup", "node", "server", "transfer"]),
    ("test-kit", &["*"]),
    ("test-server", &["*"]),
    ("sim", &["*"]),
    ("fuzz-targets", &["*"]),
    ("xtask", &[]),
];

/// Returns a message for each import that is not in the table.
pub fn violations(root: &Path) -> Vec<String> {
    let manifests = manifests(root);
    let mut found = Vec::new();
    for (name, manifest) in &manifests {
        let Some((_, allowed)) = TABLE.iter().find(|(listed, _)| listed == name) else {
            found.push(format!("crate {name} is not in the import table"));
            continue;
        };
        if *allowed == ["*"] {
            continue;
        }
        for imported in dependencies(manifest) {
            let ours = manifests.contains_key(&imported);
            if ours && !allowed.contains(&imported.as_str()) {
                found.push(format!("{name} may not import {imported}"));
            }
        }
    }
    found
}

fn manifests(root: &Path) -> BTreeMap<String, toml::Table> {
    let crates = fs::read_dir(root.join("crates")).into_iter().flatten().filter_map(Result::ok);
    let folders = crates.map(|entry| entry.path()).chain([root.join("xtask")]);
    folders
        .filter_map(|folder| {
            let text = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
            let manifest: toml::Table = text.parse().ok()?;
            let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
            Some((name, manifest))
        })
        .collect()
}

fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_import_is_in_the_table() {
        assert_eq!(violations(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn an_edge_outside_the_table_is_found() {
        let root = std::env::temp_dir().join(format!("ebb-layers-{}", std::process::id()));
        let write = |name: &str, dependency: &str| {
            let folder = root.join("crates").join(name);
            fs::create_dir_all(&folder).unwrap();
            let manifest =
                format!("[package]\nname = \"{name}\"\n[dependencies]\n{dependency} = \"1\"\n");
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        };
        write("pipeline", "select");
        write("select", "bytes");
        assert_eq!(violations(&root), ["pipeline may not import select"]);
        fs::remove_dir_all(&root).unwrap();
    }
}
