// The open query tabs of a collection in order. Pure; holds no texts.

export interface QueryTab {
  /** Identifies its drafts; empty for the first tab. */
  id: string;
  /** Set by the user; empty: none. */
  name: string;
}

export interface TabList {
  tabs: readonly QueryTab[];
  shown: string;
}

/** More would be unusable. */
export const MOST_TABS = 20;
export const LONGEST_NAME = 60;

export const ONE: TabList = { tabs: [{ id: '', name: '' }], shown: '' };

function isTab(value: unknown): value is QueryTab {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name } = value as Record<string, unknown>;
  return typeof id === 'string' && /^\d*$/.test(id) && typeof name === 'string';
}

/** Parses the stored tabs; returns a single tab if invalid. */
export function readTabs(text: string | null): TabList {
  try {
    const { tabs, shown } = JSON.parse(text ?? '') as Record<string, unknown>;
    if (!Array.isArray(tabs) || !tabs.every(isTab)) return ONE;
    return tabs.some(({ id }) => id === shown) ? { tabs, shown: String(shown) } : ONE;
  } catch {
    return ONE;
  }
}

export function titleOf({ id, name }: QueryTab): string {
  return name === '' ? `Query ${id === '' ? 1 : id}` : name;
}

/** Adds a tab and shows it; returns the same list at the limit. */
export function withTab(list: TabList, name = ''): TabList {
  if (list.tabs.length >= MOST_TABS) return list;
  const id = String(Math.max(1, ...list.tabs.map((tab) => Number(tab.id))) + 1);
  return { tabs: [...list.tabs, { id, name }], shown: id };
}

/** Removes a tab and shows its neighbour, or a new tab if it was the last. */
export function withoutTab({ tabs, shown }: TabList, id: string): TabList {
  const at = tabs.findIndex((tab) => tab.id === id);
  const left = tabs.filter((tab) => tab.id !== id);
  const neighbour = left[Math.min(Math.max(at, 0), left.length - 1)];
  if (neighbour === undefined) return ONE;
  return { tabs: left, shown: shown === id ? neighbour.id : shown };
}

export function renamed({ tabs, shown }: TabList, id: string, name: string): TabList {
  const short = name.trim().slice(0, LONGEST_NAME);
  return { tabs: tabs.map((tab) => (tab.id === id ? { id, name: short } : tab)), shown };
}
