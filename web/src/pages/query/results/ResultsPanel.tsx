// The results of a query, with a summary of its outcome.
import { useMemo } from 'react';
import { counted } from '../../../pure/figures/amount';
import { utc } from '../../../pure/time/utc';
import type { Target } from '../../../state/place';
import { Banner } from '../../../ui/Banner';
import { CodeEditor } from '../../../ui/CodeEditor';
import { CopyButton } from '../../../ui/CopyButton';
import type { Run } from '../run';
import { type Read, type Runs, shownOf } from '../runState';
import { Download } from './Download';
import { joined } from './form';
import { NotRun } from './Nothing';
import { ResultTable } from './ResultTable';
import { ResultTree } from './ResultTree';
import { useView, ViewChoice } from './ViewChoice';

export interface ResultsPanelProps {
  target: Target;
  runs: Runs;
  /** Whether the clock was moved or the server was unreachable since the results were read. */
  stale?: boolean;
  /** Runs the query of these results again; null or omitted: unknown. */
  startAgain?: (() => Run) | null;
}

const rowsOf = (pages: Runs['pages']) =>
  pages.reduce((all, { results }) => all + results.rows.length, 0);

/** Describes the shown rows, number of pages, and time; null: no results were read. */
function rowsInWords({ pages, at }: Read): string | null {
  const page = pages[at];
  if (page === undefined) return null;
  const before = rowsOf(pages.slice(0, at));
  const here = page.results.rows.length;
  const range = here === 0 ? '' : `: ${before + 1} to ${before + here}`;
  const isAll = before === 0 && !page.more;
  const of = pages.length > 1 ? ` of ${pages.length} read` : '';
  const many = isAll ? counted(here, 'result') : `Page ${at + 1}${of}${range}`;
  const asOf = page.ranAtMs === null ? '' : `, run at ${utc(page.ranAtMs)} database time`;
  return `${many}${asOf}`;
}

export function summary({ pages, at, busy, cancelled, failure }: Runs): string {
  if (busy) return pages.length === 0 ? 'Running…' : 'Reading the next page…';
  if (cancelled)
    return pages.length === 0 ? 'Cancelled.' : 'Cancelled; the pages already read are kept.';
  const rows = rowsInWords({ pages, at });
  if (rows === null)
    return failure === null
      ? 'Press Ctrl+Enter to run the query.'
      : // The reason is shown below.
        '';
  return `${rows}${pages.at(-1)?.more === true ? '; more available' : ''}.`;
}

function Stale() {
  return (
    <Banner look="warn">
      These results are a snapshot. The clock has advanced or the server was unavailable since:
      execute the query again for current data.
    </Banner>
  );
}

export function ResultsPanel(props: ResultsPanelProps) {
  const { target, runs, stale = false, startAgain = null } = props;
  const shown = shownOf(runs);
  const { pages, at } = shown;
  const [view, setView] = useView();
  const page = pages[at];
  const first = useMemo(() => rowsOf(pages.slice(0, at)) + 1, [pages, at]);
  if (page === undefined)
    return runs.busy || runs.cancelled || runs.failure !== null ? null : <NotRun />;
  const { results } = page;
  const isOfBefore = shown === runs.before;
  return (
    <div className={isOfBefore ? 'result-panel result-before' : 'result-panel'}>
      {isOfBefore && (
        <p className="hint">Results of the previous execution: {rowsInWords(shown)}.</p>
      )}
      {stale && <Stale />}
      <div className="row result-bar">
        <ViewChoice view={view} onChoose={setView} />
        <span className="result-space" />
        <CopyButton text={page.text} label="the results of this page" />
        <Download
          results={() => joined(pages.map((one) => one.results))}
          count={rowsOf(pages)}
          startAll={isOfBefore || pages.at(-1)?.more !== true ? null : startAgain}
          name={`${target.database}.${target.collection}`}
        />
      </div>
      {view === 'Table' && <ResultTable target={target} results={results} first={first} />}
      {view === 'Tree' && (
        <ResultTree key={first} target={target} results={results} first={first} />
      )}
      {view === 'JSON' && (
        <div className="query-results">
          <CodeEditor label="Results" value={page.text} language={results.form.language} readOnly />
        </div>
      )}
    </div>
  );
}
