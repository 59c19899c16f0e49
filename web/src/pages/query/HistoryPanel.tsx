// Queries that were run in this browser; one can be taken back into the form.
import { utc } from '../../pure/time/utc';
import { Button } from '../../ui/Button';
import type { Past } from './history';

export interface HistoryPanelProps {
  history: readonly Past[];
  onTake: (past: Past) => void;
  onClear: () => void;
}

const SHOWN_CHARACTERS = 300;

/** The texts that say something, in one line. */
export function shownTexts(texts: Past['texts']): string {
  const { mode, ...fields } = texts;
  const named = Object.entries(fields).filter(([name, text]) => {
    if (text.trim() === '') return false;
    return mode === undefined || (mode === 'pipeline') === (name === 'pipeline');
  });
  const whole =
    named.length === 1
      ? (named[0]?.[1] ?? '')
      : named.map(([name, text]) => `${name}: ${text}`).join(' · ');
  const line = whole.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

export function HistoryPanel({ history, onTake, onClear }: HistoryPanelProps) {
  if (history.length === 0) return <p className="hint">Nothing was run in this browser yet.</p>;
  return (
    <>
      <div className="row query-pages">
        <span className="query-summary hint">The last {history.length}, kept in this browser.</span>
        <Button onClick={onClear}>Clear history</Button>
      </div>
      <ul className="query-history">
        {history.map((past) => (
          <li key={`${past.at} ${past.place}`}>
            <button type="button" className="query-past" onClick={() => onTake(past)}>
              <code>{shownTexts(past.texts)}</code>
              <span className="hint">
                {past.place}, {utc(past.at)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
