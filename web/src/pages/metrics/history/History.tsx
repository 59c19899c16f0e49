// What the server did during the last day: charts that share their time and their cursor.
import { useMemo, useState } from 'react';
import { readFigures } from '../../../api/admin';
import { utc } from '../../../pure/time/utc';
import { usePolled } from '../../../state/polled';
import { Button } from '../../../ui/Button';
import { Failure } from '../../../ui/Failure';
import { LineChart } from './LineChart';
import { charts, type Range, within } from './lines';
import './history.css';

const REFRESH_MS = 10_000;
const HOURS = [1, 6, 24] as const;
const HOUR_MS = 3_600_000;

export function History() {
  const figures = usePolled(readFigures, REFRESH_MS);
  const [hours, setHours] = useState<number>(HOURS[0]);
  const [chosen, choose] = useState<Range | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const { value, failure, again } = figures;
  const last = value?.samples.at(-1)?.at_ms ?? null;
  const range = useMemo<Range | null>(() => {
    if (chosen !== null || last === null) return chosen;
    return { from: last - hours * HOUR_MS, to: last };
  }, [chosen, last, hours]);
  const drawn = useMemo(() => (value === null ? [] : charts(within(value, range))), [value, range]);
  return (
    <section aria-labelledby="history-title" className="history">
      <div className="history-head">
        <h2 id="history-title">The last day</h2>
        <fieldset className="history-ranges">
          <legend className="visually-hidden">Time that is shown</legend>
          {HOURS.map((one) => (
            <Button
              key={one}
              aria-pressed={chosen === null && hours === one}
              onClick={() => {
                choose(null);
                setHours(one);
              }}
            >
              {one === 1 ? '1 hour' : `${one} hours`}
            </Button>
          ))}
        </fieldset>
        {chosen !== null && (
          <p className="hint history-chosen">
            {utc(chosen.from)} to {utc(chosen.to)}{' '}
            <Button onClick={() => choose(null)}>Show all</Button>
          </p>
        )}
      </div>
      {failure !== null && <Failure error={failure} onAgain={again} />}
      {value !== null && value.samples.length <= 1 && (
        <p className="hint">A point is added each minute; the first ones are on their way.</p>
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
              onChoose={choose}
            />
          ))}
        </div>
      )}
      <p className="hint">
        Drag over a chart to look closer. Samples of a minute are kept for 24 hours; for longer,
        gather <code>/metrics</code>.
      </p>
    </section>
  );
}
