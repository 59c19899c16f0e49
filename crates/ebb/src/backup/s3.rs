//! Backups as objects of an S3-compatible store. Credentials, region and endpoint come from the
//! usual variables: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`
//! and `AWS_ENDPOINT_URL`. An object is uploaded in parts and becomes visible when the upload
//! completes.

use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use bytes::{Buf as _, Bytes};
use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use object_store::{
    ObjectMeta, ObjectStore, ObjectStoreExt as _, WriteMultipart, aws::AmazonS3Builder, path::Path,
};
use tokio::runtime::Runtime;

use super::{file::ENDING, s3_client::Connector};

/// Size of a part. S3 accepts 10,000 parts, that is 320 GB.
const PART_BYTES: usize = 32 << 20;
/// Maximum number of concurrent part uploads.
const AT_ONCE: usize = 3;
/// Maximum number of objects listed below a prefix.
const OBJECTS_MAX: usize = 1_000_000;
/// Maximum number of backups below a prefix.
const BACKUPS_MAX: usize = 100_000;

/// A bucket, with the runtime for its requests.
#[derive(Clone)]
pub(super) struct Bucket {
    name: String,
    store: Arc<dyn ObjectStore>,
    runtime: Arc<Runtime>,
}

impl Bucket {
    /// Opens the bucket of this name.
    pub(super) fn open(name: &str) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("s3://{name}: {error}");
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let plain = std::env::var("AWS_ENDPOINT_URL").is_ok_and(|url| url.starts_with("http://"));
        let builder = AmazonS3Builder::from_env().with_bucket_name(name).with_allow_http(plain);
        let builder = builder.with_http_connector(Connector);
        let store = builder.build().map_err(|error| failed(&error))?;
        Ok(Self { name: name.to_owned(), store: Arc::new(store), runtime: Arc::new(runtime) })
    }

    fn named(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.name)
    }

    /// Starts the upload of an object, which must not exist.
    pub(super) fn upload(&self, key: &str) -> Result<Upload, String> {
        let (path, name) = (Path::from(key), self.named(key));
        let begun = self.runtime.block_on(async {
            match self.store.head(&path).await {
                Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.to_string()),
                Ok(_) => return Err("it already exists: choose another name".to_owned()),
            }
            self.store.put_multipart(&path).await.map_err(|error| error.to_string())
        });
        let upload = begun.map_err(|error| format!("{name}: {error}"))?;
        let parts = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        Ok(Upload { name, parts: Some(parts), runtime: Arc::clone(&self.runtime) })
    }

    /// Lists the keys of the backups below a prefix, sorted.
    pub(super) fn backups_below(&self, prefix: &str) -> Result<Vec<String>, String> {
        let path = Path::from(prefix);
        let listed = self.runtime.block_on(backups_in(self.store.list(Some(&path)), prefix));
        listed.map_err(|why| format!("{}: {why}", self.named(prefix)))
    }

    pub(super) fn read(&self, key: &str) -> io::Result<Download> {
        let path = Path::from(key);
        let found = self.runtime.block_on(self.store.get(&path));
        let stream = found.map_err(io::Error::other)?.into_stream();
        Ok(Download { stream, chunk: Bytes::new(), runtime: Arc::clone(&self.runtime) })
    }
}

/// Selects the backups from a listing. The length of the listing is bounded, because a faulty store
/// might send an endless listing.
async fn backups_in(
    mut listed: BoxStream<'static, object_store::Result<ObjectMeta>>,
    prefix: &str,
) -> Result<Vec<String>, String> {
    let (mut keys, mut objects) = (Vec::new(), 0);
    let mut first: Option<Path> = None;
    while let Some(found) = listed.try_next().await.map_err(|error| error.to_string())? {
        objects += 1;
        if OBJECTS_MAX < objects || BACKUPS_MAX < keys.len() {
            return Err("too many objects under this prefix: use another prefix".to_owned());
        }
        if first.as_ref() == Some(&found.location) {
            return Err("the object store keeps listing the same objects".to_owned());
        }
        let key = found.location.to_string();
        first.get_or_insert(found.location);
        let name = key.strip_prefix(prefix).unwrap_or_default();
        if !name.contains('/') && name.ends_with(ENDING) {
            keys.push(key);
        }
    }
    keys.sort();
    Ok(keys)
}

/// An object being uploaded. If it is dropped before it is finished, nothing of it remains.
pub(super) struct Upload {
    name: String,
    /// `None` once the upload has ended.
    parts: Option<WriteMultipart>,
    runtime: Arc<Runtime>,
}

impl Upload {
    /// Completes the upload and returns the name of the object.
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
            // Otherwise the store would keep the uploaded parts and charge for them.
            let _ = self.runtime.block_on(parts.abort());
        }
    }
}

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

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn object(key: String) -> object_store::Result<ObjectMeta> {
        let location = Path::from(key);
        let last_modified = std::time::SystemTime::UNIX_EPOCH.into();
        Ok(ObjectMeta { location, last_modified, size: 1, e_tag: None, version: None })
    }

    fn listed(keys: impl Iterator<Item = String> + Send + 'static) -> Result<Vec<String>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(backups_in(stream::iter(keys.map(object)).boxed(), "p/"))
    }

    #[test]
    fn a_list_without_an_end_is_refused() {
        let keys = ["p/b.ebb", "p/a.ebb", "p/c/d.ebb", "p/e.txt", "q/f.ebb"].map(str::to_owned);
        assert_eq!(listed(keys.into_iter()).unwrap(), ["p/a.ebb", "p/b.ebb"]);
        let same = std::iter::repeat("p/a.ebb".to_owned());
        assert!(listed(same).unwrap_err().contains("same objects"));
        for ending in [".ebb", ".txt"] {
            let endless = (0_u64..).map(move |n| format!("p/{n}{ending}"));
            assert!(listed(endless).unwrap_err().contains("too many objects"));
        }
    }
}
