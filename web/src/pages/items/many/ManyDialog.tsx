// Confirmation of a bulk change: the number of items, and the effect. Then its progress, with a
// cancel button.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { count, counted } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { databaseNow } from '../../../state/server';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import { NameField } from '../../../ui/NameField';
import type { Row, Source } from '../source';
import { binned } from './bin';
import { FieldForm } from './field/FieldForm';
import { FieldPreview } from './field/FieldPreview';
import { readChange, UNTYPED, usualType } from './field/typed';
import { type Act, KEPT_SECONDS, keptSeconds, type Outcome, undoSeconds, whyAtOnce } from './many';
import { runJob } from './run';
import { NO_TTL, readTtl, TtlForm } from './TtlForm';
import { useWhole } from './useWhole';
import { deletionWords, touchWords, ttlWords } from './words';

export interface Asked {
  kind: Act['kind'];
  /** null: all that match the filter. */
  rows: readonly Row[] | null;
  filter: string;
}

export interface ManyDialogProps {
  target: Target;
  source: Source;
  asked: Asked;
  /** Loaded rows, which serve as a sample of all matches. */
  loaded: readonly Row[];
  /** `undoSeconds`: how long a deletion can be undone; null: it cannot. */
  onDone: (act: Act, outcome: Outcome, undoSeconds: number | null) => void;
  onClose: () => void;
}

/** Counts the matches of the filter once. */
function useCount({ rows, filter }: Asked, source: Source) {
  const [found, setFound] = useState<{ count: number | null; failure: string | null }>({
    count: rows?.length ?? null,
    failure: null,
  });
  useEffect(() => {
    if (rows !== null) return;
    const turn = new AbortController();
    const failure = 'The filter has OFFSET or LIMIT: remove it first.';
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

/** Whether items with this `ttl` would expire before the change could be undone. */
function endsSoon({ defaultTtl, perDocument }: Source, seconds: number | null): boolean {
  const isHeeded = defaultTtl !== null && perDocument;
  return isHeeded && seconds !== null && seconds > 0 && seconds < KEPT_SECONDS;
}

/** Up to this many are deleted for good without typing the collection's name. */
const HANDFUL = 10;

const VERBS = {
  delete: 'Delete',
  touch: 'Restart countdown of',
  ttl: 'Set ttl of',
  field: 'Change a field of',
} as const;

function titleOf({ kind, rows }: Asked, n: number | null, noun: string): string {
  const [only] = rows ?? [];
  if (rows?.length === 1 && only !== undefined) return `${VERBS[kind]} ${noun} ${only.name}?`;
  return `${VERBS[kind]} ${n === null ? `all matching ${noun}s` : counted(n, noun)}?`;
}

/** The dialog's input: the operation (null: incomplete), its form, and its effect in words. */
interface Decision {
  act: Act | null;
  form: ReactNode;
  says: ReactNode;
}

function useTtl(source: Source, n: number): Decision {
  const [typed, setTyped] = useState(NO_TTL);
  const read = readTtl(typed);
  const form = <TtlForm typed={typed} onType={setTyped} />;
  if ('error' in read) return { act: null, form, says: null };
  const says = <p>{ttlWords(source, read.value, n)}</p>;
  return { act: { kind: 'ttl', seconds: read.value }, form, says };
}

function useField(source: Source, rows: readonly Row[], n: number | null): Decision {
  const [typed, setTyped] = useState(UNTYPED);
  const type = typed.type ?? usualType(rows, typed.path, source.api);
  const read = readChange(typed, type, source);
  const wrong = 'wrong' in read ? read.wrong : {};
  const form = <FieldForm {...{ source, rows, typed, type, wrong }} onType={setTyped} />;
  if ('wrong' in read) return { act: null, form, says: null };
  const { change } = read;
  const says = <FieldPreview source={source} change={change} rows={rows} n={n} />;
  return { act: { kind: 'field', change }, form, says };
}

/** Returns the operation; only that of `asked` has a form. */
function useDecision({ asked, source, loaded }: ManyDialogProps, n: number | null): Decision {
  const ttl = useTtl(source, n ?? 0);
  const rows = useWhole(source, asked.rows ?? loaded, asked.kind === 'field');
  const field = useField(source, rows, n);
  switch (asked.kind) {
    case 'ttl':
      return ttl;
    case 'field':
      return field;
    case 'touch':
      return { act: { kind: 'touch' }, form: null, says: <p>{touchWords(source, n ?? 0)}</p> };
    case 'delete':
      return { act: { kind: 'delete' }, form: null, says: <p>{deletionWords(source, n ?? 0)}</p> };
  }
}

/** Returns the label of the start button. */
function doesWords(kind: Act['kind'], n: number | null, noun: string): string {
  if (kind === 'delete') return n !== null && n > 1 ? `Delete ${counted(n, noun)}` : 'Delete';
  if (kind === 'field') return n === null ? 'Change' : `Change ${counted(n, noun)}`;
  return kind === 'ttl' ? 'Set ttl' : 'Restart countdown';
}

export function ManyDialog(props: ManyDialogProps) {
  const { target, source, asked, onDone, onClose } = props;
  const { kind, rows, filter } = asked;
  const { count: n, failure } = useCount(asked, source);
  const { act, form, says } = useDecision(props, n);
  const [done, setDone] = useState<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const isSoft = kind === 'delete' && whyAtOnce(source, n ?? 0) === null;
  const ends =
    (kind === 'delete' && !isSoft) || (act?.kind === 'ttl' && endsSoon(source, act.seconds));
  // An irreversible operation on many items needs a typed confirmation.
  const isFinal = ends && n !== null && n > HANDFUL;
  const [typed, setTyped] = useState('');
  const begin = async () => {
    if (act === null) return;
    const turn = new AbortController();
    running.current = turn;
    setDone(0);
    setError(null);
    const nowMs = () => databaseNow() ?? 0;
    // Items deleted before are skipped unless they were selected explicitly.
    const except = rows === null ? binned(target) : new Map<string, number>();
    const kept = keptSeconds(n ?? 0);
    const job = { act, isSoft, rows, filter, except, keptSeconds: kept, nowMs };
    const began = performance.now();
    try {
      const outcome = await runJob(source, job, turn.signal, setDone);
      onDone(act, outcome, isSoft ? undoSeconds(n ?? 0, performance.now() - began) : null);
      onClose();
    } catch (thrown) {
      setDone(null);
      setError(words(thrown));
    }
  };
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
          {filter === '' ? `Everything in ${target.collection}: ` : 'Matching the filter: '}
          {failure !== null && 'count not available.'}
          {failure === null &&
            (n === null ? 'counting…' : <strong>{counted(n, source.noun)}</strong>)}
          {filter !== '' && <code className="many-filter">{filter}</code>}
        </p>
      )}
      {failure !== null && <Banner look="bad">{failure}</Banner>}
      {error !== null && <Banner look="bad">{error}</Banner>}
      {done === null ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void begin();
          }}
        >
          {form}
          {n !== null && says}
          {isFinal && (
            <NameField
              what={target.door === 'nosql' ? 'container' : 'collection'}
              name={target.collection}
              typed={typed}
              onType={setTyped}
            />
          )}
          <div className="row dialog-buttons">
            <Button
              type="submit"
              look={ends ? 'danger' : 'primary'}
              disabled={
                n === null || n === 0 || act === null || (isFinal && typed !== target.collection)
              }
            >
              {doesWords(kind, n, source.noun)}
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </div>
        </form>
      ) : (
        <>
          <p role="status">
            <progress max={n ?? 1} value={done} aria-label="Progress" /> {count(done)} of{' '}
            {count(n ?? 0)}
          </p>
          <div className="row dialog-buttons">
            <Button onClick={() => running.current?.abort()}>Stop</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
