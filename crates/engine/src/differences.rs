//! What a walk found that does not agree: the first in words, all of them counted.

/// More than this are counted, not listed.
const LISTED: usize = 100;

/// Differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// In words; the first hundred.
    pub listed: Vec<String>,
    /// How many there are.
    pub count: u64,
}

impl Differences {
    /// Counts one, and lists it while there are few.
    pub fn note(&mut self, text: String) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push(text);
        }
    }
}
