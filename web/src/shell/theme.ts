// Theme: light, dark or system; an attribute of the document, kept in local storage.
import { readPreference, writePreference } from '../state/preference';
import { createStore, useStore } from '../state/store';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const THEME_LABELS: Record<Theme, string> = {
  system: 'System',
  light: 'Light',
  dark: 'Dark',
};

const isTheme = (value: unknown): value is Theme => THEMES.some((theme) => theme === value);

const chosen = createStore<Theme>('system');

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  chosen.set(theme);
}

/** Applies the stored theme; called before the first render. */
export function showTheme(): void {
  show(readPreference('theme', 'system', isTheme));
}

export function chooseTheme(theme: Theme): void {
  show(theme);
  writePreference('theme', theme);
}

export function useTheme(): Theme {
  return useStore(chosen);
}
