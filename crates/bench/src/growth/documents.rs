//! The documents of a growing collection: a key, a field with an index over it, a lifetime for half of
//! them, and text. Pure, as `records.rs`.

use document::{DocBuf, DocBuilder, ValueRef};
use fastrand::Rng;

use crate::{mortality::Mortality, records, witness};

/// Documents of each value of the indexed field, whatever the size of the collection.
pub(super) const MATCHES: u64 = 20;
/// The field with an index over it.
pub(super) const INDEXED: &str = "k";

/// What all documents of a collection have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents {
    pub(super) count: u64,
    /// Bytes of text in each.
    pub(super) text: usize,
    pub(super) mortality: Mortality,
}

impl Documents {
    /// Values that the indexed field has.
    pub(super) fn values(&self) -> u64 {
        (self.count / MATCHES).max(1)
    }

    /// The document of a number; odd ones expire.
    pub(super) fn make(&self, number: u64, rng: &mut Rng) -> DocBuf {
        let mut builder = DocBuilder::with_buffer(Vec::with_capacity(self.text + 100));
        builder.append("_id", ValueRef::Int64(number.cast_signed()));
        builder.append(INDEXED, ValueRef::Int64((number % self.values()).cast_signed()));
        if witness::is_mortal(number) {
            self.mortality.put_lifetime(&mut builder);
        }
        builder.append("text", ValueRef::String(&records::random_text(self.text, rng)));
        builder.finish()
    }

    /// Bytes of all of them.
    pub(super) fn bytes(&self) -> u64 {
        let length = |number| self.make(number, &mut Rng::with_seed(1)).bytes().len() as u64;
        // A lifetime is what two neighbours differ by.
        (length(0) + length(1)) * self.count / 2
    }
}

#[cfg(test)]
mod tests {
    use mongo_client::whole_number;

    use super::*;

    #[test]
    fn half_of_them_expire_and_twenty_share_a_value() {
        let mortality = Mortality::Moved { deadline: 0 };
        let documents = Documents { count: 400, text: 100, mortality };
        let mut bytes = 0;
        let (mut mortal, mut of_seven) = (0, 0);
        for number in 0..documents.count {
            let made = documents.make(number, &mut Rng::with_seed(number));
            document::validate(made.bytes()).unwrap();
            bytes += made.bytes().len() as u64;
            mortal += u64::from(made.get("ttl").is_some());
            of_seven += u64::from(whole_number(made.get(INDEXED)) == Some(7));
        }
        assert_eq!((mortal, of_seven, bytes), (200, MATCHES, documents.bytes()));
    }
}
