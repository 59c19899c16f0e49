//! Which shard a database lives in, when a cluster has several.

/// Databases that have what is of no database, by API: they live in the first shard.
const SYSTEM: [&str; 3] = ["admin", "config", "local"];

/// The shard that is the home of a database of this API, for ever: a function of its name, so that nobody
/// has to look it up, and nobody can disagree. Names that differ in nothing but the case of ASCII letters
/// have the same home, as the MongoDB API keeps them apart from each other.
///
/// ```text
/// CRC-32C of: name of the API, 0, name of the database in small letters; modulo the number of shards
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
        // What was written down once has to stay: data lie there.
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
