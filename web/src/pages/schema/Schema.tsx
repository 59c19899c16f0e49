// The schema page: fields of a collection and how its documents expire, derived from a sample.
import { useCallback, useEffect, useState } from 'react';
import { series } from '../../api/admin';
import { count, counted } from '../../pure/figures/amount';
import { expiryClasses } from '../../pure/schema/expiry';
import { type SampleFacts, sampleFacts } from '../../pure/schema/fields';
import type { Target } from '../../state/place';
import { usePolled } from '../../state/polled';
import { usePreference } from '../../state/preference';
import { useRequest } from '../../state/request';
import { useServerChanges } from '../../state/server';
import { Button } from '../../ui/Button';
import { Failure } from '../../ui/Failure';
import { Skeleton } from '../../ui/Skeleton';
import { ExpiryChart } from '../metrics/ExpiryChart';
import { DAY } from '../metrics/steps';
import { Classes } from './Classes';
import { Fields } from './Fields';
import { readSample, type Sample, SIZES, type Size } from './sample';
import './schema.css';

const REFRESH_MS = 15_000;

const isSize = (value: unknown): value is Size => SIZES.some((size) => size === value);

interface Known {
  sample: Sample;
  facts: SampleFacts;
}

function useSample(target: Target, size: Size) {
  const [known, setKnown] = useState<Known | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(true);
  const changes = useServerChanges();
  const { send } = useRequest();
  const { door, database, collection } = target;
  const again = useCallback(() => {
    setBusy(true);
    void send(
      (signal) => readSample({ door, database, collection }, size, signal),
      (sample) => {
        setBusy(false);
        setFailure(null);
        setKnown({ sample, facts: sampleFacts(sample.documents, door) });
      },
      (error) => {
        setBusy(false);
        setFailure(error);
      },
    );
  }, [send, door, database, collection, size]);
  useEffect(again, [again, changes]);
  return { known, failure, busy, again };
}

/** "1,003 of 120,000 items, chosen at random". */
function sampleInWords({ documents, live, isWhole, isCut }: Sample, noun: string): string {
  if (isWhole) return `All ${counted(documents.length, noun)}`;
  const cut = isCut ? '; limited by size' : '';
  return `${count(documents.length)} of ${counted(live, noun)}, chosen at random${cut}`;
}

interface ShownProps {
  target: Target;
  noun: 'item' | 'document';
  known: Known;
}

function Shown({ target, noun, known }: ShownProps) {
  const { sample, facts } = known;
  const days = usePolled(() => series(target, DAY.seconds, 30), REFRESH_MS);
  if (sample.documents.length === 0) return <p className="empty">There are no {noun}s.</p>;
  const classes = expiryClasses(sample.expiring, sample.defaultTtl);
  return (
    <>
      <section className="schema-expiry" aria-label="Expiry">
        <div>
          <h2>How {noun}s expire</h2>
          <Classes
            target={target}
            noun={noun}
            classes={classes}
            live={sample.isWhole ? null : sample.live}
          />
        </div>
        <ExpiryChart
          title={`${noun}s that expire per day, next 30 days`}
          series={days.value}
          unit={DAY}
          noun={noun}
        />
      </section>
      <Fields facts={facts} target={target} />
    </>
  );
}

export default function Schema({ target }: { target: Target }) {
  const noun = target.door === 'nosql' ? 'item' : 'document';
  const [size, setSize] = usePreference<Size>('schema-sample', 1000, isSize);
  const { known, failure, busy, again } = useSample(target, size);
  return (
    <div className="page schema">
      <div className="row schema-bar">
        <label>
          Sample of{' '}
          <select
            value={size}
            onChange={(event) => {
              const chosen = Number(event.target.value);
              if (isSize(chosen)) setSize(chosen);
            }}
          >
            {SIZES.map((one) => (
              <option key={one} value={one}>
                {count(one)}
              </option>
            ))}
          </select>
        </label>
        <Button busy={busy} onClick={again}>
          Resample
        </Button>
        <span className="hint" role="status">
          {known === null ? '' : sampleInWords(known.sample, noun)}
        </span>
      </div>
      {failure !== null && <Failure error={failure} target={target} onAgain={again} />}
      {known === null ? (
        failure === null && <Skeleton lines={8} />
      ) : (
        <Shown target={target} noun={noun} known={known} />
      )}
    </div>
  );
}
