// State of a save: pending, completed, or interrupted by a conflict.

export interface Outcome {
  good: boolean;
  text: string;
}

/** State and actions of saving; `C` is the conflicting version. */
export interface Saving<C> {
  saving: boolean;
  outcome: Outcome | null;
  /** Set while the user must resolve a conflict. */
  conflict: C | null;
  /** Whether another user has saved since the settings were loaded. */
  stale: boolean;
  discard: () => void;
  save: () => void;
  compare: () => void;
  overwrite: () => void;
  takeTheirs: () => void;
  goOn: () => void;
}
