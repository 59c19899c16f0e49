// Unsaved text, kept in session storage under a name so that it survives failures and reloads.
import { useCallback, useState } from 'react';
import { createStore } from './store';

const PREFIX = 'ebb-draft:';
/** Longer drafts are kept in memory only: session storage is small. */
const KEPT_CHARACTERS = 1_000_000;

/** Drafts that session storage does not accept. */
const inMemory = new Map<string, string>();

/** Returns a draft; null if none is kept. */
export function readDraft(name: string): string | null {
  const kept = inMemory.get(name);
  if (kept !== undefined) return kept;
  try {
    return sessionStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

function namesKept(): ReadonlySet<string> {
  try {
    const all = Array.from({ length: sessionStorage.length }, (_, at) => sessionStorage.key(at));
    const ours = all.filter((key) => key?.startsWith(PREFIX) === true);
    return new Set(ours.map((key) => (key ?? '').slice(PREFIX.length)));
  } catch {
    return new Set();
  }
}

/** Names of all kept drafts. */
export const drafts = createStore(namesKept());

function list(name: string, isKept: boolean): void {
  drafts.update((names) => {
    if (names.has(name) === isKept) return names;
    const others = [...names].filter((known) => known !== name);
    return new Set(isKept ? [...others, name] : others);
  });
}

/** Keeps a draft, or deletes it (null), without a component. */
export function writeDraft(name: string, text: string | null): void {
  list(name, text !== null);
  inMemory.delete(name);
  const isLong = text !== null && text.length > KEPT_CHARACTERS;
  if (isLong) inMemory.set(name, text);
  try {
    if (text === null || isLong) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Storage is full or forbidden.
    if (text !== null) inMemory.set(name, text);
  }
}

/** Returns a draft's text (null: none) and its setter. */
export function useDraft(name: string): [string | null, (text: string | null) => void] {
  const [held, hold] = useState(() => ({ name, text: readDraft(name) }));
  const current = held.name === name ? held : { name, text: readDraft(name) };
  if (current !== held) hold(current);
  const set = useCallback(
    (text: string | null) => {
      hold({ name, text });
      writeDraft(name, text);
    },
    [name],
  );
  return [current.text, set];
}
