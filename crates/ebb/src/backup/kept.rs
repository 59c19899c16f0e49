//! Backups that are kept somewhere: which there are, and which of them lead up to what is wanted.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use backup::{Header, Link, check_chain, survey};
use server::{Interrupt, Source, clock_of_backup};

use super::{file::ENDING, place::Place, progress::Progress};

/// All backups of a directory, in the order of their names, and where each lies.
pub(super) fn backups_in(folder: &Path) -> Result<Vec<(PathBuf, Link)>, String> {
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

/// What the newest backup of a directory is, behind which another one goes on.
pub(super) fn newest_in(place: &Place) -> Result<Header, String> {
    let Place::Folder(folder) = place else { return Err("it is not a directory".to_owned()) };
    let none = || format!("there is no full backup in {}: make one first", folder.display());
    if !folder.is_dir() {
        return Err(none());
    }
    let links: Vec<Link> = backups_in(folder)?.into_iter().map(|(_, link)| link).collect();
    if links.is_empty() {
        return Err(none());
    }
    let chain = check_chain(links, None).map_err(|error| error.to_string())?;
    chain.into_iter().next_back().map(|link| link.header).ok_or_else(none)
}

/// Looks at what a file is.
fn look_at(path: &Path) -> Result<Link, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let skip = |input: &mut io::BufReader<File>, bytes: u64| {
        input.seek_relative(i64::try_from(bytes).unwrap_or(i64::MAX))
    };
    let found = survey(io::BufReader::new(file), &skip).map_err(|error| wrong(&error))?;
    let clock_ms = clock_of_backup(&found.clock).ok_or_else(|| wrong(&"its clock is damaged"))?;
    Ok(Link { name: path.display().to_string(), header: found.header, clock_ms })
}

/// The backups that lead up to an instant, or to the end, in their order; and their bytes, where known.
pub(super) fn sources_of(
    place: &Place,
    to: Option<i64>,
    bar: &Progress,
    interrupt: &Interrupt,
) -> Result<Vec<Source>, String> {
    let file = |path: PathBuf| {
        let (bar, interrupt) = (bar.clone(), interrupt.clone());
        let name = path.display().to_string();
        let open = move || -> io::Result<Box<dyn Read + Send>> {
            let file = io::BufReader::with_capacity(1 << 20, File::open(&path)?);
            Ok(Box::new(bar.reading(file, &interrupt)))
        };
        Source { name, open: Box::new(open) }
    };
    match place {
        Place::Standard => {
            let (bar, interrupt) = (bar.clone(), interrupt.clone());
            let open = move || -> io::Result<Box<dyn Read + Send>> {
                Ok(Box::new(bar.reading(io::stdin(), &interrupt)))
            };
            Ok(vec![Source { name: "standard input".to_owned(), open: Box::new(open) }])
        }
        Place::File(path) => Ok(vec![file(path.clone())]),
        Place::Folder(folder) => {
            let kept = backups_in(folder)?;
            if kept.is_empty() {
                return Err(format!("there is no backup in {}", folder.display()));
            }
            let links = kept.iter().map(|(_, link)| link.clone()).collect();
            let chain = check_chain(links, to).map_err(|error| error.to_string())?;
            let path_of = |link: &Link| kept.iter().find(|(_, kept)| kept == link);
            Ok(chain.iter().filter_map(path_of).map(|(path, _)| file(path.clone())).collect())
        }
    }
}

/// Bytes of what is read, where that is known before.
pub(super) fn bytes_of(place: &Place) -> Option<u64> {
    match place {
        Place::File(path) => path.metadata().ok().map(|file| file.len()),
        Place::Standard | Place::Folder(_) => None,
    }
}
