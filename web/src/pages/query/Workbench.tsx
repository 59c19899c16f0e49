// What both query forms share: run and cancel, results by pages, statistics, history. The form
// itself is the caller's.
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react';
import type { Target } from '../../state/place';
import { usePreference } from '../../state/preference';
import { Button } from '../../ui/Button';
import type { Mark } from '../../ui/CodeEditor';
import { Tabs } from '../../ui/Tabs';
import { AdviceBanner } from './explain/AdviceBanner';
import { ExplainPanel } from './explain/ExplainPanel';
import { useExplanation } from './explain/useExplanation';
import { HistoryPanel } from './HistoryPanel';
import { isHistory, type Past, remember } from './history';
import { Problems } from './Problems';
import { marksOf } from './problem';
import { ResultsPanel, summary } from './results/ResultsPanel';
import type { Run } from './run';
import { StatisticsPanel } from './StatisticsPanel';
import { hasMore, useRuns } from './useRuns';
import './query.css';

export interface WorkbenchProps {
  target: Target;
  /** Starts an execution of what is typed. */
  start: () => Run;
  /** What is typed, by field. */
  texts: Record<string, string>;
  /** Takes a query of the history into the form. */
  onTake: (texts: Record<string, string>) => void;
  /** The text that places in the server's errors are about. */
  errorText: string;
  /** The form, with the places of its text that the server has complained about. */
  children: (execute: () => void, marks: readonly Mark[]) => ReactNode;
}

const NO_MARKS: readonly Mark[] = [];

type Panel = 'results' | 'explain' | 'statistics' | 'history';
const TABS = [
  { key: 'results', label: 'Results' },
  { key: 'explain', label: 'Explain' },
  { key: 'statistics', label: 'Statistics' },
  { key: 'history', label: 'History' },
] as const;

/** Ctrl+Enter and Cmd+Enter, unless the editor has taken them. */
function isRunKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.defaultPrevented;
}

export function Workbench({ target, start, texts, onTake, errorText, children }: WorkbenchProps) {
  const [panel, setPanel] = useState<Panel>('results');
  const [history, setHistory] = usePreference<Past[]>(`history:${target.door}`, [], isHistory);
  const { runs, execute, next, more, previous, cancel } = useRuns();
  const [ranText, setRanText] = useState('');
  const [ran, setRan] = useState<(() => Run) | null>(null);
  const explaining = useExplanation(runs, panel === 'explain');
  const advice = explaining.explanation?.advice ?? null;
  const runAgain = () => {
    if (ran !== null) execute(ran);
  };
  const { failure } = runs;
  const isRanText = ranText === errorText;
  const marks = useMemo(
    () => (failure instanceof Error && isRanText ? marksOf(failure.message, ranText) : NO_MARKS),
    [failure, isRanText, ranText],
  );
  const run = () => {
    const place = `${target.database} › ${target.collection}`;
    execute(() => {
      const started = start();
      setHistory(remember(history, { at: Date.now(), place, texts }));
      return started;
    });
    setRanText(errorText);
    setRan(() => start);
    if (panel === 'history') setPanel('results');
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key that runs works in every field.
    <div
      className="page query"
      onKeyDown={(event) => {
        if (!isRunKey(event)) return;
        event.preventDefault();
        run();
      }}
    >
      {children(run, marks)}
      <div className="row query-bar">
        <Button look="primary" busy={runs.busy} title="Ctrl+Enter or Cmd+Enter" onClick={run}>
          Execute Query
        </Button>
        <Button disabled={!runs.busy} onClick={cancel}>
          Cancel
        </Button>
        <span role="status" className="query-summary">
          {summary(runs)}
        </span>
        {runs.pages.length > 0 && (
          <span className="query-pager">
            <Button disabled={runs.busy || runs.at === 0} onClick={previous}>
              Previous
            </Button>
            <Button disabled={runs.busy || runs.at + 1 >= runs.pages.length} onClick={next}>
              Next
            </Button>
            <Button
              disabled={runs.busy || !hasMore(runs)}
              title="Reads another page"
              onClick={more}
            >
              More
            </Button>
          </span>
        )}
      </div>
      <Problems error={runs.failure} text={ranText} target={target} />
      <Tabs
        label="Of the query"
        tabs={TABS}
        selected={panel}
        onSelect={setPanel}
        panel="query-panel"
      />
      <div
        className="query-panel"
        id="query-panel"
        role="tabpanel"
        aria-labelledby={`query-panel-tab-${panel}`}
      >
        {panel === 'results' && advice !== null && (
          <AdviceBanner advice={advice} onApplied={runAgain} />
        )}
        {panel === 'results' && <ResultsPanel target={target} runs={runs} />}
        {panel === 'explain' && (
          <ExplainPanel
            {...explaining}
            hasRun={runs.pages.length > 0 || runs.failure !== null}
            onApplied={runAgain}
          />
        )}
        {panel === 'statistics' && <StatisticsPanel runs={runs} door={target.door} />}
        {panel === 'history' && (
          <HistoryPanel
            history={history}
            onTake={(past) => onTake(past.texts)}
            onClear={() => setHistory([])}
          />
        )}
      </div>
    </div>
  );
}
