//! Memory accounts: the limit, the amount held, and holders that can release memory on request.
//!
//! ```text
//!  0                          common limit        7/8 of the limit       limit
//!  │ all holders                    │ withheld for now │ only small holders │
//! ```
//!
//! Requests never block: they are granted or refused at once, so that no operation waits for memory
//! while holding some. Before a refusal, holders of dispensable memory are asked to release it
//! ([`Relief`]). An account may be part of another one; memory must then fit into both.

use std::{
    fmt, io,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use parking_lot::RwLock;

use crate::pressure::Pressure;

/// A holder of memory that it can release when others need it.
pub trait Relief: Send + Sync {
    /// Releases at least this many bytes, if the holder can do without them. Called within the
    /// operation that needs the memory.
    fn relieve(&self, bytes: usize);
}

/// The requested memory is not available, because other holders use it. A later request may
/// succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsufficientMemory;

impl fmt::Display for InsufficientMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the memory for operations is exhausted: try again later, or request less at once",
        )
    }
}

impl std::error::Error for InsufficientMemory {}

impl From<InsufficientMemory> for io::Error {
    fn from(short: InsufficientMemory) -> Self {
        Self::new(io::ErrorKind::OutOfMemory, short)
    }
}

/// A holder of at most this many bytes is small and may use the reserve.
pub const SMALL: usize = 256 * 1024;
/// 1/RESERVE of an account is reserved for small holders.
const RESERVE: usize = 8;

/// A batch or a page may take 1/ANSWER_PART of the account. A batch exists twice in memory, so half
/// of the account is left when sixteen clients read batches of this size.
const ANSWER_PART: usize = 64;

/// When memory is scarce, a reply may take 1/SCARCE_PART of what a small holder may: the reply
/// exists twice in memory, and a page of rows is read ahead.
const SCARCE_PART: usize = 5;

/// A limit of memory and the amount in use, shared by all clones; by default unlimited and not
/// counted. Its last part is a reserve for small holders, so that they are served when others hold
/// everything else.
#[derive(Clone, Default)]
pub struct Account(Option<Arc<AccountState>>);

/// State shared by the clones of an account.
struct AccountState {
    /// The parent account, which limits all of its parts together.
    whole: Option<Account>,
    /// Maximum bytes held at once.
    limit: usize,
    /// Whether all shares belong to one holder, whose total decides whether it is small.
    is_single_holder: bool,
    used: AtomicUsize,
    /// Maximum of `used` so far.
    peak: AtomicUsize,
    refused: AtomicU64,
    /// Holders that can be asked to release memory.
    reliefs: RwLock<Vec<Weak<dyn Relief>>>,
    /// Compares the account with the process's memory as the system reports it; set only for the
    /// account of a process.
    pressure: Option<Pressure>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, used) = (self.limit(), self.used_bytes());
        f.debug_struct("Account").field("limit", &limit).field("used", &used).finish()
    }
}

impl Account {
    /// Creates an account of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self::within(None, limit, false, None)
    }

    /// Creates the account of operations in a process that may use `process` bytes in total. `own`
    /// returns the process's memory not backed by files, as the system reports it; when that comes
    /// close to `process`, large holders get less.
    pub fn of_process(limit: usize, process: usize, own: fn() -> Option<usize>) -> Self {
        Self::within(None, limit, false, Some(Pressure::new(process, own)))
    }

    /// Creates a sub-account for many holders with its own limit and reserve. Memory counts in this
    /// account and in the sub-account.
    pub fn split_off(&self, limit: usize) -> Self {
        Self::within(Some(self.clone()), limit, false, None)
    }

    /// Creates a sub-account for one holder, an operation with several shares, whose total decides
    /// whether it is small.
    pub fn for_operation(&self, limit: usize) -> Self {
        Self::within(Some(self.clone()), limit, true, None)
    }

    fn within(
        whole: Option<Self>,
        limit: usize,
        is_single_holder: bool,
        pressure: Option<Pressure>,
    ) -> Self {
        Self(Some(Arc::new(AccountState {
            whole,
            limit,
            is_single_holder,
            used: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            reliefs: RwLock::default(),
            pressure,
        })))
    }

    fn counted_books(&self) -> Option<&AccountState> {
        self.0.as_deref()
    }

    fn whole_account(&self) -> Option<&Self> {
        self.counted_books()?.whole.as_ref()
    }

    fn pressure(&self) -> Option<&Pressure> {
        self.counted_books()?.pressure.as_ref()
    }

    fn is_single_holder(&self) -> bool {
        self.counted_books().is_some_and(|books| books.is_single_holder)
    }

    /// Returns the maximum bytes held at once.
    pub fn limit(&self) -> usize {
        self.counted_books().map_or(usize::MAX, |books| books.limit)
    }

    /// Returns the size at which a resumable batch or page ends. When memory is scarce it is so
    /// small that the reader counts as a small holder and is served from the reserve.
    pub fn answer_bytes(&self) -> usize {
        let part = self.limit() / ANSWER_PART;
        if self.is_scarce() { part.min(SMALL / SCARCE_PART) } else { part }
    }

    /// Returns the bytes held now.
    pub fn used_bytes(&self) -> usize {
        self.counted_books().map_or(0, |books| books.used.load(Relaxed))
    }

    /// Returns the maximum of bytes held at once so far.
    pub fn peak_bytes(&self) -> usize {
        self.counted_books().map_or(0, |books| books.peak.load(Relaxed))
    }

    /// Returns the number of refused requests.
    pub fn refused_count(&self) -> u64 {
        self.counted_books().map_or(0, |books| books.refused.load(Relaxed))
    }

    /// Returns whether this many more bytes would exceed this account's own limit.
    pub fn is_beyond(&self, bytes: usize) -> bool {
        self.limit() < self.used_bytes().saturating_add(bytes)
    }

    /// Returns whether less than an eighth is left for large holders, here or in the parent
    /// account. Holders that can use less memory should do so then.
    pub fn is_scarce(&self) -> bool {
        let left = self.common_limit().saturating_sub(self.used_bytes());
        left < self.limit() / RESERVE || self.whole_account().is_some_and(Self::is_scarce)
    }

    /// Returns whether a large holder would get this many bytes now. Also returns true if it could
    /// never get them, since waiting would be useless then. Like a request, it rechecks the
    /// process's memory and requests relief first.
    pub fn has_room(&self, bytes: usize) -> bool {
        if self.limit() - self.limit() / RESERVE < bytes {
            return true;
        }
        if let Some(pressure) = self.pressure().filter(|it| 0 < it.withheld_bytes()) {
            pressure.check_process();
        }
        let missing =
            || (self.used_bytes().saturating_add(bytes)).saturating_sub(self.common_limit());
        if 0 < missing() {
            self.relieve(missing());
        }
        missing() == 0 && self.whole_account().is_none_or(|whole| whole.has_room(bytes))
    }

    /// Registers a holder that is asked to release memory before a request is refused, as long as
    /// the holder exists.
    pub fn relieved_by(&self, relief: &Arc<impl Relief + 'static>) {
        let relief: Weak<dyn Relief> = Arc::<_>::downgrade(relief) as Weak<dyn Relief>;
        if let Some(books) = self.counted_books() {
            let mut reliefs = books.reliefs.write();
            reliefs.push(relief);
        }
    }

    /// Returns the bytes withheld from large holders because the process uses more than is counted.
    /// An eighth of the account is reserved for small holders, and at most three quarters are
    /// withheld, so that large holders keep at least an eighth.
    pub fn withheld_bytes(&self) -> usize {
        let most = self.limit() - self.limit() / RESERVE * 2;
        self.pressure().map_or(0, |pressure| pressure.withheld_bytes().min(most))
    }

    /// Returns the limit for large holders.
    fn common_limit(&self) -> usize {
        self.limit() - self.limit() / RESERVE - self.withheld_bytes()
    }

    /// Takes `bytes` for a share that then holds `held` bytes. If they are not available, requests
    /// relief from holders, and refuses only if that does not suffice.
    pub(crate) fn take_bytes(&self, bytes: usize, held: usize) -> Result<(), InsufficientMemory> {
        let is_small = self.is_small(bytes, held);
        if let Some(whole) = self.whole_account() {
            if !self.add_bytes(bytes, is_small) {
                return Err(InsufficientMemory);
            }
            let held = if is_small { held } else { usize::MAX };
            return whole.take_bytes(bytes, held).inspect_err(|_| self.subtract_bytes(bytes));
        }
        if self.add_bytes(bytes, is_small) {
            return Ok(());
        }
        if let Some(pressure) = self.pressure().filter(|it| 0 < it.withheld_bytes()) {
            // The process may have released memory since it was last measured, so that less is
            // withheld now.
            pressure.check_process();
            if self.add_bytes(bytes, is_small) {
                return Ok(());
            }
        }
        let limit = if is_small { self.limit() } else { self.common_limit() };
        // A request that can never succeed must not cost other holders anything.
        if bytes <= limit {
            let missing = self.used_bytes().saturating_add(bytes).saturating_sub(limit);
            self.relieve(missing);
            if self.add_bytes(bytes, is_small) {
                return Ok(());
            }
        }
        if let Some(books) = self.counted_books() {
            books.refused.fetch_add(1, Relaxed);
        }
        Err(InsufficientMemory)
    }

    /// Takes bytes without asking for relief. Returns false, and takes nothing, if they are not
    /// available.
    pub(crate) fn try_take(&self, bytes: usize, held: usize) -> bool {
        let is_small = self.is_small(bytes, held);
        if !self.add_bytes(bytes, is_small) {
            return false;
        }
        let held = if is_small { held } else { usize::MAX };
        let taken = self.whole_account().is_none_or(|whole| whole.try_take(bytes, held));
        if !taken {
            self.subtract_bytes(bytes);
        }
        taken
    }

    /// Returns whether a share that would hold `held` bytes, `bytes` of them new, may use the
    /// reserve.
    fn is_small(&self, bytes: usize, held: usize) -> bool {
        let together =
            if self.is_single_holder() { self.used_bytes().saturating_add(bytes) } else { held };
        held <= SMALL && together <= SMALL
    }

    /// Returns bytes to this account and its parent.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.subtract_bytes(bytes);
        if let Some(whole) = self.whole_account() {
            whole.give_back(bytes);
        }
    }

    fn subtract_bytes(&self, bytes: usize) {
        if let Some(books) = self.counted_books() {
            books.used.fetch_sub(bytes, Relaxed);
        }
    }

    /// Adds to the bytes held unless that exceeds the limit. Atomic, so that concurrent requests
    /// cannot both get the last bytes.
    fn add_bytes(&self, bytes: usize, is_small: bool) -> bool {
        let Some(books) = self.counted_books() else { return true };
        // In an account of a single holder nothing is reserved for others.
        let most =
            if is_small || books.is_single_holder { books.limit } else { self.common_limit() };
        let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= most);
        match books.used.fetch_update(Relaxed, Relaxed, add) {
            Ok(before) => {
                books.peak.fetch_max(before + bytes, Relaxed);
                books.pressure.iter().for_each(|pressure| pressure.record_taken(bytes));
                true
            }
            Err(_) => false,
        }
    }

    /// Asks the registered holders, one after the other, to release the missing bytes.
    fn relieve(&self, missing: usize) {
        let Some(books) = self.counted_books() else { return };
        let reliefs = books.reliefs.read();
        // Collected so that the lock is not held while memory is released.
        let reliefs: Vec<_> = reliefs.iter().filter_map(Weak::upgrade).collect();
        for relief in reliefs {
            relief.relieve(missing);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Share;

    #[test]
    fn answers_are_those_of_small_holders_where_memory_is_scarce() {
        let account = Account::new(64 << 20);
        assert_eq!(account.answer_bytes(), 1 << 20);
        let mut held = account.share();
        held.set(50 << 20).unwrap();
        let scarce = account.answer_bytes();
        assert!(3 * scarce < SMALL && SMALL < 8 * scarce, "{scarce}");
        drop(held);
        assert_eq!(account.answer_bytes(), 1 << 20);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_counted() {
        let account = Account::new(100);
        account.take_bytes(60, 60).unwrap();
        assert_eq!(account.take_bytes(41, 41), Err(InsufficientMemory));
        account.take_bytes(40, 40).unwrap();
        assert_eq!((account.used_bytes(), account.refused_count()), (100, 1));
        account.give_back(100);
        assert_eq!((account.used_bytes(), account.peak_bytes()), (0, 100));
        assert_eq!(account.take_bytes(usize::MAX, usize::MAX), Err(InsufficientMemory));
        assert_eq!(account.used_bytes(), 0);
    }

    #[test]
    fn the_last_eighth_is_for_those_who_need_little() {
        let account = Account::new(8 << 20);
        let mut large = account.share();
        large.set(7 << 20).unwrap();
        assert_eq!(large.grow(1), Err(InsufficientMemory), "the rest is the reserve");
        let mut small = account.share();
        small.set(SMALL).unwrap();
        assert_eq!(small.grow(SMALL), Err(InsufficientMemory), "it is small no longer");
        let one = account.for_operation(usize::MAX);
        let (mut first, mut second) = (one.share(), one.share());
        first.set(SMALL / 4).unwrap();
        second.set(SMALL / 4).unwrap();
        assert_eq!(
            second.grow(SMALL),
            Err(InsufficientMemory),
            "an operation is as large as all its shares"
        );
        let many = account.split_off(4 << 20);
        many.share().set(SMALL).unwrap();
        drop(large);
        let mut held = many.share();
        held.set(7 << 19).unwrap();
        assert_eq!(held.grow(SMALL + 1), Err(InsufficientMemory), "a part has a reserve too");
        many.share().set(SMALL).unwrap();
        drop((small, first, second, held));
        assert_eq!((account.used_bytes(), many.used_bytes()), (0, 0));
    }

    /// Holds memory until relief is requested.
    struct Idle(Mutex<Vec<Share>>);

    impl Relief for Idle {
        fn relieve(&self, bytes: usize) {
            let mut given = 0;
            while given < bytes
                && let Some(share) = self.0.lock().unwrap().pop()
            {
                given += share.held_bytes();
            }
        }
    }

    #[test]
    fn whoever_can_do_without_gives_back_first() {
        let account = Account::new(1000);
        let shares = (0..10).map(|_| account.share_of(100).unwrap()).collect();
        let idle = Arc::new(Idle(Mutex::new(shares)));
        account.relieved_by(&idle);
        account.take_bytes(150, 150).unwrap();
        assert_eq!(idle.0.lock().unwrap().len(), 8);
        assert_eq!(
            account.take_bytes(1001, 1001),
            Err(InsufficientMemory),
            "it could not fit in any case"
        );
        assert_eq!(idle.0.lock().unwrap().len(), 8);
        assert_eq!(
            account.take_bytes(900, 900),
            Err(InsufficientMemory),
            "somebody else holds 150"
        );
        drop(idle);
        assert_eq!(account.used_bytes(), 150);
        account.take_bytes(850, 850).unwrap();
    }

    #[test]
    fn there_is_room_once_others_have_given_back_and_nobody_waits_for_what_never_fits() {
        let whole = Account::new(1600);
        let part = whole.split_off(800);
        let held = whole.share_of(1000).unwrap();
        assert!(part.has_room(400) && !part.has_room(401), "the whole has 1400 for all");
        assert!(part.has_room(701), "it would never fit");
        let idle = Arc::new(Idle(Mutex::new(vec![held])));
        whole.relieved_by(&idle);
        assert!(part.has_room(401), "what others can do without is given back");
        assert_eq!((whole.used_bytes(), whole.refused_count()), (0, 0));
    }

    #[test]
    fn a_part_has_a_limit_of_its_own_and_counts_in_the_whole() {
        let whole = Account::new(1000);
        let part = whole.split_off(600);
        let other = whole.split_off(usize::MAX);
        other.take_bytes(500, 500).unwrap();
        part.take_bytes(400, 400).unwrap();
        assert_eq!((whole.used_bytes(), part.used_bytes()), (900, 400));
        assert!(part.is_beyond(201) && !part.is_beyond(200));
        assert_eq!(part.take_bytes(201, 201), Err(InsufficientMemory), "beyond its own limit");
        assert_eq!(part.take_bytes(101, 101), Err(InsufficientMemory), "others hold it");
        assert_eq!((whole.used_bytes(), part.used_bytes()), (900, 400));
        other.give_back(500);
        part.take_bytes(200, 200).unwrap();
        part.give_back(600);
        assert_eq!((whole.used_bytes(), part.used_bytes()), (0, 0));
    }

    #[test]
    fn the_last_eighth_is_scarce() {
        let whole = Account::new(800);
        let part = whole.split_off(usize::MAX);
        // The reserve for small holders is not available to all.
        whole.take_bytes(600, 600).unwrap();
        assert!(!whole.is_scarce() && !part.is_scarce());
        whole.take_bytes(1, 1).unwrap();
        assert!(whole.is_scarce() && part.is_scarce());
        assert!(!Account::default().is_scarce());
    }

    #[test]
    fn whoever_needs_much_gets_less_when_the_process_has_more_than_is_counted() {
        static RESIDENT: AtomicUsize = AtomicUsize::new(0);
        const MB: usize = 1 << 20;
        let account = Account::of_process(64 * MB, 128 * MB, || Some(RESIDENT.load(Relaxed)));
        let mut large = account.share();
        large.set(30 * MB).unwrap();
        assert_eq!(account.withheld_bytes(), 0);
        RESIDENT.store(88 * MB, Relaxed);
        large.set(40 * MB).unwrap();
        assert_eq!(account.withheld_bytes(), 16 * MB, "it was looked at on the way");
        assert!(account.is_scarce());
        assert_eq!(
            large.grow(MB),
            Err(InsufficientMemory),
            "of 64, 8 are the reserve and 16 withheld"
        );
        account.share().set(SMALL).unwrap();
        RESIDENT.store(1024 * MB, Relaxed);
        assert_eq!(large.grow(MB), Err(InsufficientMemory));
        assert_eq!(account.withheld_bytes(), 48 * MB, "an eighth is left even then");
        large.set(0).unwrap();
        large.set(7 * MB).unwrap();
        RESIDENT.store(80 * MB, Relaxed);
        large.set(50 * MB).expect("before anybody is refused it is looked again");
    }

    #[test]
    fn many_at_once_never_hold_more_than_the_limit() {
        let account = Account::new(1000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        if account.take_bytes(300, 300).is_ok() {
                            assert!(account.used_bytes() <= 1000);
                            account.give_back(300);
                        }
                    }
                });
            }
        });
        assert_eq!(account.used_bytes(), 0);
        assert!(account.peak_bytes() <= 1000);
    }
}
