//! Random histories of a container whose paths are indexed on demand: paths are indexed, partly
//! built or dropped in any combination. Every page of every query must have the same results, end,
//! charge and index names as in a container with all paths indexed from the start, and a full scan
//! must return the same results.

use std::sync::Arc;

use document::{DocRef, Document, Value, ValueRef, json};
use engine::{
    Collection, ContainerDefinition, CreationOrder, DefaultTtl, Error, IndexSpec, IndexUse,
    ItemAction, ItemKey, ItemRange, ItemWrite, ItemWriter, Kind, Lifetime, Model, Namespace,
    Partition, Policy, Scan, ScanOrder, VersionMatch,
};
use evaluation::Context;
use select::{
    plan::Select,
    sarg::PathStep,
    statement::{PageLimit, Resume, Run},
};
use test_kit::{Kit, Task, ready};

use crate::queries::{Feed, cases, composite, object, pick, policy, query};

struct Honour;

impl ItemWriter for Honour {
    fn lifetime_of(&self, _: DefaultTtl, document: DocRef<'_>) -> Result<Lifetime, Error> {
        Ok(Lifetime::from_ttl(document.get("ttl")))
    }
}

/// A page as the client sees it.
#[derive(Debug, PartialEq)]
struct Shown {
    values: Vec<String>,
    more: bool,
    /// Number of rows for which the page is charged.
    rows: u64,
    indexes: Vec<IndexUse>,
}

struct Shelf {
    kit: Kit,
    /// Whether all paths have been indexed from the beginning.
    built: bool,
    /// An index build that was stopped.
    under_way: Option<Task<Result<(), Error>>>,
}

impl Shelf {
    fn new(built: bool, policy: &Policy, composite: Option<&IndexSpec>) -> Self {
        let shelf = Self { kit: Kit::default(), built, under_way: None };
        let definition = shelf.definition(policy, composite);
        ready(shelf.kit.engine.create_container(&Namespace::new("db", "items"), &definition))
            .unwrap();
        shelf
    }

    fn definition(&self, policy: &Policy, composite: Option<&IndexSpec>) -> ContainerDefinition {
        let paths = match self.built {
            true => IndexSpec::over_policy("paths", policy.clone()),
            false => IndexSpec::on_demand("paths", policy.clone()),
        };
        ContainerDefinition {
            default: DefaultTtl::Infinite,
            partition: Partition { hash_bytes: 1, values: 1 },
            indexes: std::iter::once(paths).chain(composite.cloned()).collect(),
            retention_s: None,
            options: Document::new(),
        }
    }

    fn container(&self) -> Arc<Collection> {
        let name = Namespace::new("db", "items");
        self.kit.engine.expect_collection(Model::Items, &name).unwrap()
    }

    fn replace_policy(&self, policy: &Policy, composite: Option<&IndexSpec>) {
        let definition = self.definition(policy, composite);
        ready(self.kit.engine.replace_container(&self.container(), &definition, None)).unwrap();
        if self.built {
            ready(self.kit.engine.transform_indexes(&self.container())).unwrap();
        }
    }

    fn write(&self, id: &str, action: ItemAction) {
        let key = ItemKey::new(&[id.len() as u8], &[ValueRef::Null], id);
        let write = ItemWrite { key, action, if_match: VersionMatch::Any };
        let done = ready(self.kit.engine.write_items(&self.container(), &[write], &Honour));
        // An item to be removed may have expired, which is the only permitted failure.
        if let Err(failure) = done {
            assert!(matches!(failure.error.kind, Kind::NotFound(_)), "{:?}", failure.error);
        }
    }

    /// Reads one page. Returns the page and the position at which the next page starts.
    fn page(
        &self,
        select: &Arc<Select>,
        items: usize,
        no_index: bool,
        from: Option<(Resume, CreationOrder)>,
    ) -> Result<(Shown, Option<(Resume, CreationOrder)>), Kind> {
        let streams = select.streams_rows();
        let first = if streams { CreationOrder::WhereFew } else { CreationOrder::Never };
        let (resume, creation_order) =
            from.map_or((None, first), |(resume, creation_order)| (Some(resume), creation_order));
        let limit = PageLimit { items, bytes: usize::MAX };
        let run = Run::new(Arc::clone(select), Context::default(), resume, limit);
        let scan = Scan {
            sarg: select.sarg().clone(),
            after: run.start_after(),
            creation_order,
            order: select.order_paths().unwrap_or_default(),
            seek: run.seek_position(),
            no_index,
            ..Scan::of(ItemRange::all())
        };
        let mut feed = Feed(run, streams, ScanOrder::ByKey);
        let context = Context::default();
        let scanned =
            ready(self.kit.engine.scan_items(&self.container(), &scan, &context, &mut feed));
        let scanned = scanned.map_err(|error| error.kind)?;
        let creation_order = match feed.2 {
            ScanOrder::ByCreation => CreationOrder::Always,
            ScanOrder::ByKey | ScanOrder::AsRequested => CreationOrder::Never,
        };
        let page = feed.0.finish_page(scanned.ended).map_err(|error| Error::from(error).kind)?;
        let values: Vec<String> =
            page.values.iter().map(|value| json::to_string(value.as_ref())).collect();
        let rows = if scanned.ordered { values.len() as u64 } else { scanned.items };
        let shown = Shown { values, more: page.resume.is_some(), rows, indexes: scanned.indexes };
        let resume = page.resume.map(|resume| Resume::from_bytes(&resume.to_bytes()).unwrap());
        Ok((shown, resume.map(|resume| (resume, creation_order))))
    }

    /// One step of path maintenance, which changes no item: requests paths, builds them, stops a
    /// build, continues it, or restarts.
    fn maintain_paths(&mut self, random: &mut fastrand::Rng) {
        let (engine, container) = (self.kit.engine.clone(), self.container());
        match random.u8(..6) {
            0 | 1 => {
                let texts = ["a", "b", "c", "a.b", "a.[]", "b.[]", "b.c", "b.[].a"];
                let path = |text: &str| {
                    let step = |part| match part {
                        "[]" => PathStep::Elements,
                        name => PathStep::Property(String::from(name)),
                    };
                    text.split('.').map(step).collect()
                };
                let paths = (0..random.usize(1..3)).map(|_| path(pick(random, &texts)));
                engine.want_paths(&container, paths.collect());
            }
            2 => ready(engine.keep_wanted_paths(&container)).unwrap(),
            3 if self.under_way.is_none() => {
                self.kit.store.turnstile().stop_nth(random.u64(1..6));
                let mut task = Task::new(async move { engine.keep_wanted_paths(&container).await });
                let done = task.poll();
                self.kit.store.turnstile().disarm();
                match done {
                    Some(done) => done.unwrap(),
                    None => self.under_way = Some(task),
                }
            }
            4 => self.finish_build(),
            _ => {
                self.under_way = None;
                self.kit.store.turnstile().open();
                self.kit.restart();
            }
        }
    }

    fn finish_build(&mut self) {
        self.kit.store.turnstile().open();
        if let Some(task) = self.under_way.take() {
            task.finish().unwrap();
        }
    }

    fn check(&self) {
        let report = ready(self.kit.engine.check_collection(&self.container())).unwrap();
        assert_eq!(report.differences.listed, Vec::<String>::new());
    }
}

/// The container under test, and a container with all paths indexed.
struct Both {
    kept: Shelf,
    built: Shelf,
    ids: u32,
}

impl Both {
    fn new(random: &mut fastrand::Rng) -> Self {
        let (policy, composite) = (policy(random), composite(random));
        let [kept, built] =
            [false, true].map(|built| Shelf::new(built, &policy, composite.as_ref()));
        let mut both = Self { kept, built, ids: 0 };
        for _ in 0..random.usize(1..14) {
            both.change_items(random);
        }
        both
    }

    /// Writes or removes the same item in both containers.
    fn change_items(&mut self, random: &mut fastrand::Rng) {
        if random.u8(..4) == 0 && 0 < self.ids {
            let id = format!("i{}", random.u32(..self.ids));
            for shelf in [&self.kept, &self.built] {
                shelf.write(&id, ItemAction::Delete);
            }
            return;
        }
        let mut document = object(random, 2);
        let id = match random.bool() && 0 < self.ids {
            true => format!("i{}", random.u32(..self.ids)),
            false => {
                self.ids += 1;
                format!("i{}", self.ids - 1)
            }
        };
        document.push("id", id.as_str());
        if random.u8(..3) == 0 {
            document.push("ttl", Value::Int64(random.i64(1..5)));
        }
        for shelf in [&self.kept, &self.built] {
            shelf.write(&id, ItemAction::Upsert(document.to_buf()));
        }
    }

    /// Performs a random change between two queries.
    fn step(&mut self, random: &mut fastrand::Rng) {
        match random.u8(..24) {
            0..=9 => self.kept.maintain_paths(random),
            10..=17 => self.change_items(random),
            18..=20 => {
                let to = self.kept.kit.now_ms() + random.i64(1..1_500);
                for shelf in [&self.kept, &self.built] {
                    shelf.kit.move_to(to);
                }
            }
            21 => {
                self.kept.finish_build();
                let (policy, composite) = (policy(random), composite(random));
                for shelf in [&self.kept, &self.built] {
                    shelf.replace_policy(&policy, composite.as_ref());
                }
            }
            22 if random.u8(..8) == 0 => {
                self.kept.finish_build();
                let to = self.kept.kit.now_ms() + 3 * 86_400_000;
                for shelf in [&self.kept, &self.built] {
                    shelf.kit.move_to(to);
                }
                ready(self.kept.kit.engine.maintain_paths(Some(2))).unwrap();
            }
            _ => self.kept.check(),
        }
    }

    /// Runs a query in both containers. Returns the number of its pages, and whether an index was
    /// used.
    fn ask(&mut self, text: &str, random: &mut fastrand::Rng) -> (usize, bool) {
        let select = cosmos_sql::compile(text, &[]);
        let select = Arc::new(select.unwrap_or_else(|error| panic!("{text}: {error:?}")));
        let items = random.usize(1..6);
        let (mut found, mut pages, mut by_index) = (Vec::new(), 0, false);
        let (mut here, mut there) = (None, None);
        loop {
            let kept = self.kept.page(&select, items, false, here.take());
            let built = self.built.page(&select, items, false, there.take());
            match (kept, built) {
                (Ok((kept, next)), Ok((built, after))) => {
                    assert_eq!(kept, built, "{text}");
                    by_index |= !kept.indexes.is_empty();
                    found.extend(kept.values);
                    pages += 1;
                    (here, there) = (next, after);
                }
                (Err(kept), Err(built)) => {
                    assert_eq!(kept, built, "{text}");
                    return (pages, by_index);
                }
                (kept, built) => panic!("{text}: {kept:?}, and with all entries {built:?}"),
            }
            if here.is_none() {
                break;
            }
            // Paths may start and stop being indexed between two pages.
            if random.u8(..4) == 0 {
                self.kept.maintain_paths(random);
            }
        }
        let whole = self.kept.page(&select, usize::MAX, true, None);
        assert_eq!(whole.map(|(whole, _)| whole.values), Ok(found), "{text}");
        (pages, by_index)
    }
}

#[test]
fn which_paths_are_kept_changes_nothing_that_a_client_sees() {
    let mut random = fastrand::Rng::with_seed(15);
    let (mut run, mut paged, mut used) = (0, 0, 0);
    while run < cases() {
        let mut both = Both::new(&mut random);
        for _ in 0..250 {
            if random.u8(..3) == 0 {
                both.step(&mut random);
            }
            let (pages, by_index) = both.ask(&query(&mut random), &mut random);
            run += 1;
            paged += usize::from(1 < pages);
            used += usize::from(by_index);
        }
        both.kept.finish_build();
        both.kept.check();
    }
    assert!(
        run / 20 < paged && run / 5 < used,
        "{paged} of several pages, {used} by index, of {run}"
    );
}
