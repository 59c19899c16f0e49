// Queries that were run in this browser; one can be taken back into the form.
import { utc } from '../../pure/time/utc';
import { Button } from '../../ui/Button';
import { type Past, shown } from './history';

export interface HistoryPanelProps {
  history: readonly Past[];
  onTake: (past: Past) => void;
  onClear: () => void;
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
              <code>{shown(past)}</code>
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
