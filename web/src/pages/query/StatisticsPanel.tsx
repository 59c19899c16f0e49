// Statistics of a query as a table.
import { useEffect, useState } from 'react';
import type { Door } from '../../state/place';
import { Failure } from '../../ui/Failure';
import type { Runs } from './runState';
import type { Statistic } from './statistics';

interface Known {
  lines: Statistic[] | null;
  failure: unknown;
}

/** Loads the statistics of the current page when they are shown. */
function useStatistics({ run, at, pages }: Runs): Known {
  const [known, setKnown] = useState<Known>({ lines: null, failure: null });
  const read = pages.length;
  useEffect(() => {
    setKnown({ lines: null, failure: null });
    if (run === null || read === 0) return;
    const abort = new AbortController();
    run.statistics(at, abort.signal).then(
      (lines) => !abort.signal.aborted && setKnown({ lines, failure: null }),
      (failure: unknown) => !abort.signal.aborted && setKnown({ lines: null, failure }),
    );
    return () => abort.abort();
  }, [run, at, read]);
  return known;
}

export function StatisticsPanel({ runs, door }: { runs: Runs; door: Door }) {
  const { lines, failure } = useStatistics(runs);
  if (failure !== null) return <Failure error={failure} />;
  if (runs.run === null || runs.pages.length === 0)
    return <p className="hint">Run a query to see its statistics.</p>;
  if (lines === null) return <p className="hint">Loading…</p>;
  const sums = lines.some((line) => line.all !== undefined) && runs.pages.length > 1;
  return (
    <>
      <div className="query-scroll">
        <table>
          <caption className="visually-hidden">Query statistics</caption>
          <thead>
            <tr>
              <th scope="col">Figure</th>
              <th scope="col">{sums ? `Page ${runs.at + 1}` : 'Value'}</th>
              {sums && <th scope="col">All {runs.pages.length} pages read</th>}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name}>
                <th scope="row">{line.name}</th>
                <td>{line.value}</td>
                {sums && <td>{line.all ?? ''}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {door === 'mongo' && (
        <p className="hint">
          Measured by running the query again with explain, except for the round trip.
        </p>
      )}
    </>
  );
}
