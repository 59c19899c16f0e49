// Which rows are selected, and what a key or a click makes of that. Pure.

export interface Selected {
  keys: ReadonlySet<string>;
  /** Where a range begins; null: nowhere. */
  anchor: string | null;
}

export const NOTHING: Selected = { keys: new Set(), anchor: null };

interface Keyed {
  key: string;
}

/** One row more or less. */
export function toggled({ keys }: Selected, key: string): Selected {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return { keys: next, anchor: key };
}

/** Everything from the anchor to a row besides what is selected; without an anchor the row alone. */
export function upTo(selected: Selected, rows: readonly Keyed[], key: string): Selected {
  const from = rows.findIndex((row) => row.key === selected.anchor);
  const to = rows.findIndex((row) => row.key === key);
  if (to < 0) return selected;
  if (from < 0) return { keys: new Set([...selected.keys, key]), anchor: key };
  const between = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ...selected, keys: new Set([...selected.keys, ...between.map((row) => row.key)]) };
}

/** A step with Shift: the row it leaves and the one it reaches; back over selected ones takes them away. */
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

/** Without what is not listed any more; the same where all is. */
export function listed(selected: Selected, rows: readonly Keyed[]): Selected {
  if (selected.keys.size === 0) return selected;
  const there = new Set(rows.map((row) => row.key));
  const keys = [...selected.keys].filter((key) => there.has(key));
  return keys.length === selected.keys.size ? selected : { ...selected, keys: new Set(keys) };
}
