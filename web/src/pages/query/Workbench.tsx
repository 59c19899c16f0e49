// Common part of both query forms: run and cancel, paged results, plan, statistics, history and
// saved queries. The caller provides the form.
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
import type { Target } from '../../state/place';
import type { Mark, Part } from '../../ui/CodeEditor';
import { Tabs } from '../../ui/Tabs';
import { AdviceBanner } from './explain/AdviceBanner';
import { ExplainPanel } from './explain/ExplainPanel';
import { useExplanation } from './explain/useExplanation';
import type { Outcome } from './history';
import { Problems } from './Problems';
import { marksOf } from './problem';
import { QueryBar } from './QueryBar';
import { ResultsPanel } from './results/ResultsPanel';
import type { Run } from './run';
import { StatisticsPanel } from './StatisticsPanel';
import type { Texts } from './tabs/address';
import { useRuns } from './useRuns';
import './query.css';

/** Passed by the page to the form of each tab. */
export interface Bench {
  /** Prefix of the element ids. */
  id: string;
  /** Unique name of the query within the portal. */
  name: string;
  isShown: boolean;
  /** The tab was created on this page: its text takes the focus. */
  isNew: boolean;
  /** Called on input while the tab is shown. */
  onTexts: (texts: Texts) => void;
  /** Called when a query starts; the returned function receives its outcome. */
  onRan: (texts: Texts) => (outcome: Outcome) => void;
  history: (onTake: (texts: Texts) => void) => ReactNode;
  saved: ReactNode;
}

/** Passed to the form. */
export interface FormTools {
  execute: () => void;
  executePart: (part: Part) => void;
  onSelect: (part: Part | null) => void;
  /** Ranges of the text that the server reported errors for. */
  marks: readonly Mark[];
}

export interface WorkbenchProps {
  target: Target;
  bench: Bench;
  /** Typed texts by field. */
  texts: Texts;
  /** Returns the texts with a part of the main field instead of the whole. */
  partial: (part: Part) => Texts;
  /** Returns the texts to execute; null: a question or an error is shown first. */
  prepare?: () => Texts | null;
  start: (texts: Texts) => Run;
  /** Copies a query of the history into the form. */
  onTake: (texts: Texts) => void;
  /** Returns the text that positions in the server's errors refer to. */
  errorText: (texts: Texts) => string;
  /** Renders the pipeline stages; omitted if the query has none. */
  stages?: (runUpTo: (text: string) => void) => ReactNode;
  children: (tools: FormTools) => ReactNode;
}

const NO_MARKS: readonly Mark[] = [];

type Panel = 'results' | 'stages' | 'explain' | 'statistics' | 'history' | 'saved';
const TABS = [
  { key: 'results', label: 'Results' },
  { key: 'stages', label: 'Stages' },
  { key: 'explain', label: 'Explain' },
  { key: 'statistics', label: 'Statistics' },
  { key: 'history', label: 'History' },
  { key: 'saved', label: 'Saved' },
] as const;

/** The last executed texts, and their offset in the main text. */
interface Ran {
  texts: Texts;
  from: number;
}

/** Whether Ctrl+Enter or Cmd+Enter was pressed and not handled by an editor. */
function isRunKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.defaultPrevented;
}

/** Returns marks for the server's errors while the executed text is unchanged. */
function useMarks(failure: unknown, ranText: string, from: number, text: string) {
  const isThere = text.startsWith(ranText, from) && (from > 0 || text.length === ranText.length);
  return useMemo(() => {
    if (!(failure instanceof Error) || !isThere) return NO_MARKS;
    return marksOf(failure.message, ranText).map((mark) => ({
      ...mark,
      from: mark.from + from,
      to: mark.to + from,
    }));
  }, [failure, ranText, from, isThere]);
}

function useBench({ bench, texts, prepare, start, partial, errorText }: WorkbenchProps) {
  const { runs, stale, execute, ...turns } = useRuns(bench.name);
  const [ran, setRan] = useState<Ran>({ texts, from: 0 });
  const [part, select] = useState<Part | null>(null);
  const ranText = errorText(ran.texts);
  const marks = useMarks(runs.failure, ranText, ran.from, errorText(texts));
  const { isShown, onTexts } = bench;
  const all = JSON.stringify(texts);
  useEffect(() => {
    if (isShown) onTexts(JSON.parse(all) as Texts);
  }, [isShown, all, onTexts]);
  const run = (what: Texts, from: number) => {
    setRan({ texts: what, from });
    let ended: ((outcome: Outcome) => void) | null = null;
    execute(
      () => {
        const started = start(what);
        ended = bench.onRan(what);
        return started;
      },
      (outcome) => ended?.(outcome),
    );
  };
  return {
    runs,
    stale,
    turns,
    part,
    select,
    ranText,
    marks,
    runAll: () => {
      const all = prepare === undefined ? texts : prepare();
      if (all !== null) run(all, 0);
    },
    runPart: (of: Part) => run(partial(of), of.from),
    runAgain: () => run(ran.texts, ran.from),
    // Results restored after a page change may belong to another text.
    startAgain: runs.run === null ? null : () => start(ran.texts),
  };
}

export function Workbench(props: WorkbenchProps) {
  const { target, bench, stages, onTake, children } = props;
  const [chosen, setPanel] = useState<Panel>('results');
  const panel = chosen === 'stages' && stages === undefined ? 'results' : chosen;
  const tabs = stages === undefined ? TABS.filter(({ key }) => key !== 'stages') : TABS;
  const { runs, stale, turns, part, select, ranText, marks, ...run } = useBench(props);
  const explaining = useExplanation(runs, panel === 'explain');
  const advice = explaining.explanation?.advice ?? null;
  const show = (go: () => void) => {
    go();
    if (panel === 'history' || panel === 'saved' || panel === 'stages') setPanel('results');
  };
  const execute = () => show(run.runAll);
  const executePart = (of: Part) => show(() => run.runPart(of));
  const panelId = `${bench.id}-panel`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the run key works in every field.
    <div
      className="page query"
      onKeyDown={(event) => {
        if (!isRunKey(event)) return;
        event.preventDefault();
        execute();
      }}
    >
      {children({ execute, executePart, onSelect: select, marks })}
      <QueryBar
        runs={runs}
        onRun={execute}
        onRunPart={part === null ? null : () => executePart(part)}
        onCancel={turns.cancel}
        onPrevious={turns.previous}
        onNext={turns.next}
        onMore={turns.more}
      />
      <Problems error={runs.failure} text={ranText} target={target} />
      <Tabs label="Of the query" tabs={tabs} selected={panel} onSelect={setPanel} panel={panelId} />
      <div
        className="query-panel"
        id={panelId}
        role="tabpanel"
        aria-labelledby={`${panelId}-tab-${panel}`}
      >
        {panel === 'results' && advice !== null && (
          <AdviceBanner advice={advice} onApplied={run.runAgain} />
        )}
        {panel === 'results' && (
          <ResultsPanel target={target} runs={runs} stale={stale} startAgain={run.startAgain} />
        )}
        {panel === 'stages' && stages?.((text) => executePart({ text, from: 0 }))}
        {panel === 'explain' && (
          <ExplainPanel
            {...explaining}
            hasRun={runs.run !== null && (runs.pages.length > 0 || runs.failure !== null)}
            onApplied={run.runAgain}
          />
        )}
        {panel === 'statistics' && <StatisticsPanel runs={runs} door={target.door} />}
        {panel === 'history' && bench.history(onTake)}
        {panel === 'saved' && bench.saved}
      </div>
    </div>
  );
}
