//! The destination of a backup being taken: a file, an S3 object, or standard output. A file or
//! object gets its name when the backup is complete; incomplete output is removed.

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use backup::Header;

use super::{
    file::{BackupFile, Target, name_of},
    place::Place,
    s3::{Bucket, Upload},
};

/// The temporary file to remove if the process is terminated.
#[derive(Clone, Debug, Default)]
pub(super) struct Unfinished(Arc<Mutex<Option<PathBuf>>>);

impl Unfinished {
    fn set(&self, part: Option<PathBuf>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = part;
    }

    pub(super) fn remove(&self) {
        if let Some(part) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = std::fs::remove_file(part);
        }
    }
}

enum Kind {
    Standard(io::BufWriter<io::Stdout>),
    File(io::BufWriter<std::fs::File>, BackupFile),
    Object(Upload),
}

pub(super) struct Sink {
    kind: Kind,
    pub(super) bytes: u64,
    unfinished: Unfinished,
}

impl Sink {
    /// Opens the destination. `header` is `None` if the header of the backup has not been read yet.
    pub(super) fn begin(
        place: &Place,
        header: Option<&Header>,
        unfinished: Unfinished,
    ) -> Result<Self, String> {
        let file = |target: Target| -> Result<Kind, String> {
            let file = BackupFile::begin(target)?;
            unfinished.set(Some(file.part().to_owned()));
            Ok(Kind::File(file.writer()?, file))
        };
        let kind = match place {
            Place::Standard => Kind::Standard(io::BufWriter::with_capacity(1 << 20, io::stdout())),
            Place::File(path) => file(Target::File(path.clone()))?,
            Place::Folder(path) => file(Target::Folder(path.clone()))?,
            Place::Object { bucket, key } => Kind::Object(Bucket::open(bucket)?.upload(key)?),
            Place::Prefix { bucket, prefix } => {
                let named = header.map(|header| format!("{prefix}{}", name_of(header)));
                let key = named
                    .ok_or("the backup of a directory needs a full object name: s3://BUCKET/KEY")?;
                Kind::Object(Bucket::open(bucket)?.upload(&key)?)
            }
        };
        Ok(Self { kind, bytes: 0, unfinished })
    }

    /// Completes the backup under its final name and returns that name.
    pub(super) fn finish(self, header: &Header) -> Result<String, String> {
        let failed = |error: io::Error| format!("cannot write the backup: {error}");
        let place = match self.kind {
            Kind::Standard(mut out) => {
                out.flush().map_err(failed)?;
                "standard output".to_owned()
            }
            Kind::File(mut out, file) => {
                out.flush().map_err(failed)?;
                drop(out);
                file.finish(header)?.display().to_string()
            }
            Kind::Object(upload) => upload.finish()?,
        };
        self.unfinished.set(None);
        Ok(place)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.kind {
            Kind::Standard(out) => out.write(bytes)?,
            Kind::File(out, _) => out.write(bytes)?,
            Kind::Object(out) => out.write(bytes)?,
        };
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Standard(out) => out.flush(),
            Kind::File(out, _) => out.flush(),
            Kind::Object(out) => out.flush(),
        }
    }
}
