//! A list of inconsistencies: a bounded number of them is described, and all are counted.

/// Maximum number of listed inconsistencies; more are only counted.
const LISTED: usize = 100;

/// Inconsistencies found by a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Descriptions of the first hundred inconsistencies.
    pub listed: Vec<String>,
    /// Total number of inconsistencies, listed or not.
    pub count: u64,
}

impl Differences {
    /// Counts an inconsistency, and lists it unless the list is full.
    pub fn note(&mut self, text: String) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push(text);
        }
    }
}
