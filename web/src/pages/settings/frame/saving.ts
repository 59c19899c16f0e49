// What saving is like, whatever is saved: under way, ended, or held up by what somebody else saved.

/** How the last save ended. */
export interface Outcome {
  good: boolean;
  text: string;
}

/** The state of saving, and what a person may do; `C` is what somebody else saved. */
export interface Saving<C> {
  saving: boolean;
  outcome: Outcome | null;
  /** There while a person has to choose. */
  conflict: C | null;
  /** Somebody else has saved meanwhile. */
  stale: boolean;
  discard: () => void;
  save: () => void;
  compare: () => void;
  overwrite: () => void;
  takeTheirs: () => void;
  goOn: () => void;
}
