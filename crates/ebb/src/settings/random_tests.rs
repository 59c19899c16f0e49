//! Randomly changed files and flags: each is either refused with an error that names the setting,
//! or accepted and printed with the same values. `FUZZ_CASES` sets the number of cases, `FUZZ_SEED`
//! the first seed.

use super::tests::gather;

/// A valid file with most settings.
const FILE: &str = "clock = \"manual\"\nmongo-addr = \"127.0.0.1:27017\"\ncosmos-addr = \"off\"\n\
    reap-delay = 5\nmemory = \"512m\"\nadmin-host = [\"a\", \"b.example\"]\nlog-level = \"info\"\n\
    account-endpoint = \"https://db.example:8081/\"\nindex-unused-days = 30\n\
    per-document-ttl = \"off\"\nin-memory = true\nmongo-tls = \"allow\"\nlog-format = \"json\"\n";
/// Texts that are inserted at random positions.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "#",
    "\\u0000",
    "\\",
    ".",
    "..",
    "true",
    "off",
    "-1",
    "0",
    "nan",
    "1e999",
    "18446744073709551616",
    "1979-05-27",
    "\"\"\"",
    "[[a]]",
    "a.b.c = 1\n",
    "\u{feff}",
    "é",
    "\0",
    "memory = \"9999999999999g\"\n",
    "memory = 99999999999999999999\n",
    "[::1]:0",
    ":",
    "@",
    "reap-delay = -0.5\n",
    "http://",
    "https://[",
    "clock = {}\n",
    "data-dir = \"\"\n",
    "%",
    "\t",
];

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Deletes, duplicates or replaces some characters of the file.
fn changed(rng: &mut fastrand::Rng, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(0..=characters.len());
        let end = characters.len().min(at + rng.usize(0..12));
        match rng.u8(0..4) {
            0 => drop(characters.drain(at..end)),
            1 => {
                let copied: Vec<char> = characters.get(at..end).unwrap_or_default().to_vec();
                let to = rng.usize(0..=characters.len());
                characters.splice(to..to, copied);
            }
            _ => {
                let piece = PIECES[rng.usize(0..PIECES.len())];
                characters.splice(at..at, piece.chars());
            }
        }
    }
    characters.into_iter().collect()
}

#[test]
fn changed_settings_are_refused_or_read() {
    let (mut refused, mut read) = (0, 0);
    let first = setting("FUZZ_SEED", 1);
    for seed in first..first + setting("FUZZ_CASES", 300) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let file = changed(&mut rng, FILE);
        let flags =
            changed(&mut rng, "--memory 2G --clock system --admin-addr off --cosmos-host a");
        let typed: Vec<&str> = flags.split_whitespace().collect();
        for (typed, file) in [(&[][..], Some(file.as_str())), (typed.as_slice(), None)] {
            match gather(typed, file).and_then(|found| found.config().map(|_| found)) {
                Err(wrong) => {
                    assert!(!wrong.0.trim().is_empty(), "seed {seed}: a refusal without a text");
                    refused += 1;
                }
                Ok(found) => {
                    assert!(found.print().lines().count() > 20, "seed {seed}");
                    read += 1;
                }
            }
        }
    }
    assert!(100 < refused && 10 < read, "{refused} are refused, {read} read: nothing is tested");
}
