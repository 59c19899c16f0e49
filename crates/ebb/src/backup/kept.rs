//! Stored backups: lists the backups at a location, and selects the chain of backups (a full backup
//! and the incremental backups that continue it) that leads to a point in time.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use backup::{Header, Link, Survey, check_chain, survey};
use server::{Interrupt, Source, clock_of_backup};

use super::{
    file::ENDING,
    place::Place,
    s3::{Bucket, Download},
};
use crate::progress::Progress;

/// Lists the backups of a directory, sorted by name.
fn backups_in(folder: &Path) -> Result<Vec<(PathBuf, Link)>, String> {
    let failed = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let is_backup = name.is_some_and(|name| !name.starts_with('.') && name.ends_with(ENDING));
        if is_backup && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(|path| look_at(&path).map(|link| (path, link))).collect()
}

/// Lists the backups of a location that can hold several, each with the location of the backup.
pub(super) fn backups_at(place: &Place) -> Result<Vec<(Place, Link)>, String> {
    match place {
        Place::Folder(folder) => {
            if !folder.is_dir() {
                return Ok(Vec::new());
            }
            let kept = backups_in(folder)?.into_iter();
            Ok(kept.map(|(path, link)| (Place::File(path), link)).collect())
        }
        Place::Prefix { bucket, prefix } => {
            let store = Bucket::open(bucket)?;
            let mut all = Vec::new();
            for key in store.backups_below(prefix)? {
                let place = Place::Object { bucket: bucket.clone(), key };
                let link = look_at_object(&store, &place)?;
                all.push((place, link));
            }
            Ok(all)
        }
        Place::Standard | Place::File(_) | Place::Object { .. } => Ok(Vec::new()),
    }
}

/// Returns the header of the newest backup of a chain. The next incremental backup continues this
/// one.
pub(super) fn newest_in(place: &Place) -> Result<Header, String> {
    let none = || format!("there is no full backup in {place}: take one first");
    let links: Vec<Link> = backups_at(place)?.into_iter().map(|(_, link)| link).collect();
    if links.is_empty() {
        return Err(none());
    }
    let chain = check_chain(links, None).map_err(|error| error.to_string())?;
    chain.into_iter().next_back().map(|link| link.header).ok_or_else(none)
}

/// Reads the header and the database time of a backup file.
fn look_at(path: &Path) -> Result<Link, String> {
    let wrong = |error: io::Error| format!("{}: {error}", path.display());
    let file = io::BufReader::new(File::open(path).map_err(wrong)?);
    let skip = |input: &mut io::BufReader<File>, bytes: u64| {
        input.seek_relative(i64::try_from(bytes).unwrap_or(i64::MAX))
    };
    link_of(path.display().to_string(), survey(file, &skip))
}

/// Reads the header and the database time of a backup object in S3, for which the whole object is
/// downloaded.
fn look_at_object(store: &Bucket, place: &Place) -> Result<Link, String> {
    let Place::Object { key, .. } = place else { return Err(format!("{place} is not an object")) };
    let object = store.read(key).map_err(|error| format!("{place}: {error}"))?;
    let skip = |input: &mut Download, bytes: u64| {
        io::copy(&mut input.take(bytes), &mut io::sink()).map(drop)
    };
    link_of(place.to_string(), survey(object, &skip))
}

fn link_of(name: String, found: Result<Survey, backup::Error>) -> Result<Link, String> {
    let found = found.map_err(|error| format!("{name}: {error}"))?;
    let clock_ms = clock_of_backup(&found.clock);
    let clock_ms = clock_ms.ok_or_else(|| {
        format!("{name}: the record of the database clock in this backup is damaged")
    })?;
    Ok(Link { name, header: found.header, clock_ms })
}

/// Returns a source from which the backup at a location can be restored.
pub(super) fn source_of(place: &Place, bar: &Progress, interrupt: &Interrupt) -> Source {
    let (of, bar, interrupt) = (place.clone(), bar.clone(), interrupt.clone());
    let open = move || -> io::Result<Box<dyn Read + Send>> {
        Ok(match of {
            Place::File(path) => {
                let file = io::BufReader::with_capacity(1 << 20, File::open(path)?);
                Box::new(bar.reading(file, &interrupt))
            }
            Place::Object { bucket, key } => {
                let store = Bucket::open(&bucket).map_err(io::Error::other)?;
                Box::new(bar.reading(store.read(&key)?, &interrupt))
            }
            Place::Standard => Box::new(bar.reading(io::stdin(), &interrupt)),
            Place::Folder(_) | Place::Prefix { .. } => {
                return Err(io::Error::other("it is not a single backup"));
            }
        })
    };
    Source { name: place.to_string(), open: Box::new(open) }
}

/// Returns the chain of backups that leads to an instant, in the order of restoring. Without an
/// instant it leads to the newest backup.
pub(super) fn sources_of(
    place: &Place,
    to: Option<i64>,
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<Vec<Source>, String> {
    if !place.is_folder() {
        return Ok(vec![source_of(place, bar, interrupt)]);
    }
    let kept = backups_at(place)?;
    if kept.is_empty() {
        return Err(format!("there is no backup in {place}"));
    }
    let links = kept.iter().map(|(_, link)| link.clone()).collect();
    let chain = check_chain(links, to).map_err(|error| error.to_string())?;
    let place_of = |link: &Link| kept.iter().find(|(_, kept)| kept == link);
    let places = chain.iter().filter_map(place_of);
    Ok(places.map(|(place, _)| source_of(place, bar, interrupt)).collect())
}

/// Returns the size of the backup, if it is known in advance.
pub(super) fn bytes_of(place: &Place) -> Option<u64> {
    match place {
        Place::File(path) => path.metadata().ok().map(|file| file.len()),
        _ => None,
    }
}
