// Time to Live of something that is being made: off, on without a default, or on with seconds.
import { useId } from 'react';
import { spelled } from '../../pure/time/duration';
import { readSeconds } from '../../pure/ttl/input';
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
  const read = readSeconds(seconds);
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
          hint={'value' in read ? spelled(read.value) : 'Or with a unit, such as 90d or 12h.'}
        >
          {(props) => (
            <input
              {...props}
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
