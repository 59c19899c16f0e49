//! The rules of views and order, each of which can be left out to show that the law needs it.
//! Nothing but tests of the tests leaves one out.

/// Which rules are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Who meets something that died in the last moments waits and looks again.
    pub last_moments: bool,
    /// A write is refused when what it judged live has died by its stamp.
    pub before_death: bool,
    /// No view opens while a change of TTL is between stamp and publication.
    pub fence: bool,
    /// A write is refused when the settings changed after its view.
    pub epoch: bool,
    /// A write is refused when its row changed after its view.
    pub versions: bool,
    /// Open views hold the reap floors.
    pub holds: bool,
    /// A change of settings keeps what was dead.
    pub floors: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            last_moments: true,
            before_death: true,
            fence: true,
            epoch: true,
            versions: true,
            holds: true,
            floors: true,
        }
    }
}
