//! Measures two servers in turn, in alternating order, so that changes of the machine over time
//! (heat, caches, other work) affect both alike. The code is independent of servers and workloads.

use crate::{
    error::Result,
    figures::{Figures, median_figures},
    report::Pair,
};

/// Returns the medians of `rounds` rounds of one workload on two servers. `once` measures one
/// server in one round; its first failure ends the comparison. At least one round is run, so the
/// result is never `None`.
pub(crate) async fn in_turn<T>(
    rounds: usize,
    ours: &mut T,
    peer: &mut T,
    once: impl AsyncFn(&mut T, usize) -> Result<Figures>,
) -> Result<Option<Pair>> {
    let mut runs = [Vec::new(), Vec::new()];
    for round in 0..rounds.max(1) {
        // In even rounds our server is measured first, in odd ones last.
        let mut sides = [(0, &mut *ours), (1, &mut *peer)];
        if round % 2 == 1 {
            sides.reverse();
        }
        for (side, target) in sides {
            runs[side].push(once(target, round).await?);
        }
    }
    let [ours, peer] = runs.map(|runs| median_figures(&runs));
    Ok(ours.zip(peer).map(|(ours, peer)| Pair { ours, peer }))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn sides_take_turns() {
        let order = RefCell::new(String::new());
        let once = async |side: &mut char, round: usize| {
            order.borrow_mut().push(*side);
            let rate = if *side == 'o' { 10.0 } else { 1.0 } * (round + 1) as f64;
            Ok(Figures { rate, ..Figures::default() })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (ours, peer) = (&mut 'o', &mut 'p');
        let pair = runtime.block_on(in_turn(3, ours, peer, once)).unwrap().unwrap();
        assert_eq!((pair.ours.rate, pair.peer.rate), (20.0, 2.0));
        assert_eq!(*order.borrow(), "oppoop");
    }
}
