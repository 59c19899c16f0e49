// Light, dark, or as the system has it: an attribute of the document, kept in the browser.
import { readPreference, usePreference } from '../state/preference';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const isTheme = (value: unknown): value is Theme => THEMES.some((theme) => theme === value);

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Shows the theme that was chosen last; before anything is drawn. */
export function showTheme(): void {
  show(readPreference('theme', 'system', isTheme));
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, choose] = usePreference('theme', 'system', isTheme);
  return [
    theme,
    (next) => {
      show(next);
      choose(next);
    },
  ];
}
