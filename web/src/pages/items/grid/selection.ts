// The selected rows, and the effect of keys and clicks. Pure.

export interface Selected {
  keys: ReadonlySet<string>;
  /** Start of a range; null: none. */
  anchor: string | null;
}

export const NOTHING: Selected = { keys: new Set(), anchor: null };

interface Keyed {
  key: string;
}

/** Adds or removes one row. */
export function toggled({ keys }: Selected, key: string): Selected {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return { keys: next, anchor: key };
}

/** Adds the range from the anchor to a row; without an anchor only the row. */
export function upTo(selected: Selected, rows: readonly Keyed[], key: string): Selected {
  const from = rows.findIndex((row) => row.key === selected.anchor);
  const to = rows.findIndex((row) => row.key === key);
  if (to < 0) return selected;
  if (from < 0) return { keys: new Set([...selected.keys, key]), anchor: key };
  const between = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ...selected, keys: new Set([...selected.keys, ...between.map((row) => row.key)]) };
}

/** Extends the selection by a Shift+arrow step; a step back over selected rows deselects. */
export function stepped(selected: Selected, from: string, to: string): Selected {
  if (from === to) return selected;
  const keys = new Set(selected.keys);
  if (keys.has(from) && keys.has(to)) {
    keys.delete(from);
    return { ...selected, keys };
  }
  keys.add(from).add(to);
  return { keys, anchor: selected.anchor ?? from };
}

export function all(rows: readonly Keyed[]): Selected {
  return { keys: new Set(rows.map((row) => row.key)), anchor: null };
}

/** Removes rows that are no longer listed; returns the same object if none is. */
export function listed(selected: Selected, rows: readonly Keyed[]): Selected {
  if (selected.keys.size === 0) return selected;
  const there = new Set(rows.map((row) => row.key));
  const keys = [...selected.keys].filter((key) => there.has(key));
  return keys.length === selected.keys.size ? selected : { ...selected, keys: new Set(keys) };
}
