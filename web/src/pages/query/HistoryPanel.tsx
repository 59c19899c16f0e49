// Queries that were run in this browser with their outcomes; one can be copied into the form.
import { useState } from 'react';
import { utc } from '../../pure/time/utc';
import { Button } from '../../ui/Button';
import { isFailed, type Past, shown } from './history';
import { outcomeWords } from './outcome';

export interface HistoryPanelProps {
  history: readonly Past[];
  onTake: (past: Past) => void;
  onClear: () => void;
}

export function HistoryPanel({ history, onTake, onClear }: HistoryPanelProps) {
  const [isOnlyFailed, setOnlyFailed] = useState(false);
  if (history.length === 0)
    return <p className="hint">No queries have been run in this browser.</p>;
  const failed = history.filter(isFailed);
  const listed = isOnlyFailed ? failed : history;
  return (
    <>
      <div className="row query-pages">
        <span className="query-summary hint">
          The last {history.length}, stored in this browser.
        </span>
        <label className="query-choice">
          <input
            type="checkbox"
            checked={isOnlyFailed}
            onChange={(event) => setOnlyFailed(event.target.checked)}
          />{' '}
          Failed only ({failed.length})
        </label>
        <Button onClick={onClear}>Clear history</Button>
      </div>
      {listed.length === 0 && <p className="hint">No failed queries.</p>}
      <ul className="query-history">
        {listed.map((past) => (
          <li key={`${past.at} ${past.place}`}>
            <button type="button" className="query-past" onClick={() => onTake(past)}>
              <code>{shown(past)}</code>
              <span className="hint">
                {past.place}, {utc(past.at)}
              </span>
              {past.outcome !== undefined && (
                <span className={isFailed(past) ? 'error' : 'hint'}>
                  {outcomeWords(past.outcome)}
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
