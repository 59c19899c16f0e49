//! Exports that are cut after each page, out of pages in memory.

use document::doc;

use super::*;
use crate::place::Calm;

/// Numbers up to ten, three a page; the page that is asked for after `left` others fails.
struct Numbers {
    next: i32,
    left: usize,
}

impl Source for Numbers {
    fn next_page(&mut self) -> Result<Page, String> {
        self.left = self.left.checked_sub(1).ok_or("cut")?;
        let numbers = self.next..(self.next + 3).min(10);
        self.next = numbers.end;
        let documents = numbers.map(|n| doc! { "_id": n }.to_buf()).collect();
        Ok(Page { documents, mark: (self.next < 10).then(|| self.next.to_string()) })
    }
}

fn run(asked: &Export, left: usize) -> Result<Exported, String> {
    let open = |mark: Option<&str>, _: Option<u64>| -> Result<Box<dyn Source>, String> {
        let next = mark.map_or(0, |mark| mark.parse().unwrap());
        Ok(Box::new(Numbers { next, left }))
    };
    export(asked, open, &Calm)
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
        for (at, cuts) in [[0, 1], [1, 0], [1, 1]].into_iter().enumerate() {
            let name = format!("cut{at}");
            run(&of(&name, false), cuts[0]).unwrap_err();
            run(&of(&name, true), cuts[1]).unwrap_err();
            // What is not durable by the state is not believed.
            let file = folder.path().join(&name);
            let torn = [bytes(&name), b"{\"_id\":".to_vec()].concat();
            std::fs::write(&file, torn).unwrap();
            assert_eq!(run(&of(&name, true), 99), Ok(whole), "{format:?} {cuts:?}");
            assert_eq!(bytes(&name), bytes("whole"), "{format:?} {cuts:?}");
            let again = run(&of(&name, true), 0).unwrap();
            assert!(again.was_whole && again.bytes == whole.bytes);
            let refused = run(&of(&name, false), 99).unwrap_err();
            assert!(refused.contains("is there already"), "{refused}");
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
        let from = |next: i32| Box::new(Numbers { next, left: 99 });
        let mut whole = Vec::new();
        copy(&asked, from(0), &mut whole, ExportState::default(), &Calm, |_, state| {
            kept.borrow_mut().extend(state.cloned());
            Ok(())
        })
        .unwrap();
        let kept = kept.into_inner();
        assert!(!kept.is_empty());
        for state in kept {
            // Killed behind it, with all of the file written.
            let mut again = whole[..usize::try_from(state.bytes).unwrap()].to_vec();
            let next = state.mark.as_deref().map_or(0, |mark| mark.parse().unwrap());
            copy(&asked, from(next), &mut again, state, &Calm, |_, _| Ok(())).unwrap();
            assert_eq!(again, whole, "{limit:?} from {next}");
        }
    }
}
