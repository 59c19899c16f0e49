// Choice of the view: table, JSON or tree; kept in the browser.
import { usePreference } from '../../../state/preference';

export const VIEWS = ['Table', 'JSON', 'Tree'] as const;
export type View = (typeof VIEWS)[number];

const isView = (value: unknown): value is View => VIEWS.some((view) => view === value);

export function useView(): [View, (view: View) => void] {
  return usePreference<View>('results', 'Table', isView);
}

export function ViewChoice({ view, onChoose }: { view: View; onChoose: (view: View) => void }) {
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">Results as</legend>
      {VIEWS.map((one) => (
        <button
          key={one}
          type="button"
          className="segment"
          aria-pressed={one === view}
          onClick={() => onChoose(one)}
        >
          {one}
        </button>
      ))}
    </fieldset>
  );
}
