//! Encoding of integers and byte strings in tables and in the list of files.

/// Appends an integer in groups of seven bits, the lowest first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while 0x80 <= value {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a byte string with its length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a signed integer as 8 bytes.
pub(crate) fn put_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Returns the first eight bytes of a key as an integer, with zeros behind a shorter key. Keys are in
/// the order of these integers, or equal ones have to be compared as a whole.
pub(crate) fn prefix_of(key: &[u8]) -> u64 {
    if let Some(first) = key.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let mut first = [0; 8];
    first[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(first)
}

/// Returns the length of the longest common prefix of two keys.
pub(crate) fn common_len(one: &[u8], other: &[u8]) -> usize {
    let words = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
    let whole = words.take_while(|(a, b)| a == b).count() * 8;
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(a, b)| a == b).count()
}

/// Reads encoded values from a slice. Each method returns `None` if the slice is too short or
/// the value is malformed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of bytes not read yet.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        // Most are lengths below 128.
        if let Some((byte, rest)) = self.rest.split_first()
            && *byte < 0x80
        {
            self.rest = rest;
            return Some(u64::from(*byte));
        }
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth group has only one bit.
            if shift == 63 && 1 < bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.length()?;
        self.take(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_ordered_and_common_parts_are_counted() {
        let keys: [&[u8]; 7] = [b"", b"\0", b"a", b"a\0b", b"abcdefgh", b"abcdefgh1", b"abcdefgi"];
        for (at, one) in keys.iter().enumerate() {
            for other in &keys[at..] {
                assert!(prefix_of(one) <= prefix_of(other));
                let want = (0..=one.len()).rev().find(|len| other.starts_with(&one[..*len]));
                assert_eq!(common_len(one, other), want.unwrap());
                assert_eq!(common_len(other, one), want.unwrap());
            }
        }
    }

    #[test]
    fn integers_are_read_back() {
        let mut out = Vec::new();
        let values = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        for value in values {
            put_varint(&mut out, value);
        }
        put_bytes(&mut out, b"key");
        let mut decoder = Decoder::new(&out);
        for value in values {
            assert_eq!(decoder.varint(), Some(value));
        }
        assert_eq!(decoder.bytes(), Some(&b"key"[..]));
        assert!(decoder.is_empty());
        assert_eq!(decoder.u8(), None);
        assert_eq!(Decoder::new(&[0xff; 10]).varint(), None);
    }
}
