//! Reads fixed-width integers from byte slices without panicking. The bytes come from clients or
//! from disk, so every read is bounds-checked; `None` means that the bytes end too early.

/// Reads a little-endian `i32` at `at`.
#[inline]
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Reads a little-endian `i64` at `at`.
#[inline]
pub(crate) fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Reads a little-endian `i32` length at `at`. A negative length is invalid everywhere in BSON and
/// returns `None`.
#[inline]
pub(crate) fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(i32_at(bytes, at)?).ok()
}

/// Returns the offset of the first NUL at or after `at`, counted from the start of `bytes`.
#[inline]
pub(crate) fn nul_after(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.iter().position(|byte| *byte == 0).map(|offset| at + offset)
}
