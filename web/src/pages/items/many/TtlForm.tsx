// What is asked before the ttl of many items is set.
import { useId } from 'react';
import { spelled, UNITS, type UnitName } from '../../../pure/time/duration';
import { readSeconds } from '../../../pure/ttl/input';

type Choice = 'seconds' | 'never' | 'none';

export interface TtlTyped {
  choice: Choice;
  text: string;
  unit: UnitName;
}

/** What is chosen; a sentence where it is nothing. */
export function readTtl({
  choice,
  text,
  unit,
}: TtlTyped): { value: number | null } | { error: string } {
  if (choice === 'never') return { value: -1 };
  if (choice === 'none') return { value: null };
  return readSeconds(text, unit);
}

const CHOICES = [
  ['seconds', 'A time of their own'],
  ['never', 'Never expire (ttl = -1)'],
  ['none', 'No ttl: the default applies'],
] as const satisfies readonly [Choice, string][];

export function TtlForm({ typed, onType }: { typed: TtlTyped; onType: (typed: TtlTyped) => void }) {
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
