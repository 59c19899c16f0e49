//! Every call of the disk fails once, and the power fails after every call.

use super::world::{World, small_options};
use crate::Error;

const STEPS: u64 = 220;

/// Runs a history in which a call of the disk fails. Returns whether a call failed.
fn run(seed: u64, fails: Option<(u64, bool)>) -> (World, bool) {
    let mut world = World::new(seed, small_options());
    if let Some((call, stays)) = fails {
        world.disk.fail_after(call, stays);
    }
    let mut failed = false;
    for _ in 0..STEPS {
        match world.step() {
            Ok(()) => {}
            Err(Error::Io { .. }) => {
                failed = true;
                if fails.is_some_and(|(_, stays)| stays) {
                    break;
                }
            }
            Err(Error::Stopped(_)) => {
                failed = true;
                if fails.is_some_and(|(_, stays)| stays) {
                    break;
                }
                // The list of files could not be written: the tree is opened again.
                let disk = world.disk.after_kill();
                world.crash(disk).unwrap();
            }
            Err(error) => panic!("{fails:?}: {error}"),
        }
    }
    (world, failed)
}

/// Returns the number of calls of a history without failures.
fn calls_of(seed: u64) -> u64 {
    let (world, failed) = run(seed, None);
    assert!(!failed);
    world.disk.calls().all
}

#[test]
fn every_failing_call_loses_nothing() {
    for seed in [1, 2] {
        let calls = calls_of(seed);
        assert!(300 < calls, "{calls} calls");
        for call in 0..calls {
            let (mut world, _) = run(seed, Some((call, false)));
            world.disk.heal();
            // What failed silently, such as an unlink, is repaired by the next start.
            let disk = world.disk.after_power_cut(&mut world.random, 0.0);
            world.crash(disk).unwrap_or_else(|error| panic!("call {call}: {error}"));
            assert_eq!(world.tree.verify().unwrap(), []);
        }
    }
}

#[test]
fn a_power_cut_after_every_call_loses_nothing() {
    for seed in [3, 4] {
        let calls = calls_of(seed);
        for call in 0..calls {
            let survives = [0.0, 0.5, 1.0][(call + seed) as usize % 3];
            let (mut world, _) = run(seed, Some((call, true)));
            let disk = world.disk.after_power_cut(&mut world.random, survives);
            world.crash(disk).unwrap_or_else(|error| panic!("call {call}: {error}"));
            assert_eq!(world.tree.verify().unwrap(), []);
            if !call.is_multiple_of(4) {
                continue;
            }
            // A second crash during the start, then the start again.
            world.disk.fail_after(world.random.u64(..20), true);
            let _ = world.reopen();
            let disk = world.disk.after_power_cut(&mut world.random, survives);
            world.crash(disk).unwrap_or_else(|error| panic!("call {call}, again: {error}"));
        }
    }
}

#[test]
fn no_file_is_left_over_after_a_start() {
    for seed in 0..20 {
        let (mut world, _) = run(seed, None);
        let disk = world.disk.after_power_cut(&mut world.random, 0.5);
        world.crash(disk).unwrap();
        world.tree.sweep().unwrap();
        let listed: u64 = world
            .tree
            .shared
            .all_spaces()
            .values()
            .map(|space| space.load().version.file_ids().count() as u64)
            .sum();
        let dropped: u64 = world
            .tree
            .shared
            .dropped
            .lock()
            .iter()
            .map(|space| space.load().version.file_ids().count() as u64)
            .sum();
        let present = world.disk.image().keys().filter(|name| name.ends_with(".ebb")).count();
        assert_eq!(present as u64, listed + dropped);
    }
}

#[test]
fn a_log_that_cannot_be_synced_keeps_tables_behind_it() {
    let mut world = World::new(9, small_options());
    for _ in 0..60 {
        world.step().unwrap();
    }
    world.rules.fail_syncs(true);
    for space in world.tree.spaces() {
        let before = world.tree.first_unflushed(Some(space));
        if before.is_some() {
            assert!(matches!(world.tree.flush(space), Err(Error::Refused(_))));
            assert_eq!(world.tree.first_unflushed(Some(space)), before);
        }
    }
    world.rules.fail_syncs(false);
    for space in world.tree.spaces() {
        world.tree.flush(space).unwrap();
    }
    world.check_all().unwrap();
}
