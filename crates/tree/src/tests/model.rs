//! Random histories against a sorted map, with crashes. `TREE_STEPS` sets the number of steps and
//! `SEED` the first seed.

use super::world::{World, random_options, small_options};

fn number_of(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs one history of this many steps.
fn run(seed: u64, steps: u64) {
    let mut random = fastrand::Rng::with_seed(seed ^ 0xABCD);
    let options =
        if seed.is_multiple_of(3) { small_options() } else { random_options(&mut random) };
    let mut world = World::new(seed, options);
    for step in 0..steps {
        match world.random.u32(..150) {
            0 => {
                let survives = [0.0, 0.5, 0.9, 1.0][world.random.usize(..4)];
                let disk = world.disk.clone().after_power_cut(&mut world.random, survives);
                world.crash(disk).unwrap();
            }
            1 => {
                let disk = world.disk.after_kill();
                world.crash(disk).unwrap();
            }
            _ => world.step().unwrap_or_else(|error| panic!("seed {seed} step {step}: {error}")),
        }
    }
    world.check_all().unwrap();
    assert!(0 < world.crashes || steps < 1_000);
}

#[test]
fn histories_agree_with_a_sorted_map() {
    let first = number_of("SEED", 1);
    let histories = number_of("TREE_STEPS", 40_000).div_ceil(2_000);
    for seed in first..first + histories {
        let ran = std::panic::catch_unwind(|| run(seed, 2_000));
        assert!(ran.is_ok(), "SEED={seed} fails");
    }
}
