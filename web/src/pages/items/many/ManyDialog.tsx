// Before many items are changed: how many, and what will happen. Then how far it is, and a way to stop.
import { useEffect, useId, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { count, counted } from '../../../pure/figures/amount';
import { spelled, UNITS, type UnitName } from '../../../pure/time/duration';
import { readSeconds } from '../../../pure/ttl/input';
import type { Target } from '../../../state/place';
import { databaseNow } from '../../../state/server';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import type { Row, Source } from '../source';
import { binned } from './bin';
import { type Act, type Outcome, whyAtOnce } from './many';
import { runJob } from './run';
import { deletionWords, touchWords, ttlWords } from './words';

export interface Asked {
  kind: Act['kind'];
  /** null: all that fit the filter. */
  rows: readonly Row[] | null;
  filter: string;
}

export interface ManyDialogProps {
  target: Target;
  source: Source;
  asked: Asked;
  onDone: (kind: Act['kind'], outcome: Outcome, isSoft: boolean) => void;
  onClose: () => void;
}

type Choice = 'seconds' | 'never' | 'none';

interface TtlTyped {
  choice: Choice;
  text: string;
  unit: UnitName;
}

/** What is chosen; a sentence where it is nothing. */
function readTtl({ choice, text, unit }: TtlTyped): { value: number | null } | { error: string } {
  if (choice === 'never') return { value: -1 };
  if (choice === 'none') return { value: null };
  return readSeconds(text, unit);
}

const CHOICES = [
  ['seconds', 'A time of their own'],
  ['never', 'Never expire (ttl = -1)'],
  ['none', 'No ttl: the default applies'],
] as const satisfies readonly [Choice, string][];

function TtlFields({ typed, onType }: { typed: TtlTyped; onType: (typed: TtlTyped) => void }) {
  const id = useId();
  const read = readTtl(typed);
  const radio = ([choice, label]: (typeof CHOICES)[number]) => (
    <label key={choice}>
      <input
        type="radio"
        name={id}
        checked={typed.choice === choice}
        onChange={() => onType({ ...typed, choice })}
      />{' '}
      {label}
    </label>
  );
  return (
    <fieldset className="many-ttl">
      <legend>ttl</legend>
      {radio(CHOICES[0])}
      {typed.choice === 'seconds' && (
        <div className="row">
          <input
            type="text"
            inputMode="numeric"
            size={10}
            aria-label={`Time in ${typed.unit}s`}
            aria-invalid={'error' in read}
            aria-describedby={`${id}-said`}
            value={typed.text}
            onChange={(event) => onType({ ...typed, text: event.target.value })}
          />
          <select
            aria-label="Unit"
            value={typed.unit}
            onChange={(event) => {
              const unit = UNITS.find(({ name }) => name === event.target.value)?.name;
              onType({ ...typed, unit: unit ?? 'second' });
            }}
          >
            {UNITS.map(({ name }) => (
              <option key={name} value={name}>
                {name}s
              </option>
            ))}
          </select>
          <span id={`${id}-said`} className={'error' in read ? 'error' : 'hint'}>
            {'error' in read ? read.error : spelled(read.value ?? 0)}
          </span>
        </div>
      )}
      {CHOICES.slice(1).map(radio)}
    </fieldset>
  );
}

/** How many fit the filter, asked of the server once. */
function useCount({ rows, filter }: Asked, source: Source) {
  const [found, setFound] = useState<{ count: number | null; failure: string | null }>({
    count: rows?.length ?? null,
    failure: null,
  });
  useEffect(() => {
    if (rows !== null) return;
    const turn = new AbortController();
    const failure =
      'The filter says itself how many it wants, by OFFSET or LIMIT: take that out first.';
    if (!source.counts(filter)) setFound({ count: null, failure });
    else {
      source.count(filter, turn.signal).then(
        (count) => setFound({ count, failure: null }),
        (error: unknown) => {
          if (!turn.signal.aborted) setFound({ count: null, failure: words(error) });
        },
      );
    }
    return () => turn.abort();
  }, [rows, filter, source]);
  return found;
}

const VERBS = { delete: 'Delete', touch: 'Restart countdown of', ttl: 'Set ttl of' } as const;

function titleOf({ kind, rows }: Asked, n: number | null, noun: string): string {
  const [only] = rows ?? [];
  if (rows?.length === 1 && only !== undefined) return `${VERBS[kind]} ${noun} ${only.name}?`;
  return `${VERBS[kind]} ${n === null ? `all ${noun}s that fit` : counted(n, noun)}?`;
}

export function ManyDialog({ target, source, asked, onDone, onClose }: ManyDialogProps) {
  const { kind, rows, filter } = asked;
  const { count: n, failure } = useCount(asked, source);
  const [typed, setTyped] = useState<TtlTyped>({ choice: 'seconds', text: '1', unit: 'hour' });
  const [done, setDone] = useState<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const ttl = readTtl(typed);
  const isSoft = kind === 'delete' && whyAtOnce(source, n ?? 0) === null;
  const begin = async () => {
    if (kind === 'ttl' && 'error' in ttl) return;
    const act: Act =
      kind === 'ttl' ? { kind, seconds: 'value' in ttl ? ttl.value : null } : { kind };
    const turn = new AbortController();
    running.current = turn;
    setDone(0);
    setError(null);
    const nowMs = () => databaseNow() ?? 0;
    // What was deleted before is left alone, unless it was chosen by name.
    const except = rows === null ? binned(target) : new Map<string, number>();
    const job = { act, isSoft, rows, filter, except, nowMs };
    try {
      const outcome = await runJob(source, job, turn.signal, setDone);
      onDone(kind, outcome, isSoft);
      onClose();
    } catch (thrown) {
      setDone(null);
      setError(words(thrown));
    }
  };
  const says =
    n === null
      ? ''
      : kind === 'delete'
        ? deletionWords(source, n)
        : kind === 'touch'
          ? touchWords(source, n)
          : 'value' in ttl
            ? ttlWords(source, ttl.value, n)
            : '';
  return (
    <Dialog
      title={titleOf(asked, n, source.noun)}
      onClose={() => {
        running.current?.abort();
        if (done === null) onClose();
      }}
    >
      {rows === null && (
        <p>
          {filter === '' ? `Everything in ${target.collection}` : 'What fits the filter'}
          {filter !== '' && <code className="many-filter">{filter}</code>}:{' '}
          {n === null ? 'counting…' : <strong>{counted(n, source.noun)}</strong>}
        </p>
      )}
      {failure !== null && <Banner look="bad">{failure}</Banner>}
      {error !== null && <Banner look="bad">{error}</Banner>}
      {kind === 'ttl' && done === null && <TtlFields typed={typed} onType={setTyped} />}
      {done === null ? (
        <p>{says}</p>
      ) : (
        <p role="status">
          <progress max={n ?? 1} value={done} aria-label="Progress" /> {count(done)} of{' '}
          {count(n ?? 0)}
        </p>
      )}
      <div className="row dialog-buttons">
        {done === null ? (
          <>
            <Button
              look={kind === 'delete' && !isSoft ? 'danger' : 'primary'}
              disabled={n === null || n === 0 || (kind === 'ttl' && 'error' in ttl)}
              onClick={() => void begin()}
            >
              {kind === 'delete' && n !== null && n > 1
                ? `Delete ${counted(n, source.noun)}`
                : { delete: 'Delete', touch: 'Restart countdown', ttl: 'Set ttl' }[kind]}
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </>
        ) : (
          <Button onClick={() => running.current?.abort()}>Stop</Button>
        )}
      </div>
    </Dialog>
  );
}
