//! Small files of the data directory with a trailing checksum, so that bit errors are detected. The
//! checksum protects against disk faults only, not against deliberate changes. Since some files
//! hold secrets, buffers are erased after use.

use std::{fs, io, path::Path};

use auth::Secret;

use crate::atomic_file;

/// Prefix of the checksum line after a text. PEM readers skip such lines, so other programs can
/// read a certificate with it.
const LINE: &str = "# crc32c ";

/// Writes bytes followed by their CRC-32C, 4 bytes little-endian. Durable on return.
pub fn write_checksummed(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let checksummed = [bytes, &crc32c::crc32c(bytes).to_le_bytes()].concat();
    atomic_file::replace_atomically(folder, name, Secret::from_bytes(checksummed).bytes())
}

/// Reads what [`write_checksummed`] wrote, `len` bytes of content. A missing checksum is accepted,
/// since earlier versions wrote none; a wrong length or checksum is `InvalidData`.
pub fn read_checksummed(path: &Path, len: usize) -> io::Result<Secret> {
    let mut bytes = fs::read(path)?;
    let (held, checksum) = bytes.split_at_checked(len).ok_or_else(|| damaged_error(path))?;
    let good = checksum.is_empty() || checksum == crc32c::crc32c(held).to_le_bytes();
    bytes.truncate(len);
    let held = Secret::from_bytes(bytes);
    if good { Ok(held) } else { Err(damaged_error(path)) }
}

/// Writes a text followed by its checksum line. The text must end with a line break.
pub fn write_text(folder: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let line = format!("{LINE}{:08x}\n", crc32c::crc32c(text));
    let checksummed = Secret::from_bytes([text, line.as_bytes()].concat());
    atomic_file::replace_atomically(folder, name, checksummed.bytes())
}

/// Reads a text without its checksum line. A text without a checksum line is the operator's own
/// file and is accepted. A wrong checksum or invalid UTF-8 is `InvalidData`.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::from_utf8(fs::read(path)?).map_err(|_| damaged_error(path))?;
    // The last such line: the content may contain similar lines.
    if let Some(at) = text.rfind(LINE) {
        let line = text.split_off(at);
        if line != format!("{LINE}{:08x}\n", crc32c::crc32c(text.as_bytes())) {
            return Err(damaged_error(path));
        }
    }
    Ok(text)
}

/// Returns the error for a wrong checksum, whose kind distinguishes damage from absence.
fn damaged_error(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flips each bit of a file; reading it has to fail or return the original content.
    fn flip_each<T: PartialEq + std::fmt::Debug>(
        path: &Path,
        read: impl Fn(&Path) -> io::Result<T>,
    ) {
        let (bytes, truth) = (fs::read(path).unwrap(), read(path).unwrap());
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            fs::write(path, changed).unwrap();
            match read(path) {
                Ok(held) => assert_eq!(held, truth, "bit {at}"),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::InvalidData),
            }
        }
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn every_turned_bit_of_bytes_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        write_checksummed(folder.path(), "secret", &[7; 32]).unwrap();
        assert_eq!(read_checksummed(&path, 32).unwrap().bytes(), [7; 32]);
        flip_each(&path, |path| read_checksummed(path, 32));
        fs::write(&path, [8; 32]).unwrap();
        assert_eq!(
            read_checksummed(&path, 32).unwrap().bytes(),
            [8; 32],
            "as an earlier version wrote it"
        );
        for wrong in [&b"short"[..], &[7; 33], &[7; 40]] {
            fs::write(&path, wrong).unwrap();
            read_checksummed(&path, 32).unwrap_err();
        }
    }

    #[test]
    fn an_operators_own_text_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.pem");
        fs::write(&path, "# mine\n-----BEGIN").unwrap();
        assert_eq!(read_text(&path).unwrap(), "# mine\n-----BEGIN");
        write_text(folder.path(), "certificate.pem", b"a\nb\n").unwrap();
        assert_eq!(read_text(&path).unwrap(), "a\nb\n");
        // If the marker of the checksum line is damaged, the text itself is still unchanged.
        flip_each(&path, |path| read_text(path).map(|text| text[..4].to_owned()));
    }
}
