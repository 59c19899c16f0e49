// The form for the ttl of many items.
import { useId } from 'react';
import { NO_SECONDS, type Read, readSeconds, type SecondsTyped } from '../../../pure/ttl/input';
import { SecondsField } from '../../../ui/SecondsField';

const NEVER = 'Never expire (ttl = -1)';

type Choice = 'seconds' | 'never' | 'none';

export interface TtlTyped extends SecondsTyped {
  choice: Choice;
}

export const NO_TTL: TtlTyped = { choice: 'seconds', ...NO_SECONDS };

/** Returns the chosen ttl, or an error message. */
export function readTtl({ choice, text, unit }: TtlTyped): Read<number | null> {
  if (choice === 'never') return { value: -1 };
  if (choice === 'none') return { value: null };
  return readSeconds(text, unit, 1, NEVER);
}

const CHOICES = [
  ['seconds', 'Expire after'],
  ['never', NEVER],
  ['none', 'No ttl: the default applies'],
] as const satisfies readonly [Choice, string][];

export function TtlForm({ typed, onType }: { typed: TtlTyped; onType: (typed: TtlTyped) => void }) {
  const id = useId();
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
        <SecondsField
          name="Time to live"
          typed={typed}
          minusOne={NEVER}
          isFresh={typed.text === ''}
          onType={(seconds) => onType({ ...typed, ...seconds })}
        />
      )}
      {CHOICES.slice(1).map(radio)}
    </fieldset>
  );
}
