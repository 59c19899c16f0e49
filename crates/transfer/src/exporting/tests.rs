//! Tests exports that are interrupted after each page of an in-memory source.

use document::doc;

use super::*;
use crate::interfaces::NeverInterrupts;

/// A source of numbers up to ten, three per page, that fails after `left` pages.
struct Numbers {
    next: i32,
    left: usize,
    id: String,
}

impl Numbers {
    fn new(next: i32, left: usize) -> Box<Self> {
        Box::new(Self { next, left, id: "one".to_owned() })
    }
}

impl Source for Numbers {
    fn collection_id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn next_page(&mut self) -> Result<Page, String> {
        self.left = self.left.checked_sub(1).ok_or("cut")?;
        let numbers = self.next..(self.next + 3).min(10);
        self.next = numbers.end;
        let documents = numbers.map(|n| doc! { "_id": n }.to_buf()).collect();
        Ok(Page { documents, resume_position: (self.next < 10).then(|| self.next.to_string()) })
    }
}

fn run(asked: &Export, left: usize) -> Result<Exported, String> {
    let open = |resume_position: Option<&str>, _: Option<u64>| -> Result<Box<dyn Source>, String> {
        let next = resume_position.map_or(0, |resume_position| resume_position.parse().unwrap());
        Ok(Numbers::new(next, left))
    };
    let mut reported = None;
    export(asked, open, &NeverInterrupts, &mut |done| reported = Some(*done))?;
    Ok(reported.unwrap())
}

fn asked(file: &Path, resume: bool) -> Export {
    let (job, format) = ("a".to_owned(), Format::Plain);
    Export { job, file: Some(file.to_owned()), format, limit: None, resume }
}

#[test]
fn an_export_that_was_cut_goes_on_as_if_it_had_not_been() {
    let csv = Format::Csv(vec!["_id".to_owned()]);
    for (format, limit) in
        [(Format::Plain, None), (csv.clone(), None), (csv, Some(8)), (Format::Relaxed, Some(9))]
    {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, resume: bool| Export {
            job: "a".to_owned(),
            file: Some(folder.path().join(name)),
            format: format.clone(),
            limit,
            resume,
        };
        let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        let whole = run(&of("whole", false), 99).unwrap();
        assert_eq!(whole.documents, limit.unwrap_or(10));
        for (at, cuts) in [[1, 0], [1, 1], [2, 0]].into_iter().enumerate() {
            let name = format!("cut{at}");
            run(&of(&name, false), cuts[0]).unwrap_err();
            run(&of(&name, true), cuts[1]).unwrap_err();
            // Bytes beyond the length in the state are discarded.
            assert!(!folder.path().join(&name).exists());
            let part = format!("{name}{PART}");
            let torn = [bytes(&part), b"{\"_id\":".to_vec()].concat();
            std::fs::write(folder.path().join(&part), torn).unwrap();
            let earlier = 3 * (cuts[0] + cuts[1]) as u64;
            assert_eq!(run(&of(&name, true), 99), Ok(Exported { earlier, ..whole }), "{cuts:?}");
            assert_eq!(bytes(&name), bytes("whole"), "{format:?} {cuts:?}");
            assert_eq!(names(folder.path()).iter().filter(|it| it.contains(".export")).count(), 0);
            for resume in [false, true] {
                let refused = run(&of(&name, resume), 99).unwrap_err();
                assert!(refused.contains("already exists"), "{refused}");
            }
        }
    }
}

#[test]
fn every_state_that_is_kept_leads_to_the_same_file() {
    for limit in [None, Some(4), Some(9), Some(10)] {
        let asked = Export {
            job: "a".to_owned(),
            file: Some("unused".into()),
            format: Format::Plain,
            limit,
            resume: false,
        };
        let kept = std::cell::RefCell::new(Vec::new());
        let from = |next: i32| Numbers::new(next, 99);
        let mut whole = Vec::new();
        copy(&asked, from(0), &mut whole, ExportState::default(), &NeverInterrupts, |_, state| {
            kept.borrow_mut().extend(state.cloned());
            Ok(())
        })
        .unwrap();
        let kept = kept.into_inner();
        assert!(!kept.is_empty());
        for state in kept {
            // The run was killed after saving this state, but had written the whole file.
            let mut again = whole[..usize::try_from(state.bytes).unwrap()].to_vec();
            let next = state
                .resume_position
                .as_deref()
                .map_or(0, |resume_position| resume_position.parse().unwrap());
            copy(&asked, from(next), &mut again, state, &NeverInterrupts, |_, _| Ok(())).unwrap();
            assert_eq!(again, whole, "{limit:?} from {next}");
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_fails_before_its_first_page_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    run(&asked(&file, false), 0).unwrap_err();
    run(&asked(&file, true), 0).unwrap_err();
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_run_that_was_killed_at_its_end_is_known_to_be_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let (part, state) = (beside(&file, PART), beside(&file, STATE));
    let whole = run(&asked(&file, false), 99).unwrap();
    run(&asked(&folder.path().join("b"), false), 1).unwrap_err();
    let cut: ExportState = state::load(&folder.path().join("b.export-state")).unwrap().unwrap();
    let content = ContentFingerprint::up_to(&File::open(&file).unwrap(), whole.bytes).unwrap();
    let (documents, bytes) = (whole.documents, whole.bytes);
    let finished = ExportState { documents, bytes, content, is_finished: true, ..cut };
    // The run was killed before the rename, after it, or when the file had both names.
    for place in 0..3 {
        state::save(&state, &finished).unwrap();
        match place {
            0 => std::fs::rename(&file, &part).unwrap(),
            1 => {}
            _ => std::fs::hard_link(&file, &part).unwrap(),
        }
        let again = run(&asked(&file, true), 0).unwrap();
        assert_eq!(again, Exported { earlier: documents, was_whole: true, ..whole });
        assert!(file.exists() && !part.exists() && !state.exists(), "{place}");
    }
    // A file that the export has not written exists under the final name.
    state::save(&state, &finished).unwrap();
    std::fs::write(&file, vec![b'x'; usize::try_from(bytes).unwrap()]).unwrap();
    let refused = run(&asked(&file, true), 99).unwrap_err();
    assert!(refused.contains("first bytes have changed"), "{refused}");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let (part, state) = (beside(&file, PART), beside(&file, STATE));
    run(&asked(&file, false), 2).unwrap_err();
    let refused = run(&asked(&file, false), 99).unwrap_err();
    assert!(refused.contains("is unfinished"), "{refused}");
    let other = Export { job: "b".to_owned(), ..asked(&file, true) };
    assert!(run(&other, 99).unwrap_err().contains("belongs to a different export"));
    // The collection was dropped and recreated since the interrupted run.
    let open = |_: Option<&str>, _: Option<u64>| -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Numbers { id: "two".to_owned(), ..*Numbers::new(0, 99) }))
    };
    let refused = export(&asked(&file, true), open, &NeverInterrupts, &mut |_| {}).unwrap_err();
    assert!(refused.contains("created again"), "{refused}");
    // The incomplete file was changed or removed since the interrupted run.
    let kept = std::fs::read(&part).unwrap();
    for (content, want) in [
        (kept[..5].to_vec(), "and has 5"),
        (kept.iter().map(|byte| byte ^ 1).collect(), "first bytes have changed"),
    ] {
        std::fs::write(&part, content).unwrap();
        let refused = run(&asked(&file, true), 99).unwrap_err();
        assert!(refused.contains(want), "{refused}");
    }
    std::fs::remove_file(&part).unwrap();
    assert!(run(&asked(&file, true), 99).unwrap_err().contains("cannot write"));
    // Nothing is written through links.
    let victim = folder.path().join("victim");
    std::fs::write(&victim, &kept).unwrap();
    std::os::unix::fs::symlink(&victim, &part).unwrap();
    assert!(run(&asked(&file, true), 99).unwrap_err().contains("symbolic link"));
    std::fs::remove_file(&state).unwrap();
    assert!(run(&asked(&file, false), 99).unwrap_err().contains("symbolic link"));
    std::fs::remove_file(&state).unwrap();
    std::fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &file).unwrap();
    assert!(run(&asked(&file, false), 99).unwrap_err().contains("already exists"));
    assert_eq!(std::fs::read(&victim).unwrap(), kept);
}
