//! Groups kept, that is, appended without a sync: a power cut loses only whole groups at the end,
//! written after the last sync, whichever sectors were lost; every other failure loses nothing.

use store::Kind;

use super::{
    run::{Run, open, options},
    sim_disk::SimDisk,
};
use crate::{contract::Journal, options::JournalOptions};

/// Creates a run that appends all groups without a sync.
fn unsynced_run() -> Run {
    let mut run = Run::new();
    run.unsynced = true;
    run
}

#[test]
fn random_histories_of_kept_groups() {
    let mut lost = 0;
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut run = unsynced_run();
        for _ in 0..80 {
            match random.u32(..24) {
                0 => run.kill(),
                1 => {
                    let answered = run.list.len();
                    run.cut_power(&mut random);
                    run.open();
                    lost += usize::from(run.list.len() < answered);
                }
                2 | 3 => {
                    let end = run.list.len() as u64;
                    run.truncate_before(random.u64(..end + 2));
                }
                4 => run.fail_nth(random.u64(1..12), random.bool(), false),
                5 => {
                    run.heal();
                }
                6 => run.journal = None,
                7 => {
                    run.compare();
                }
                8..=10 => run.sync(),
                way => {
                    let sizes = [(); 3].map(|()| random.usize(..5_000));
                    let sizes = &sizes[..random.usize(1..=3)];
                    if way < 13 { run.append(sizes) } else { run.append_unsynced(sizes) }
                }
            }
            run.reopen_if_stopped();
        }
        run.heal();
        run.cut_power(&mut random);
        assert!(run.open(), "seed {seed}");
    }
    assert!(50 < lost, "power cuts took something {lost} times only");
}

#[test]
fn what_was_synced_is_missed() {
    let mut run = unsynced_run();
    for _ in 0..6 {
        run.append_unsynced(&[4_000, 3_000]);
    }
    run.sync();
    let image = run.disk.image();
    let elsewhere =
        |known_durable| JournalOptions { durable_elsewhere: true, ..options(known_durable) };
    let opened = |image: &_, known| open(&SimDisk::of_image(image), &elsewhere(known));
    assert_eq!(opened(&image, 12).unwrap().end(), 12);
    let mut missed = 0;
    for name in image.keys().filter(|name| name.ends_with(".journal")) {
        let mut damaged = image.clone();
        // Damages a byte of the segment's first group.
        damaged.get_mut(name).unwrap()[20_000] ^= 1;
        let opening = opened(&damaged, 12);
        let Err(error) = opening else { continue };
        missed += 1;
        assert_eq!(error.kind, Kind::Corrupt, "{name}");
        // With watermark 0 no entry is known to have been synced, so the damage is not an error.
        let end = opened(&damaged, 0).unwrap().end();
        assert!(end < 12, "{name}: {end}");
        assert_eq!(opened(&damaged, end).unwrap().end(), end, "{name}");
    }
    assert!(0 < missed);
}

#[test]
fn a_journal_whose_beginning_is_lost_is_refused() {
    let mut run = unsynced_run();
    for _ in 0..6 {
        run.append_unsynced(&[9_000]);
    }
    let mut image = run.disk.image();
    image.remove("1.journal");
    let elsewhere = JournalOptions { durable_elsewhere: true, ..options(1) };
    let error = open(&SimDisk::of_image(&image), &elsewhere).unwrap_err();
    assert_eq!(error.kind, Kind::Corrupt, "{error}");
}
