//! ObjectId, BSON's 12-byte identifier. Generating one needs a clock and randomness, which the
//! caller provides.

use std::fmt;

/// A BSON ObjectId: 4 bytes of seconds, 5 random bytes, a 3-byte counter. Ids compare as bytes, so
/// they sort by the second in which they were generated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 12]);

impl ObjectId {
    /// Builds an id from its three parts. The counter is truncated to 24 bits.
    pub fn from_parts(seconds: u32, random: [u8; 5], counter: u32) -> Self {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&seconds.to_be_bytes());
        bytes[4..9].copy_from_slice(&random);
        bytes[9..].copy_from_slice(&counter.to_be_bytes()[1..]);
        Self(bytes)
    }

    /// Parses exactly 24 hexadecimal digits of either case; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 24 {
            return None;
        }
        let mut bytes = [0; 12];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            let high = char::from(*high).to_digit(16)?;
            let low = char::from(*low).to_digit(16)?;
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(Self(bytes))
    }

    /// Returns the first four bytes: seconds since the Unix epoch.
    pub fn seconds(self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_agree() {
        let id = ObjectId::parse("65a1b2c3d4e5f60718293a4b").unwrap();
        assert_eq!(id.to_string(), "65a1b2c3d4e5f60718293a4b");
        assert_eq!(id.seconds(), 0x65a1_b2c3);
        assert_eq!(ObjectId::parse("65a1b2c3d4e5f60718293a4"), None);
        assert_eq!(ObjectId::parse("65a1b2c3d4e5f60718293a4g"), None);
        let made = ObjectId::from_parts(1, [2, 3, 4, 5, 6], 0x0007_0809);
        assert_eq!(made.0, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
