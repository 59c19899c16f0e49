// Moves a manual clock: by fixed steps, by a typed duration, or to a date. Shows the expirations
// that each move causes.
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { advanceClock, setClock } from '../../api/admin';
import { words } from '../../api/http';
import { UNITS, type UnitName } from '../../pure/time/duration';
import { fromInput, toInput, utc } from '../../pure/time/utc';
import { toast } from '../../state/log';
import { refreshServer } from '../../state/server';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { UtcField } from '../../ui/UtcField';
import { parseAdvance } from './clock';
import { type Asked, MoveDialog } from './MoveDialog';
import { tollOf, tollWords } from './toll';
import { usePreview } from './usePreview';
import './metrics.css';

const STEPS = [
  { label: '+1 s', seconds: 1 },
  { label: '+1 min', seconds: 60 },
  { label: '+1 h', seconds: 3600 },
  { label: '+1 day', seconds: 86_400 },
  { label: '+90 days', seconds: 7_776_000 },
];

/**
 * Executes moves, one at a time; reports expirations and keeps the error. A move without
 * expirations is executed at once; any other one needs confirmation.
 */
function useMove() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const move = async ({ change, toll }: Asked) => {
    setBusy(true);
    setAsked(null);
    try {
      await change();
      await refreshServer();
      if (toll !== null)
        toast({ text: `Clock advanced: ${tollWords(toll)} of both APIs expired.` });
    } catch (error) {
      setFailure(words(error));
    }
    setBusy(false);
  };
  const ask = async (seconds: number, change: () => Promise<void>) => {
    setBusy(true);
    setFailure(null);
    // Before the move, since a forecast does not contain expired documents.
    const toll = await tollOf(seconds);
    const wanted = { seconds, toll, change };
    if (toll?.none) return move(wanted);
    setBusy(false);
    setAsked(wanted);
  };
  return {
    busy,
    failure,
    asked,
    ask,
    move,
    drop: () => setAsked(null),
    forget: () => setFailure(null),
  };
}

export function ManualClock({ now, allowed }: { now: number; allowed: boolean }) {
  const move = useMove();
  const { busy, failure } = move;
  const [asked, setAsked] = useState<number | null>(null);
  const preview = usePreview(asked, now);
  const reason = useId();
  const ask = (seconds: number | null) => {
    setAsked(seconds);
    move.forget();
  };
  const by = (seconds: number) => void move.ask(seconds, () => advanceClock(seconds));
  const disabled = !allowed || busy;
  return (
    <section className="metrics-move" aria-label="Move the clock">
      <div className="row" role="group" aria-label="Move the clock forward">
        {STEPS.map(({ label, seconds }) => (
          <Button
            key={label}
            disabled={disabled}
            aria-describedby={allowed ? undefined : reason}
            onClick={() => by(seconds)}
            onFocus={() => setAsked(seconds)}
            onPointerEnter={() => setAsked(seconds)}
          >
            {label}
          </Button>
        ))}
      </div>
      <Free disabled={disabled} onAsk={ask} onMove={by} />
      <ToDate
        disabled={disabled}
        now={now}
        onAsk={ask}
        onMove={(to) => void move.ask((Date.parse(to) - now) / 1000, () => setClock(to))}
      />
      {!allowed && (
        <p className="hint" id={reason}>
          Read-only session: the clock cannot be moved.
        </p>
      )}
      <p className="hint metrics-preview" role="status">
        {preview}
      </p>
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
      {move.asked !== null && (
        <MoveDialog
          asked={move.asked}
          now={now}
          onMove={() => move.asked !== null && void move.move(move.asked)}
          onClose={move.drop}
        />
      )}
    </section>
  );
}

interface MoveFormProps {
  button: string;
  disabled: boolean;
  onSubmit: () => void;
  children: ReactNode;
}

/** A form: Enter in a field acts like the button. */
function MoveForm({ button, disabled, onSubmit, children }: MoveFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!disabled) onSubmit();
  };
  return (
    <form className="row metrics-form" noValidate onSubmit={submit}>
      {children}
      <Button type="submit" disabled={disabled}>
        {button}
      </Button>
    </form>
  );
}

interface FreeProps {
  disabled: boolean;
  onAsk: (seconds: number | null) => void;
  onMove: (seconds: number) => void;
}

/** Advances by a number of units. */
function Free({ disabled, onAsk, onMove }: FreeProps) {
  const [text, setText] = useState('');
  const [unit, setUnit] = useState<UnitName>('minute');
  const [error, setError] = useState<string | null>(null);
  const parsed = (typed: string, name: UnitName) =>
    parseAdvance(typed, UNITS.find((one) => one.name === name)?.seconds ?? 1);
  const ask = (typed: string, name: UnitName) => {
    const found = parsed(typed, name);
    setError(null);
    onAsk('seconds' in found ? found.seconds : null);
  };
  const submit = () => {
    const found = parsed(text, unit);
    if ('error' in found) setError(found.error);
    else onMove(found.seconds);
  };
  return (
    <MoveForm button="Advance" disabled={disabled} onSubmit={submit}>
      <Field label="Forward by" error={error}>
        {(props) => (
          <input
            {...props}
            inputMode="decimal"
            autoComplete="off"
            size={10}
            value={text}
            onFocus={() => ask(text, unit)}
            onChange={(event) => {
              setText(event.target.value);
              ask(event.target.value, unit);
            }}
          />
        )}
      </Field>
      <Field label="Unit">
        {(props) => (
          <select
            {...props}
            value={unit}
            onChange={(event) => {
              const name = event.target.value as UnitName;
              setUnit(name);
              ask(text, name);
            }}
          >
            {UNITS.map(({ name }) => (
              <option key={name} value={name}>
                {name}s
              </option>
            ))}
          </select>
        )}
      </Field>
    </MoveForm>
  );
}

interface ToDateProps {
  disabled: boolean;
  now: number;
  onAsk: (seconds: number | null) => void;
  onMove: (instant: string) => void;
}

function ToDate({ disabled, now, onAsk, onMove }: ToDateProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string | null>(null);
  const ask = (typed: string) => {
    const to = fromInput(typed);
    setError(null);
    onAsk(to === null || to <= now ? null : (to - now) / 1000);
  };
  const submit = () => {
    const to = fromInput(text);
    if (to === null) setError(`Enter a date and a time, such as ${toInput(now)}.`);
    else if (to < now) setError(`The clock never goes back: it is at ${utc(now)}.`);
    else onMove(new Date(to).toISOString());
  };
  return (
    <MoveForm button="Set" disabled={disabled} onSubmit={submit}>
      <Field label="Set to (UTC)" error={error}>
        {(props) => (
          <UtcField
            {...props}
            text={text}
            now={now}
            disabled={disabled}
            onFocus={() => ask(text)}
            onChange={(typed) => {
              setText(typed);
              ask(typed);
            }}
          />
        )}
      </Field>
    </MoveForm>
  );
}
