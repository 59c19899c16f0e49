//! Imports that are cut after each document, into a collection that is a table in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use document::ValueRef;

use super::*;
use crate::place::{Calm, with_field};

/// Documents by their ids, and how many more are taken before the connection is lost.
#[derive(Clone, Debug, Default)]
struct Table {
    rows: Arc<Mutex<BTreeMap<String, String>>>,
    left: Option<usize>,
    mode: Option<Mode>,
}

impl Sink for Table {
    fn with_id(&self, document: DocBuf, id: ObjectId) -> Result<DocBuf, String> {
        if document.get("wrong").is_some() {
            return Err("wrong".to_owned());
        }
        Ok(with_field(document, "_id", ValueRef::ObjectId(id)))
    }

    fn write(&mut self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String> {
        let mut rows = self.rows.lock().unwrap();
        let mut outcomes = Vec::new();
        for entry in batch {
            match &mut self.left {
                Some(0) => return Err("cut".to_owned()),
                Some(left) => *left -= 1,
                None => {}
            }
            let id = format!("{:?}", entry.get("_id"));
            let was = rows.contains_key(&id);
            outcomes.push(match (was, self.mode) {
                (false, _) => Outcome::Created,
                (true, Some(Mode::Upsert)) => Outcome::Replaced,
                (true, _) if again => Outcome::Created,
                (true, _) => {
                    outcomes.push(Outcome::Refused("duplicate".to_owned()));
                    continue;
                }
            });
            rows.insert(id, format!("{entry:?}"));
        }
        Ok(outcomes)
    }

    fn count(&mut self) -> Result<Option<u64>, String> {
        Ok(Some(self.rows.lock().unwrap().len() as u64))
    }
}

fn asked(folder: &Path, mode: Mode, resume: bool) -> Import {
    Import {
        job: "a".to_owned(),
        file: Some(folder.join("in")),
        format: Format::Canonical,
        rules: TableRules::default(),
        mode,
        stop_on_error: false,
        batch: 3,
        refusals: folder.join("refused"),
        resume,
    }
}

fn run(import: &Import, table: &Table, left: Option<usize>) -> Result<Imported, String> {
    let sink = Table { left, mode: Some(import.mode), ..table.clone() };
    super::import(import, move || Ok(Box::new(sink)), &Calm)
}

/// Ids of the documents that get one are made anew in each import, but not in its later runs.
fn values(table: &Table) -> Vec<String> {
    let rows = table.rows.lock().unwrap();
    let mut found: Vec<String> =
        rows.values().map(|row| row.rsplit_once("n: ").unwrap().1.to_owned()).collect();
    found.sort_unstable();
    found
}

#[test]
fn an_import_that_was_cut_goes_on_as_if_it_had_not_been() {
    let lines = "{\"_id\":1,\"n\":0}\n{\"n\":1}\n{\"_id\n{\"n\":2}\n{\"_id\":2,\"n\":3}\n\n\
                 {\"wrong\":1,\"n\":4}\n{\"n\":5}\n{\"_id\":3,\"n\":6}\n{\"n\":7}\n";
    for mode in [Mode::Insert, Mode::Upsert] {
        for cuts in (0..7).flat_map(|first| (0..7).map(move |second| [first, second])) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("in"), lines).unwrap();
            let table = Table::default();
            let mut done = run(&asked(folder.path(), mode, false), &table, Some(cuts[0]));
            assert_eq!(done, Err("cut".to_owned()));
            done = run(&asked(folder.path(), mode, true), &table, Some(cuts[1]));
            if done.is_err() {
                done = run(&asked(folder.path(), mode, true), &table, None);
            }
            let done = done.unwrap();
            assert_eq!((done.read, done.refused), (9, 2), "{mode:?} {cuts:?}");
            assert_eq!(done.created + done.replaced, 7, "{mode:?} {cuts:?}");
            assert_eq!(values(&table), ["0 }", "1 }", "2 }", "3 }", "5 }", "6 }", "7 }"]);
            let refused = std::fs::read_to_string(folder.path().join("refused")).unwrap();
            let lines: Vec<&str> = refused.lines().map(|line| &line[..9]).collect();
            assert_eq!(lines, ["{\"line\":3", "{\"line\":7"], "{mode:?} {cuts:?}");
            // It is finished, and says the same again.
            assert_eq!(run(&asked(folder.path(), mode, true), &table, Some(0)), Ok(done));
        }
    }
}

#[test]
fn an_array_that_was_cut_goes_on_and_its_documents_have_ids_of_their_own() {
    let array = "[{\"n\":0},{\"n\":1},{\"_id\":}, {\"n\":2},{\"wrong\":1},{\"n\":3} ,{\"n\":4}]\n";
    for cut in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in"), array).unwrap();
        let table = Table::default();
        run(&asked(folder.path(), Mode::Insert, false), &table, Some(cut)).unwrap_err();
        let done = run(&asked(folder.path(), Mode::Insert, true), &table, None).unwrap();
        assert_eq!((done.read, done.created, done.refused), (7, 5, 2), "{cut}");
        assert_eq!(values(&table), ["0 }", "1 }", "2 }", "3 }", "4 }"], "{cut}");
    }
}

#[test]
fn what_was_there_before_is_refused_but_for_the_batch_that_was_cut() {
    let lines: String = (0..9).map(|n| format!("{{\"_id\":{n},\"n\":{n}}}\n")).collect();
    let there = Table::default();
    for n in [1, 7] {
        let id = format!("{:?}", Some(ValueRef::Int32(n)));
        there.rows.lock().unwrap().insert(id, "n: old".to_owned());
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), lines).unwrap();
    run(&asked(folder.path(), Mode::Insert, false), &there, Some(5)).unwrap_err();
    let done = run(&asked(folder.path(), Mode::Insert, true), &there, None).unwrap();
    assert_eq!((done.read, done.created, done.refused, done.dead), (9, 7, 2, Some(0)));
}

#[test]
fn a_run_is_told_from_another() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n")
        .unwrap();
    let table = Table::default();
    let first = asked(folder.path(), Mode::Insert, false);
    run(&first, &table, Some(3)).unwrap_err();
    let again = run(&first, &table, None).unwrap_err();
    assert!(again.contains("was not finished"), "{again}");
    for other in [
        Import { mode: Mode::Upsert, ..asked(folder.path(), Mode::Insert, true) },
        Import { batch: 4, ..asked(folder.path(), Mode::Insert, true) },
        Import { format: Format::Plain, ..asked(folder.path(), Mode::Insert, true) },
        Import { job: "b".to_owned(), ..asked(folder.path(), Mode::Insert, true) },
    ] {
        let refused = run(&other, &table, None).unwrap_err();
        assert!(refused.contains("of another import"), "{refused}");
    }
    let done = run(&asked(folder.path(), Mode::Insert, true), &table, None).unwrap();
    assert_eq!((done.read, done.created), (4, 4));
    // A finished one begins anew where that is asked.
    let done = run(&first, &table, None).unwrap();
    assert_eq!((done.read, done.created, table.rows.lock().unwrap().len()), (4, 4, 8));
}
