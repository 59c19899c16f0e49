//! The documents of a growing collection. Each has an id, an indexed field and text; half of them
//! also have a lifetime. All functions are pure.

use document::{DocBuf, DocBuilder, ValueRef};
use fastrand::Rng;

use crate::{expiry_method::ExpiryMethod, expiry_observer, records};

/// Number of documents with the same value of the indexed field, for any size of the collection.
pub(super) const MATCHES: u64 = 20;
pub(super) const INDEXED: &str = "k";

/// Parameters of a collection's documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents {
    pub(super) count: u64,
    /// Size of the text in each document.
    pub(super) text: usize,
    pub(super) expiry_method: ExpiryMethod,
}

impl Documents {
    /// Returns the number of distinct values of the indexed field.
    pub(super) fn values(&self) -> u64 {
        (self.count / MATCHES).max(1)
    }

    /// Returns the document with this number. Documents with odd numbers expire.
    pub(super) fn make(&self, number: u64, rng: &mut Rng) -> DocBuf {
        let mut builder = DocBuilder::with_buffer(Vec::with_capacity(self.text + 100));
        builder.append("_id", ValueRef::Int64(number.cast_signed()));
        builder.append(INDEXED, ValueRef::Int64((number % self.values()).cast_signed()));
        if expiry_observer::is_expiring(number) {
            self.expiry_method.put_lifetime(&mut builder);
        }
        builder.append("text", ValueRef::String(&records::random_text(self.text, rng)));
        builder.finish()
    }

    /// Returns the total size of the documents.
    pub(super) fn bytes(&self) -> u64 {
        let length = |number| self.make(number, &mut Rng::with_seed(1)).bytes().len() as u64;
        // Every second document has a lifetime, so that two sizes alternate.
        (length(0) + length(1)) * self.count / 2
    }
}

#[cfg(test)]
mod tests {
    use mongo_client::whole_number;

    use super::*;

    #[test]
    fn half_of_them_expire_and_twenty_share_a_value() {
        let expiry_method = ExpiryMethod::Moved { deadline: 0 };
        let documents = Documents { count: 400, text: 100, expiry_method };
        let mut bytes = 0;
        let (mut expiring, mut of_seven) = (0, 0);
        for number in 0..documents.count {
            let made = documents.make(number, &mut Rng::with_seed(number));
            document::validate(made.bytes()).unwrap();
            bytes += made.bytes().len() as u64;
            expiring += u64::from(made.get("ttl").is_some());
            of_seven += u64::from(whole_number(made.get(INDEXED)) == Some(7));
        }
        assert_eq!((expiring, of_seven, bytes), (200, MATCHES, documents.bytes()));
    }
}
