// A page of results as text, and in words what came of the query.
import { counted } from '../../pure/figures/amount';
import { utc } from '../../pure/time/utc';
import type { Door } from '../../state/place';
import { Banner } from '../../ui/Banner';
import { CodeEditor } from '../../ui/CodeEditor';
import type { Runs } from './useRuns';

export interface ResultsPanelProps {
  door: Door;
  runs: Runs;
}

/** What came of it, in words: which rows, as of when. */
export function summary({ pages, at, busy, cancelled, failure }: Runs): string {
  if (busy) return pages.length === 0 ? 'Running…' : 'Reading the next page…';
  if (cancelled)
    return pages.length === 0 ? 'Cancelled.' : 'Cancelled; the pages read before are still here.';
  const page = pages[at];
  if (page === undefined)
    return failure === null
      ? 'Not run yet: Ctrl+Enter runs it.'
      : 'It failed: there are no results.';
  const before = pages.slice(0, at).reduce((all, one) => all + one.rows, 0);
  const last = page.rows === 0 ? '' : `: ${before + 1} to ${before + page.rows}`;
  const many = before === 0 && !page.more ? counted(page.rows, 'result') : `Page ${at + 1}${last}`;
  const asOf = page.ranAtMs === null ? '' : `, run at ${utc(page.ranAtMs)} database time`;
  return `${many}${asOf}${page.more ? '; more follow' : ''}.`;
}

export function ResultsPanel({ door, runs }: ResultsPanelProps) {
  const { pages, at, stale } = runs;
  const page = pages[at];
  return (
    <>
      {stale && (
        <Banner look="warn">
          These results are of one instant. The clock has moved since, or the server was away:
          execute the query again to see what is live now.
        </Banner>
      )}
      {page !== undefined && (
        <div className="query-results">
          <CodeEditor
            label="Results"
            value={page.text}
            language={door === 'nosql' ? 'json' : 'shell'}
            readOnly
          />
        </div>
      )}
    </>
  );
}
