//! A ring buffer of the newest samples. When it is full, a new sample replaces the oldest.

use std::collections::VecDeque;

use super::sample::Sample;

pub(super) struct Ring {
    samples: VecDeque<Sample>,
    most: usize,
}

impl Ring {
    /// Creates an empty buffer for `most` samples.
    pub(super) fn new(most: usize) -> Self {
        Self { samples: VecDeque::new(), most }
    }

    pub(super) fn push(&mut self, sample: Sample) {
        self.samples.push_back(sample);
        self.forget();
    }

    /// Adds older samples before the existing ones.
    pub(super) fn put_before(&mut self, mut older: Vec<Sample>) {
        older.extend(self.samples.drain(..));
        self.samples = older.into();
        self.forget();
    }

    /// Returns all samples, oldest first.
    pub(super) fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter()
    }

    fn forget(&mut self) {
        let surplus = self.samples.len().saturating_sub(self.most);
        self.samples.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ms: i64) -> Sample {
        Sample { at_ms, ..Sample::default() }
    }

    #[test]
    fn it_holds_the_newest() {
        let mut ring = Ring::new(3);
        (1..=2).for_each(|at| ring.push(sample(at)));
        ring.put_before(vec![sample(-2), sample(-1), sample(0)]);
        let at = |ring: &Ring| ring.samples().map(|it| it.at_ms).collect::<Vec<_>>();
        assert_eq!(at(&ring), [0, 1, 2]);
        ring.push(sample(3));
        assert_eq!(at(&ring), [1, 2, 3]);
    }
}
