//! Backups as objects of a store that speaks S3. Credentials, region and address come from the usual
//! variables: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` and
//! `AWS_ENDPOINT_URL`. An object is uploaded in parts, and is there once the last has been taken.

use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use bytes::{Buf as _, Bytes};
use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use object_store::{
    ObjectStore, ObjectStoreExt as _, WriteMultipart, aws::AmazonS3Builder, path::Path,
};
use tokio::runtime::Runtime;

use super::file::ENDING;

/// Bytes of a part. S3 takes 10,000 of them, which is 320 GB.
const PART_BYTES: usize = 32 << 20;
/// Parts on their way at the same time.
const AT_ONCE: usize = 3;

/// A bucket, and what its requests run on.
#[derive(Clone)]
pub(super) struct Bucket {
    name: String,
    store: Arc<dyn ObjectStore>,
    runtime: Arc<Runtime>,
}

impl Bucket {
    /// The bucket of this name.
    pub(super) fn open(name: &str) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("s3://{name}: {error}");
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let plain = std::env::var("AWS_ENDPOINT_URL").is_ok_and(|url| url.starts_with("http://"));
        let builder = AmazonS3Builder::from_env().with_bucket_name(name).with_allow_http(plain);
        let store = builder.build().map_err(|error| failed(&error))?;
        Ok(Self { name: name.to_owned(), store: Arc::new(store), runtime: Arc::new(runtime) })
    }

    fn named(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.name)
    }

    /// Begins an object, which must not be there.
    pub(super) fn upload(&self, key: &str) -> Result<Upload, String> {
        let (path, name) = (Path::from(key), self.named(key));
        let begun = self.runtime.block_on(async {
            match self.store.head(&path).await {
                Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.to_string()),
                Ok(_) => return Err("it is there already: give another name".to_owned()),
            }
            self.store.put_multipart(&path).await.map_err(|error| error.to_string())
        });
        let upload = begun.map_err(|error| format!("{name}: {error}"))?;
        let parts = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        Ok(Upload { name, parts: Some(parts), runtime: Arc::clone(&self.runtime) })
    }

    /// Names of the backups below a prefix, in their order.
    pub(super) fn backups_below(&self, prefix: &str) -> Result<Vec<String>, String> {
        let path = Path::from(prefix);
        let listed = self.runtime.block_on(async {
            let found: Vec<_> = self.store.list(Some(&path)).try_collect().await?;
            Ok::<_, object_store::Error>(found)
        });
        let listed = listed.map_err(|error| format!("{}: {error}", self.named(prefix)))?;
        let mut keys: Vec<String> =
            listed.into_iter().map(|found| found.location.to_string()).collect();
        keys.retain(|key| {
            let name = key.strip_prefix(prefix).unwrap_or_default();
            !name.contains('/') && name.ends_with(ENDING)
        });
        keys.sort();
        Ok(keys)
    }

    /// Begins to read an object.
    pub(super) fn read(&self, key: &str) -> io::Result<Download> {
        let path = Path::from(key);
        let found = self.runtime.block_on(self.store.get(&path));
        let stream = found.map_err(io::Error::other)?.into_stream();
        Ok(Download { stream, chunk: Bytes::new(), runtime: Arc::clone(&self.runtime) })
    }
}

/// An object that is being written; unless it is finished, nothing of it will be there.
pub(super) struct Upload {
    name: String,
    /// `None` once it has ended.
    parts: Option<WriteMultipart>,
    runtime: Arc<Runtime>,
}

impl Upload {
    /// It is whole: it is there when this returns its name.
    pub(super) fn finish(mut self) -> Result<String, String> {
        if let Some(parts) = self.parts.take() {
            let finished = self.runtime.block_on(parts.finish());
            finished.map_err(|error| format!("{}: {error}", self.name))?;
        }
        Ok(self.name.clone())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(parts) = &mut self.parts else { return Ok(0) };
        self.runtime.block_on(async {
            parts.wait_for_capacity(AT_ONCE).await.map_err(io::Error::other)?;
            parts.write(bytes);
            Ok(bytes.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            // What was taken of it would be kept, and paid for.
            let _ = self.runtime.block_on(parts.abort());
        }
    }
}

/// An object that is being read.
pub(super) struct Download {
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    chunk: Bytes,
    runtime: Arc<Runtime>,
}

impl Read for Download {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.runtime.block_on(self.stream.next()) {
                None => return Ok(0),
                Some(chunk) => self.chunk = chunk.map_err(io::Error::other)?,
            }
        }
        let count = bytes.len().min(self.chunk.len());
        self.chunk.copy_to_slice(bytes.get_mut(..count).unwrap_or_default());
        Ok(count)
    }
}
