//! The encoding of numbers and byte strings in the records of temporary files.

/// Appends bytes after their length.
pub(in crate::exec) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Appends optional bytes; `None` differs from empty bytes.
pub(in crate::exec) fn put_optional(bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    // The length plus one: 0 is `None`.
    put_number(bytes.map_or(0, |bytes| bytes.len() + 1), out);
    out.extend_from_slice(bytes.unwrap_or_default());
}

/// Appends a number as a varint: seven bits per byte, the lowest first; the eighth bit is set if
/// more follow.
pub(in crate::exec) fn put_number(mut number: usize, out: &mut Vec<u8>) {
    while 0x80 <= number {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The rest of a record. Reading returns `None` if the record is malformed. Files are checksummed,
/// so this protects against bugs rather than against the disk.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct RecordBytes<'a>(pub(in crate::exec) &'a [u8]);

impl<'a> RecordBytes<'a> {
    pub(in crate::exec) fn read_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads a number; `None` if it is too long.
    pub(in crate::exec) fn read_number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.read_byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads bytes after their length.
    pub(in crate::exec) fn read_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.read_number()?;
        self.take_bytes(length)
    }

    /// Reads optional bytes. The outer `None` is a malformed record.
    pub(in crate::exec) fn read_optional(&mut self) -> Option<Option<&'a [u8]>> {
        match self.read_number()?.checked_sub(1) {
            Some(length) => self.take_bytes(length).map(Some),
            None => Some(None),
        }
    }

    /// Reads this number of bytes; `None` if fewer are left.
    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut out = Vec::new();
        let numbers = [0, 1, 127, 128, 300, 1 << 31, usize::MAX];
        numbers.iter().for_each(|number| put_number(*number, &mut out));
        put_bytes(b"abc", &mut out);
        put_optional(Some(b""), &mut out);
        put_optional(None, &mut out);
        let mut bytes = RecordBytes(&out);
        for number in numbers {
            assert_eq!(bytes.read_number(), Some(number));
        }
        assert_eq!(bytes.read_bytes(), Some(&b"abc"[..]));
        assert_eq!(bytes.read_optional(), Some(Some(&b""[..])));
        assert_eq!(bytes.read_optional(), Some(None));
        assert_eq!(bytes.read_number(), None);
    }

    #[test]
    fn what_is_cut_off_is_none() {
        let mut out = Vec::new();
        put_bytes(&[7; 200], &mut out);
        for length in 0..out.len() {
            assert_eq!(RecordBytes(&out[..length]).read_bytes(), None, "{length}");
        }
    }
}
