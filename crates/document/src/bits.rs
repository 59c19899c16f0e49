//! Fixed-width integers read from byte slices without panics. All callers walk bytes that came from
//! outside or from a disk, so that every read is checked: nothing means that the bytes end too
//! early.

/// Little-endian `i32` at `at`, or `None` past the end.
#[inline]
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Little-endian `i64` at `at`, or `None` past the end.
#[inline]
pub(crate) fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// A non-negative little-endian `i32` length at `at`.
/// A negative length has no meaning anywhere in BSON, so it reads as nothing, like missing bytes.
#[inline]
pub(crate) fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(i32_at(bytes, at)?).ok()
}

/// Offset of the first NUL at or after `at`.
/// The offset counts from the start of `bytes`, not from `at`.
#[inline]
pub(crate) fn nul_after(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.iter().position(|byte| *byte == 0).map(|offset| at + offset)
}
