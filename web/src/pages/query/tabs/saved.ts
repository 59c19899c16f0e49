// Named queries saved for one collection. Pure.
import type { Texts } from './address';

export interface Saved {
  name: string;
  texts: Texts;
}

const MOST = 100;
/** Longer texts are not kept: local storage is small. */
export const MOST_CHARACTERS = 20_000;

function isSaved(value: unknown): value is Saved {
  if (typeof value !== 'object' || value === null) return false;
  const { name, texts } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof texts !== 'object' || texts === null) return false;
  return Object.values(texts).every((text) => typeof text === 'string');
}

export function isSavedList(value: unknown): value is Saved[] {
  return Array.isArray(value) && value.every(isSaved);
}

const others = (all: readonly Saved[], name: string) => all.filter((one) => one.name !== name);

/** Adds a query, sorted by name; replaces one of the same name. */
export function withSaved(all: readonly Saved[], one: Saved): Saved[] {
  const sorted = [...others(all, one.name), one].sort((a, b) => a.name.localeCompare(b.name));
  return sorted.slice(0, MOST);
}

export function withoutSaved(all: readonly Saved[], name: string): Saved[] {
  return others(all, name);
}

/** Renames a query; replaces one of the new name. */
export function renamedSaved(all: readonly Saved[], from: string, to: string): Saved[] {
  const found = all.find((one) => one.name === from);
  if (found === undefined) return [...all];
  return withSaved(others(all, from), { ...found, name: to });
}

/** Returns whether a tab differs from the saved query of its name. */
export function isChanged(all: readonly Saved[], name: string, texts: Texts): boolean {
  const found = name === '' ? undefined : all.find((one) => one.name === name);
  if (found === undefined) return false;
  return Object.keys({ ...found.texts, ...texts }).some(
    (field) => (found.texts[field] ?? '') !== (texts[field] ?? ''),
  );
}

export function lengthOf(texts: Texts): number {
  return Object.values(texts).reduce((all, text) => all + text.length, 0);
}
