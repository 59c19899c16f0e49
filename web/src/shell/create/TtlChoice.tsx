// Time to Live of something that is being made: off, on without a default, or on with seconds.
import { useId } from 'react';
import { spelled } from '../../pure/time/duration';
import { Field } from '../../ui/Field';
import type { TtlChoice as Choice } from './definition';

const OPTIONS: { key: Choice; label: string }[] = [
  { key: 'off', label: 'Off' },
  { key: 'no-default', label: 'On (no default)' },
  { key: 'on', label: 'On' },
];

export interface TtlChoiceProps {
  /** What lives: items or documents. */
  noun: string;
  choice: Choice;
  seconds: string;
  error: string | null;
  onChange: (choice: Choice, seconds: string) => void;
}

export function TtlChoice({ noun, choice, seconds, error, onChange }: TtlChoiceProps) {
  const id = useId();
  const hints: Record<Choice, string> = {
    off: `${noun} never expire, whatever their ttl says.`,
    'no-default': `${noun} never expire, except those with a ttl of their own.`,
    on: `${noun} expire this long after their last write, except those with a ttl of their own.`,
  };
  return (
    <>
      <fieldset className="ttl-choice" aria-describedby={`${id}-hint`}>
        <legend>Time to Live</legend>
        <div className="row">
          {OPTIONS.map(({ key, label }) => (
            <label key={key}>
              <input
                type="radio"
                name={id}
                checked={choice === key}
                onChange={() => onChange(key, seconds)}
              />{' '}
              {label}
            </label>
          ))}
        </div>
        <div className="hint" id={`${id}-hint`}>
          {hints[choice]}
        </div>
      </fieldset>
      {choice === 'on' && (
        <Field
          label="Seconds"
          error={error}
          hint={/^\d{1,10}$/.test(seconds.trim()) ? spelled(Number(seconds)) : undefined}
        >
          {(props) => (
            <input
              {...props}
              inputMode="numeric"
              autoComplete="off"
              value={seconds}
              onChange={(event) => onChange(choice, event.target.value)}
            />
          )}
        </Field>
      )}
    </>
  );
}
