//! One simulated history: three nodes, three replicas and a network, first with faults, then
//! without. All random choices depend on the seed only.

use std::collections::BTreeMap;

use bytes::Bytes;
use fastrand::Rng;
use uuid::Uuid;

use super::{
    checker::{Checked, Checker},
    faults::{Faults, MS, Trouble},
    network::{Network, Step},
    node::Node,
    replicas::{REPLICAS, Replicas},
};
use crate::{
    outbox::{LedgerResult, Outbox, Token},
    request::{Request, Unanswered},
    rules::Rules,
    settings::Settings,
};

/// Number of nodes that may own the shard.
const NODES: usize = 3;
/// Duration of the phase with faults, and the time until something has to be committed after it:
/// enough for the expiry of a lease, the margin and a claim, three times in a row.
const TROUBLE: u64 = 2_500 * MS;
const RECOVERY: u64 = 1_500 * MS;
/// Interval between ticks of a node, and the timeout of a request.
const TICK: u64 = 4 * MS;
const TIMEOUT: u64 = 60 * MS;
/// Rates of boot clocks in millionths: the margin covers the difference of any two.
const PACES: [u64; 3] = [930_000, 1_000_000, 1_070_000];

#[derive(Debug)]
enum Event {
    Tick(usize),
    Network(Step),
    Timeout((usize, u64), Token),
    Trouble,
    Resume(usize, u64),
    Restart(usize),
    MendTree(usize, u64),
    Connect(usize),
    ReplicaUp(usize),
    Forget,
    Calm,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    pub(super) takeovers: u64,
    pub(super) acknowledgements: u64,
    pub(super) reads: u64,
    pub(super) events: u64,
}

struct World {
    rng: Rng,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
    nodes: Vec<Node>,
    network: Network,
    checker: Checker,
    values: u64,
    /// Number of ticks out of eight in which an entry is appended.
    writes: u8,
    /// Whether clients send no writes for now.
    quiet: bool,
    calm: bool,
}

/// Runs the history of a seed; fails with a description of the violation.
pub(super) fn run(seed: u64, rules: Rules) -> Result<Summary, String> {
    live(seed, World::new(seed, rules))
}

/// Runs the history of a seed, with an operator who removes random nodes during the phase with
/// faults; fails with a description of the violation.
pub(super) fn run_with_forgetting(seed: u64, rules: Rules) -> Result<Summary, String> {
    let mut world = World::new(seed, rules);
    world.after(0, Event::Forget);
    live(seed, world)
}

fn live(seed: u64, mut world: World) -> Result<Summary, String> {
    let mut before = 0;
    let fail = |text: String, world: &World| {
        Err(format!("history {seed}, at {} us: {text}", world.now / 1000))
    };
    while let Some(((at, _), event)) = world.events.pop_first() {
        world.now = at;
        if let Event::Calm = event {
            before = world.checker.length();
        }
        if let Err(text) = world.happen(event) {
            return fail(text, &world);
        }
        if TROUBLE + RECOVERY < world.now {
            break;
        }
    }
    if world.checker.length() <= before {
        return fail("no operation is committed any more".into(), &world);
    }
    Ok(Summary {
        takeovers: world.checker.takeovers,
        acknowledgements: world.checker.acknowledgements,
        reads: world.checker.reads,
        events: world.count,
    })
}

impl World {
    fn new(seed: u64, rules: Rules) -> Self {
        let mut rng = Rng::with_seed(seed);
        let mut ids: Vec<Uuid> = (1..=NODES as u128).map(Uuid::from_u128).collect();
        let records = ids.clone();
        if rng.u8(..8) == 0 {
            // A copy of the first node's data directory on another machine.
            ids.extend_from_within(..1);
        }
        let segment_bytes = rng.choice([30, 100, 1000]).unwrap_or(100);
        let node = |(number, id): (usize, &Uuid)| {
            let number = number as u64;
            let mut settings = Settings::new(Uuid::from_u128(9), 0, *id, Bytes::new());
            settings.rules = rules;
            for time in [
                &mut settings.lease,
                &mut settings.margin,
                &mut settings.beat,
                &mut settings.poll_interval,
                &mut settings.read,
                &mut settings.idle,
                &mut settings.again,
            ] {
                *time /= 10;
            }
            // Histories are short, and frequent reads find more faults of readers.
            (settings.rest, settings.nodes) = (settings.poll_interval, settings.poll_interval);
            settings.abandon = rng.choice([0, 100 * MS, 1_200 * MS]).unwrap_or(0);
            settings.patience = number * rng.choice([0, 20 * MS, 50 * MS]).unwrap_or(0);
            (settings.part_bytes, settings.segment_bytes) = (50, segment_bytes);
            settings.read_bytes = 300;
            let (start, wall) = (rng.u64(..1000 * MS), rng.u64(..20_000 * MS));
            let pace = rng.choice(PACES).unwrap_or(1_000_000);
            Node::new(settings, number, start, pace, wall)
        };
        let nodes: Vec<Node> = ids.iter().enumerate().map(node).collect();
        let faults = Faults::new(&mut rng);
        let network = Network::new(Replicas::new(&records), faults);
        let (events, checker) = (BTreeMap::new(), Checker::default());
        let writes = rng.choice([1, 2, 5]).unwrap_or(1);
        let (now, count, values, quiet, calm) = (0, 0, 0, false, false);
        let mut world =
            Self { rng, now, events, count, nodes, network, checker, values, writes, quiet, calm };
        for at in 0..ids.len() {
            let delay = world.rng.u64(..20 * MS);
            world.after(delay, Event::Restart(at));
            world.after(delay, Event::Tick(at));
        }
        world.after(0, Event::Trouble);
        world.after(TROUBLE, Event::Calm);
        world
    }

    fn after(&mut self, delay: u64, event: Event) {
        self.count += 1;
        self.events.insert((self.now + delay, self.count), event);
    }

    fn happen(&mut self, event: Event) -> Checked {
        match event {
            Event::Tick(at) => {
                self.after(TICK, Event::Tick(at));
                self.tick(at)?;
            }
            Event::Network(step) => {
                let answer = self.network.step(&mut self.rng, step, &mut self.checker)?;
                if let Some((from, token, answer)) = answer {
                    self.answer(from, token, answer)?;
                }
            }
            Event::Timeout(from, token) => {
                self.answer(from, token, Err(Unanswered("no answer in time".into())))?;
            }
            Event::Trouble if self.calm => {}
            Event::Trouble => {
                self.trouble();
                let pause = self.network.faults.pause;
                let delay = self.rng.u64(..pause);
                self.after(delay, Event::Trouble);
            }
            Event::Resume(at, life) => self.resume(at, life)?,
            Event::Restart(at) => {
                if self.nodes[at].member.is_none() {
                    let same_boot = self.rng.u8(..5) != 0;
                    self.nodes[at].start(same_boot);
                }
            }
            Event::MendTree(at, life) => self.mend_tree(at, life),
            Event::Connect(at) => {
                (self.nodes[at].cut, self.nodes[at].cut_swaps) = (false, false);
            }
            Event::ReplicaUp(replica) => self.network.replicas.up[replica] = true,
            Event::Forget if self.calm => {}
            Event::Forget => {
                self.forget();
                let delay = self.rng.u64(..600 * MS);
                self.after(delay, Event::Forget);
            }
            Event::Calm => self.calm()?,
        }
        for (delay, step) in std::mem::take(&mut self.network.steps) {
            self.after(delay, Event::Network(step));
        }
        Ok(())
    }

    /// Repairs a failed tree, possibly without its last entries.
    fn mend_tree(&mut self, at: usize, life: u64) {
        let lost = self.rng.usize(..5);
        let node = &mut self.nodes[at];
        if node.tree_fails && node.life == life {
            node.mend_tree(node.tree.len().saturating_sub(lost));
        }
    }

    fn calm(&mut self) -> Checked {
        (self.calm, self.quiet) = (true, false);
        self.network.faults = Faults::none();
        self.network.replicas.up = [true; REPLICAS];
        for at in 0..self.nodes.len() {
            (self.nodes[at].cut, self.nodes[at].cut_swaps) = (false, false);
            self.resume(at, self.nodes[at].life)?;
            self.mend_tree(at, self.nodes[at].life);
            if self.nodes[at].member.is_none() {
                self.nodes[at].start(true);
            }
        }
        Ok(())
    }

    fn tick(&mut self, at: usize) -> Checked {
        let now = self.now;
        let node = &mut self.nodes[at];
        if node.paused || node.member.is_none() {
            return Ok(());
        }
        let boot = node.boot(now);
        node.read(now, &mut self.checker)?;
        if let Some(member) = &mut node.member {
            member.tick(boot, &mut node.machine);
        }
        node.act(now, &mut self.checker)?;
        if !self.quiet && self.rng.u8(..8) < self.writes {
            self.values += 1;
            let padding = vec![0; self.rng.usize(..60)];
            let body = [&self.values.to_le_bytes()[..], &padding].concat();
            node.append(now, Bytes::from(body));
        }
        self.carry(at);
        Ok(())
    }

    /// Hands a node's new requests to the network.
    fn carry(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let Some(member) = &mut node.member else { return };
        let (life, cut, cut_swaps) = (node.life, node.cut, node.cut_swaps);
        for ask in member.take_requests() {
            self.after(TIMEOUT, Event::Timeout((at, life), ask.token));
            let swap = !matches!(
                ask.request,
                Request::Append { .. }
                    | Request::ReadShard { .. }
                    | Request::ReadEntries { .. }
                    | Request::ReadNodes
            );
            if !(cut || cut_swaps && swap) {
                self.network.ask(&mut self.rng, (at, life), ask);
            }
        }
    }

    /// Delivers a reply or a timeout to a node.
    fn answer(&mut self, (at, life): (usize, u64), token: Token, answer: LedgerResult) -> Checked {
        let now = self.now;
        // Requests of the simulated operator have no node; their replies are ignored.
        let Some(node) = self.nodes.get_mut(at) else { return Ok(()) };
        let boot = node.boot(now);
        let lost = node.cut && answer.is_ok();
        if node.life != life || lost {
            return Ok(());
        }
        if node.paused {
            node.held.push((token, answer));
            return Ok(());
        }
        if let Some(member) = &mut node.member {
            member.handle_reply(token, answer, boot, &mut node.machine);
        }
        node.act(now, &mut self.checker)?;
        node.read(now, &mut self.checker)?;
        self.carry(at);
        Ok(())
    }

    /// Resumes a paused node and delivers the waiting replies in random order.
    fn resume(&mut self, at: usize, life: u64) -> Checked {
        let node = &mut self.nodes[at];
        if !node.paused || node.life != life {
            return Ok(());
        }
        node.paused = false;
        node.read(self.now, &mut self.checker)?;
        let mut held = std::mem::take(&mut node.held);
        self.rng.shuffle(&mut held);
        for (token, answer) in held {
            self.answer((at, life), token, answer)?;
        }
        Ok(())
    }

    /// Removes a random node in any state.
    fn forget(&mut self) {
        let records = self.network.replicas.nodes.values().filter_map(|node| node.latest());
        let all: Vec<_> =
            records.map(|record| (record.node, record.incarnation, record.beat)).collect();
        let Some((node, incarnation, beat)) = self.rng.choice(all) else { return };
        let mut operator = Outbox::new(u64::MAX);
        operator.enqueue(Request::Forget { node, incarnation, beat });
        for ask in operator.take() {
            self.network.ask(&mut self.rng, (usize::MAX, 0), ask);
        }
    }

    /// Starts a random failure, mostly at the owner.
    fn trouble(&mut self) {
        self.quiet = self.rng.u8(..3) == 0;
        let owner = self
            .nodes
            .iter()
            .position(|node| node.member.as_ref().is_some_and(|member| member.owner(0).is_some()));
        let any = self.rng.usize(..self.nodes.len());
        let at = owner.filter(|_| self.rng.u8(..3) != 0).unwrap_or(any);
        let longest = self.rng.choice(&self.network.faults.longest).copied().unwrap_or(MS);
        let time = self.rng.u64(..longest);
        let node = &mut self.nodes[at];
        match self.rng.choice(&self.network.faults.troubles).copied().unwrap_or(Trouble::Pause) {
            Trouble::Pause if node.member.is_some() && !node.paused => {
                node.paused = true;
                let life = node.life;
                self.after(time, Event::Resume(at, life));
            }
            Trouble::Kill if node.member.is_some() => {
                let lost = self.rng.usize(..20);
                node.kill(node.tree.len().saturating_sub(lost));
                self.after(time, Event::Restart(at));
            }
            Trouble::Cut => {
                node.cut = true;
                self.after(time, Event::Connect(at));
            }
            Trouble::CutSwaps => {
                node.cut_swaps = true;
                self.after(time, Event::Connect(at));
            }
            Trouble::ReplicaDown => {
                let replica = self.rng.usize(..REPLICAS);
                self.network.replicas.up[replica] = false;
                self.after(time, Event::ReplicaUp(replica));
            }
            Trouble::TreeFails if node.member.is_some() && !node.paused && !node.tree_fails => {
                node.fail_tree(self.now);
                let life = node.life;
                self.after(time, Event::MendTree(at, life));
            }
            Trouble::HandOver if !node.paused => {
                if let Some(member) = &mut node.member {
                    member.hand_over(0);
                }
            }
            _ => {}
        }
    }
}
