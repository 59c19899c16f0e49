// The last day's activity: charts with a shared time range and cursor.
import { useMemo, useState } from 'react';
import type { Figures } from '../../../api/admin';
import { utc } from '../../../pure/time/utc';
import type { Polled } from '../../../state/polled';
import { setQueries, usePlace } from '../../../state/router';
import { Button } from '../../../ui/Button';
import { Failure } from '../../../ui/Failure';
import { LineChart } from './LineChart';
import { charts, type Range, within } from './lines';
import { addressOf, HOURS, type Shown, shownOf } from './shownRange';
import './history.css';

const HOUR_MS = 3_600_000;

export function History({ figures }: { figures: Polled<Figures> }) {
  const { query } = usePlace();
  const shown = useMemo(() => shownOf(query), [query]);
  const show = (next: Shown) => setQueries(addressOf(next), true);
  const [cursor, setCursor] = useState<number | null>(null);
  const { value, failure, again } = figures;
  const last = value?.samples.at(-1)?.at_ms ?? null;
  const range = useMemo<Range | null>(() => {
    if (shown.kind === 'part') return shown.range;
    return last === null ? null : { from: last - shown.hours * HOUR_MS, to: last };
  }, [shown, last]);
  const drawn = useMemo(() => (value === null ? [] : charts(within(value, range))), [value, range]);
  return (
    <section aria-labelledby="history-title" className="history">
      <div className="history-head">
        <h2 id="history-title">The last day</h2>
        <fieldset className="history-ranges">
          <legend className="visually-hidden">Time range</legend>
          {HOURS.map((one) => (
            <Button
              key={one}
              aria-pressed={shown.kind === 'hours' && shown.hours === one}
              onClick={() => show({ kind: 'hours', hours: one })}
            >
              {one === 1 ? '1 hour' : `${one} hours`}
            </Button>
          ))}
        </fieldset>
        {shown.kind === 'part' && (
          <p className="hint history-chosen">
            {utc(shown.range.from)} to {utc(shown.range.to)}{' '}
            <Button onClick={() => show({ kind: 'hours', hours: HOURS[0] })}>Show all</Button>
          </p>
        )}
      </div>
      {failure !== null && <Failure error={failure} onAgain={again} />}
      {value !== null && value.samples.length <= 1 && (
        <p className="hint">No data yet. A point is added each minute.</p>
      )}
      {range !== null && (
        <div className="history-charts">
          {drawn.map((chart) => (
            <LineChart
              key={chart.title}
              chart={chart}
              range={range}
              cursor={cursor}
              onCursor={setCursor}
              onChoose={(part) => show({ kind: 'part', range: part })}
            />
          ))}
        </div>
      )}
      <p className="hint">
        Drag over a chart to zoom in. Samples are taken each minute and kept for 24 hours; for
        longer, scrape <code>/metrics</code>.
      </p>
    </section>
  );
}
