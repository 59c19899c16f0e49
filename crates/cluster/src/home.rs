//! Assigns databases to shards.

/// System databases of each API, which live in the first shard.
const SYSTEM: [&str; 3] = ["admin", "config", "local"];

/// Returns the home shard of a database of this API. It is a permanent function of the name, so
/// that no lookup is needed and nodes cannot disagree. Names that differ only in the case of ASCII
/// letters share a home, because the MongoDB API refuses two such databases.
///
/// ```text
/// CRC-32C of: name of the API, 0, name of the database in lower case; modulo the number of shards
/// ```
pub fn home_shard(api: &str, database: &str, shards: u32) -> u32 {
    if SYSTEM.contains(&database) {
        return 0;
    }
    let name = [api.as_bytes(), &[0], database.to_ascii_lowercase().as_bytes()].concat();
    crc32c::crc32c(&name).checked_rem(shards).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_a_function_of_the_name() {
        // These values must never change: they determine where existing data is stored.
        for (database, home) in [("test", 0), ("shop", 0), ("admin", 0)] {
            assert_eq!(home_shard("mongodb", database, 1), home);
        }
        let homes = ["test", "shop", "a", "b", "c", "d"].map(|name| home_shard("mongodb", name, 3));
        assert_eq!(homes, [1, 1, 2, 2, 2, 0]);
        assert_eq!(home_shard("mongodb", "Test", 3), home_shard("mongodb", "tEST", 3));
        assert!(SYSTEM.iter().all(|name| home_shard("mongodb", name, 7) == 0));
        assert_eq!(home_shard("mongodb", "test", 0), 0);
    }

    #[test]
    fn homes_are_spread() {
        let mut counts = [0; 8];
        for number in 0..8_000 {
            let home = home_shard("nosql", &format!("tenant{number}"), 8);
            counts[usize::try_from(home).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }
}
