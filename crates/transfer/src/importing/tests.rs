//! Tests imports that are interrupted after each document, into an in-memory collection.

use std::{
    collections::BTreeMap,
    fs::File,
    sync::{Arc, Mutex},
};

use document::ValueRef;

use super::*;
use crate::interfaces::{NeverInterrupts, with_field};

/// Documents by id, and how many more are accepted before the connection is lost.
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
                    outcomes.push(Outcome::Existing("duplicate".to_owned()));
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
    let (mut reported, state) = (None, import.file.as_ref().map(|path| beside(path, STATE)));
    let done = super::import(import, move || Ok(Box::new(sink)), &NeverInterrupts, &mut |done| {
        // The state file says that the import is finished until its end was reported.
        let kept: ImportState = state::load(state.as_ref().unwrap()).unwrap().unwrap();
        assert!(kept.is_finished || kept.is_stopped);
        reported = Some(*done);
    });
    assert_eq!(reported, done.as_ref().ok().copied());
    done
}

/// Returns the documents without their ids, as generated ids are the same in all runs of an import
/// but differ between imports.
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
            assert!(done.earlier.is_some_and(|earlier| !earlier.was_finished));
            assert!(!folder.path().join("in.import-state").exists());
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
    assert!(again.contains("is unfinished"), "{again}");
    for other in [
        Import { mode: Mode::Upsert, ..asked(folder.path(), Mode::Insert, true) },
        Import { batch: 4, ..asked(folder.path(), Mode::Insert, true) },
        Import { format: Format::Plain, ..asked(folder.path(), Mode::Insert, true) },
        Import { job: "b".to_owned(), ..asked(folder.path(), Mode::Insert, true) },
    ] {
        let refused = run(&other, &table, None).unwrap_err();
        assert!(refused.contains("belongs to a different import"), "{refused}");
    }
    let done = run(&asked(folder.path(), Mode::Insert, true), &table, None).unwrap();
    assert_eq!((done.read, done.created), (4, 4));
    // If the last import is finished, `--resume` starts a new one.
    for (resume, documents) in [(false, 8), (true, 12)] {
        let done = run(&asked(folder.path(), Mode::Insert, resume), &table, None).unwrap();
        assert_eq!((done.read, done.created, done.earlier), (4, 4, None));
        assert_eq!(table.rows.lock().unwrap().len(), documents);
    }
}

#[test]
fn another_file_under_the_name_is_not_taken_for_the_one_before() {
    let line = |n: u32| format!("{{\"_id\":\"{n:06}\",\"n\":1}}\n");
    let of = |numbers: std::ops::Range<u32>| numbers.map(line).collect::<String>();
    let (earlier, table) = (of(0..9), Table::default());
    for (content, keeps_time, want) in [
        (of(0..10), false, "had 207 bytes and has 230"),
        (earlier.clone(), false, "it was modified at"),
        (of(100..109), true, "its first bytes have changed"),
        (format!("{}{}", of(0..6), of(100..103)), true, ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in");
        std::fs::write(&path, &earlier).unwrap();
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        run(&asked(folder.path(), Mode::Upsert, false), &table, Some(4)).unwrap_err();
        std::fs::write(&path, content).unwrap();
        let now = if keeps_time { time } else { time + std::time::Duration::from_secs(60) };
        File::options().write(true).open(&path).unwrap().set_modified(now).unwrap();
        let done = run(&asked(folder.path(), Mode::Upsert, true), &table, None);
        match want {
            // The part of the file that was not read yet may change.
            "" => assert_eq!(done.unwrap().read, 9),
            want => {
                let refused = done.unwrap_err();
                assert!(refused.contains(want) && refused.contains("to import"), "{refused}");
                // Without its state file, the file is imported from the start.
                std::fs::remove_file(folder.path().join("in.import-state")).unwrap();
                let done = run(&asked(folder.path(), Mode::Upsert, true), &table, None).unwrap();
                assert!(9 <= done.read && done.earlier.is_none());
            }
        }
    }
}

#[test]
fn a_finished_state_says_nothing_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = (folder.path().join("in"), folder.path().join("in.import-state"));
    let table = Table::default();
    std::fs::write(&path, "{\"_id\":1,\"n\":1}\n").unwrap();
    let sink = table.clone();
    let first = asked(folder.path(), Mode::Insert, false);
    let mut kept = Vec::new();
    // Keeps the state file as a run would leave it that is killed before it can remove the file.
    super::import(&first, move || Ok(Box::new(sink)), &NeverInterrupts, &mut |_| {
        kept = std::fs::read(&state).unwrap();
    })
    .unwrap();
    std::fs::write(&state, &kept).unwrap();
    let done = run(&asked(folder.path(), Mode::Insert, true), &table, Some(0)).unwrap();
    let earlier = Earlier { read: 1, line: 2, was_finished: true };
    assert_eq!((done.created, done.earlier), (1, Some(earlier)));
    std::fs::write(&state, &kept).unwrap();
    std::fs::write(&path, "{\"_id\":2,\"n\":1}\n{\"_id\":3,\"n\":1}\n").unwrap();
    let done = run(&asked(folder.path(), Mode::Insert, true), &table, None).unwrap();
    assert_eq!((done.read, done.created, done.earlier), (2, 2, None));
}

#[test]
fn a_file_that_was_mended_where_a_refusal_ended_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    let table = Table::default();
    let asked =
        |resume| Import { stop_on_error: true, ..asked(folder.path(), Mode::Insert, resume) };
    std::fs::write(&path, "{\"n\":1}\n{\"n\":2}\n{\"n\n{\"n\":4}\n").unwrap();
    assert_eq!(run(&asked(false), &table, None).unwrap().stopped, Some(3));
    std::fs::write(&path, "{\"n\":9}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n").unwrap();
    let refused = run(&asked(true), &table, None).unwrap_err();
    assert!(refused.contains("first bytes have changed"), "{refused}");
    std::fs::write(&path, "{\"n\":1}\n{\"n\":2}\n{\"n\":33}\n{\"n\":4}\n").unwrap();
    let done = run(&asked(true), &table, None).unwrap();
    assert_eq!((done.read, done.created, done.stopped), (4, 4, None));
}

#[test]
fn a_file_that_is_imported_twice_does_not_come_back_whole_as_refusals() {
    let folder = tempfile::tempdir().unwrap();
    let pad = "x".repeat(2000);
    let lines: String =
        (0..3000).map(|n| format!("{{\"_id\":{n},\"pad\":\"{pad}\",\"n\":1}}\n")).collect();
    std::fs::write(folder.path().join("in"), lines).unwrap();
    let table = Table::default();
    let first = Import { batch: 500, ..asked(folder.path(), Mode::Insert, false) };
    run(&first, &table, None).unwrap();
    let done = run(&first, &table, None).unwrap();
    assert_eq!((done.read, done.refused, done.existing), (3000, 3000, 3000));
    let refused = std::fs::read_to_string(folder.path().join("refused")).unwrap();
    let listed = refused.lines().filter(|line| line.contains(&pad)).count() as u64;
    assert_eq!(listed, LISTED_EXISTING);
    let counted = refused.lines().filter_map(|line| line.split("\"count\":").nth(1));
    let counted: u64 =
        counted.map(|rest| rest.split(',').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(counted, 3000 - LISTED_EXISTING);
}
