// Small settings kept in local storage: theme, widths, history of queries.
import { useState } from 'react';

const PREFIX = 'ebb:';

export function readPreference<T>(
  name: string,
  otherwise: T,
  sound: (value: unknown) => value is T,
): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    const value: unknown = text === null ? otherwise : JSON.parse(text);
    return sound(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/** Returns the names of all kept settings with this prefix, without the prefix. */
export function preferencesOf(prefix: string): string[] {
  try {
    const names = Array.from(
      { length: localStorage.length },
      (_, at) => localStorage.key(at) ?? '',
    );
    const whole = PREFIX + prefix;
    return names.filter((name) => name.startsWith(whole)).map((name) => name.slice(whole.length));
  } catch {
    return [];
  }
}

export function writePreference(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the setting holds until the page is left.
  }
}

export function usePreference<T>(
  name: string,
  otherwise: T,
  sound: (value: unknown) => value is T,
): [T, (value: T) => void] {
  const [value, set] = useState(() => readPreference(name, otherwise, sound));
  return [
    value,
    (next) => {
      set(next);
      writePreference(name, next);
    },
  ];
}
