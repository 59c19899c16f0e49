//! Memory accounting: memory is requested from an account before it is used. A share is the memory
//! that one holder has taken from an account: it is taken in steps, so that small growth is cheap,
//! and a dropped share returns its bytes. This crate allocates nothing itself.

mod account;
mod plan;
mod pressure;

pub use account::{Account, InsufficientMemory, Relief, SMALL};
pub use plan::{LEAST, Plan};

/// Size in bytes up to which a share reserves no memory in the account. Shares are numerous and
/// most of them are smaller.
const UNCOUNTED_BYTES: usize = 2 * 1024;
/// Minimum bytes that a share takes beyond what its holder needs. A growing share doubles, then
/// grows by whole chunks.
const FIRST: usize = 4 * 1024;
/// Maximum number of bytes that a share takes in addition to what its holder needs.
const CHUNK: usize = 64 * 1024;

/// Memory reserved in an account for one holder. Dropping it returns the memory to the account.
#[derive(Debug, Default)]
pub struct Share {
    account: Account,
    /// Bytes that the holder uses; the reservation may be larger.
    held: usize,
    /// Bytes reserved in the account. At least `held`, unless the share has at most
    /// [`UNCOUNTED_BYTES`].
    taken: usize,
}

impl Account {
    /// Creates a share that holds no memory.
    pub fn share(&self) -> Share {
        Share { account: self.clone(), held: 0, taken: 0 }
    }

    /// Creates a share of exactly this many bytes; fails with [`InsufficientMemory`] if they are
    /// not available.
    pub fn share_of(&self, bytes: usize) -> Result<Share, InsufficientMemory> {
        self.take_bytes(bytes, bytes)?;
        Ok(Share { account: self.clone(), held: bytes, taken: bytes })
    }
}

impl Share {
    /// Returns how many bytes the holder occupies.
    pub fn held_bytes(&self) -> usize {
        self.held
    }

    /// Increases the share; on failure it is unchanged.
    pub fn grow(&mut self, bytes: usize) -> Result<(), InsufficientMemory> {
        self.set(self.held.saturating_add(bytes))
    }

    /// Releases this number of bytes of the share.
    pub fn shrink(&mut self, bytes: usize) {
        self.lower_to(self.held.saturating_sub(bytes));
    }

    /// Sets the size of the share; on failure it is unchanged.
    pub fn set(&mut self, bytes: usize) -> Result<(), InsufficientMemory> {
        if bytes <= self.held {
            self.lower_to(bytes);
            return Ok(());
        }
        if self.taken.max(UNCOUNTED_BYTES) < bytes {
            let ahead = bytes.clamp(FIRST, CHUNK);
            let wanted = bytes.saturating_add(ahead);
            // Near the limit, take only the needed bytes.
            if self.account.try_take(wanted - self.taken, bytes) {
                self.taken = wanted;
            } else {
                self.account.take_bytes(bytes - self.taken, bytes)?;
                self.taken = bytes;
            }
        }
        self.held = bytes;
        Ok(())
    }

    /// Returns surplus memory to the account, but keeps `CHUNK` bytes more than the holder needs,
    /// since a shrinking holder often grows again.
    fn lower_to(&mut self, bytes: usize) {
        self.held = bytes;
        let kept = bytes.saturating_add(CHUNK);
        if bytes == 0 || kept.saturating_add(CHUNK) < self.taken {
            let kept = if bytes == 0 { 0 } else { kept };
            self.account.give_back(self.taken - kept);
            self.taken = kept;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.give_back(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_in_steps_and_gives_all_back() {
        let account = Account::new(1 << 20);
        let mut share = account.share();
        assert_eq!(account.used_bytes(), 0);
        let mut steps = 0;
        let mut before = 0;
        for held in (0..500_000).step_by(100) {
            share.set(held).unwrap();
            let used = account.used_bytes();
            assert!(held <= used.max(UNCOUNTED_BYTES) && used <= held + CHUNK, "{held} {used}");
            steps += usize::from(used != before);
            before = used;
        }
        assert!(steps < 20, "{steps}");
        share.shrink(400_000);
        assert!(account.used_bytes() <= share.held_bytes() + CHUNK);
        share.grow(10).unwrap();
        share.shrink(usize::MAX);
        assert_eq!((share.held_bytes(), account.used_bytes()), (0, 0));
        share.grow(UNCOUNTED_BYTES).unwrap();
        assert_eq!(account.used_bytes(), 0, "so little is free");
        share.grow(1).unwrap();
        assert!(UNCOUNTED_BYTES < account.used_bytes());
        drop(share);
        assert_eq!(account.used_bytes(), 0);
    }

    #[test]
    fn the_last_bytes_can_be_had_and_no_more() {
        let account = Account::new(100_000);
        let mut share = account.share();
        share.grow(100_000).unwrap();
        assert_eq!(share.grow(1), Err(InsufficientMemory));
        assert_eq!((share.held_bytes(), account.used_bytes()), (100_000, 100_000));
        let mut other = account.share();
        assert_eq!(other.grow(UNCOUNTED_BYTES + 1), Err(InsufficientMemory));
        share.set(50_000).unwrap();
        drop(share);
        other.grow(UNCOUNTED_BYTES + 1).unwrap();
    }

    #[test]
    fn without_limit_nothing_is_refused() {
        let mut share = Share::default();
        share.grow(usize::MAX / 2).unwrap();
        share.set(3).unwrap();
    }
}
