//! Sizes and limits of a tree.

/// The arrangement of keys in the tables of a space. It may differ between openings: tables
/// describe themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// For reads of single keys: each key is stored whole and found by a hash index in its block.
    Points,
    /// For scans: keys share prefixes with their predecessors.
    #[default]
    Ranges,
}

/// Sizes and limits of a tree. Tests make them small; [`Options::default`] is for production.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for cached blocks, in bytes.
    pub cache_bytes: u64,
    /// Maximum number of open files.
    pub open_files: usize,
    /// Size at which a block of a table ends, before compression.
    pub block_bytes: usize,
    /// Size at which a table ends.
    pub table_bytes: u64,
    /// Size of the first sorted level; each further level is [`growth`](Self::growth) times larger.
    pub level_bytes: u64,
    /// Ratio of the sizes of two adjacent levels.
    pub growth: u64,
    /// Minimum size of the separable part of a value for storing it in a body file.
    pub apart_bytes: usize,
    /// Size at which a block of bodies ends, before compression.
    pub body_block_bytes: usize,
    /// Size at which a body file accepts no more bodies.
    pub body_file_bytes: u64,
    /// Size below which a flush joins the bodies of adjacent groups in one file.
    pub group_bytes: u64,
    /// Maximum number of body files of a space to which flushes append.
    pub open_groups: usize,
    /// Percentage of unreferenced bytes in the body files of a space above which a body file is
    /// rewritten without them.
    pub garbage_percent: u64,
    /// Size from which the list of files is written anew.
    pub manifest_bytes: u64,
    /// Number of the last durable change of the list of files, as
    /// [`Tree::last_edit`](crate::Tree::last_edit) returned it; 0 if it is unknown. If the list
    /// ends before this change, opening fails, because the list is damaged.
    pub last_edit: u64,
}

/// Bits of a table's filter per key.
pub(crate) const FILTER_BITS: usize = 10;
/// Keys between two whole keys in [`Layout::Ranges`].
pub(crate) const RESTART_INTERVAL: usize = 16;
/// Number of sorted levels below the first runs.
pub(crate) const LEVELS: usize = 6;
/// Maximum length of a key in bytes.
pub const KEY_BYTES_MAX: usize = 65_535;
/// Maximum length of a value in bytes.
pub const VALUE_BYTES_MAX: usize = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            open_files: 900,
            block_bytes: 16 << 10,
            table_bytes: 64 << 20,
            level_bytes: 256 << 20,
            growth: 10,
            apart_bytes: 256,
            body_block_bytes: 16 << 10,
            body_file_bytes: 256 << 20,
            group_bytes: 1 << 20,
            open_groups: 64,
            garbage_percent: 30,
            manifest_bytes: 4 << 20,
            last_edit: 0,
        }
    }
}
