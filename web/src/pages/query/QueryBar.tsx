// Buttons that start and cancel a query, with its outcome and duration.
import { useEffect, useState } from 'react';
import { latency } from '../../pure/figures/latency';
import { Button } from '../../ui/Button';
import { summary } from './results/ResultsPanel';
import { hasMore, type Runs, shownOf } from './runState';

export interface QueryBarProps {
  runs: Runs;
  onRun: () => void;
  /** null: no selection. */
  onRunPart: (() => void) | null;
  onCancel: () => void;
  onPrevious: () => void;
  onNext: () => void;
  onMore: () => void;
}

const TICK_MS = 100;

/** The elapsed time of a running query, or its final duration. */
function Elapsed({ runs: { busy, since, pages, at } }: { runs: Runs }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [busy]);
  const took = pages[at]?.roundTripMs;
  if (busy) {
    const seconds = Math.max(0, now - since) / 1000;
    return <span className="hint" aria-hidden="true">{`${seconds.toFixed(1)} s`}</span>;
  }
  return took === undefined ? null : (
    <span className="hint" title="Time from request to response">
      {latency(took / 1000)}
    </span>
  );
}

export function QueryBar(props: QueryBarProps) {
  const { runs, onRun, onRunPart, onCancel, onPrevious, onNext, onMore } = props;
  const { busy } = runs;
  const { pages, at } = shownOf(runs);
  const isLast = at + 1 >= pages.length;
  return (
    <div className="row query-bar">
      <Button look="primary" busy={busy} title="Ctrl+Enter or Cmd+Enter" onClick={onRun}>
        Execute query
      </Button>
      {onRunPart !== null && (
        <Button busy={busy} title="Ctrl+Shift+Enter or Cmd+Shift+Enter" onClick={onRunPart}>
          Execute selection
        </Button>
      )}
      <Button disabled={!busy} onClick={onCancel}>
        Cancel
      </Button>
      <span role="status" className="query-summary">
        {summary(runs)}
      </span>
      <Elapsed runs={runs} />
      {pages.length > 0 && (
        <span className="query-pager">
          <Button disabled={busy || at === 0} onClick={onPrevious}>
            Previous
          </Button>
          <Button
            disabled={busy || (isLast && !hasMore(runs))}
            {...(isLast ? { title: 'Reads another page', onClick: onMore } : { onClick: onNext })}
          >
            Next
          </Button>
        </span>
      )}
    </div>
  );
}
