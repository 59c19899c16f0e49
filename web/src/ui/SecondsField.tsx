// An input of a duration in seconds, kept as text so that no value is changed silently. The unit is
// selected or typed after the number; below it, the value in words or the error.
import { type ReactNode, useId } from 'react';
import { spelled, UNITS } from '../pure/time/duration';
import { type Default, inUnit, readSeconds, type SecondsTyped, unitMeant } from '../pure/ttl/input';

interface Asked {
  id?: string;
  dataTest?: string;
  /** "Time to live": the accessible name becomes "Time to live in seconds". */
  name: string;
  typed: SecondsTyped;
  /** The server's value: changing the unit converts it. */
  shown?: Default;
  className?: string | undefined;
  disabled?: boolean;
  onType: (typed: SecondsTyped) => void;
}

export interface SecondsInputProps extends Asked {
  label?: string;
  size?: number;
  isWrong: boolean;
  /** Id of the element that shows the value in words. */
  describedBy: string;
}

/** The number and its unit, without the value in words. */
export function SecondsInput(props: SecondsInputProps) {
  const { typed, shown = null, disabled = false, onType } = props;
  const unit = unitMeant(typed);
  return (
    <div className="row">
      <label className="row">
        {props.label}
        <input
          id={props.id}
          data-test={props.dataTest}
          className={props.className}
          type="text"
          autoComplete="off"
          spellCheck={false}
          aria-required
          size={props.size ?? 14}
          aria-label={`${props.name} in ${unit}s`}
          aria-invalid={props.isWrong}
          aria-describedby={props.describedBy}
          disabled={disabled}
          value={typed.text}
          onChange={(event) => onType({ text: event.target.value, unit: typed.unit })}
        />
      </label>
      <label className="row">
        <span className={props.label === undefined ? 'hint' : 'visually-hidden'}>Unit</span>
        <select
          disabled={disabled}
          value={unit}
          onChange={(event) => {
            const found = UNITS.find(({ name }) => name === event.target.value);
            if (found !== undefined) onType(inUnit(typed, found.name, shown));
          }}
        >
          {UNITS.map(({ name }) => (
            <option key={name} value={name}>
              {name}s
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

export interface SecondsFieldProps extends Asked {
  least?: 0 | 1;
  /** Meaning of 0. */
  zero?: string;
  /** The option to use instead of -1; omitted: that of a default. */
  minusOne?: string;
  /** Untouched, so no error is shown. */
  isFresh?: boolean;
  note?: ReactNode;
}

export function SecondsField(props: SecondsFieldProps) {
  const { least = 1, zero, minusOne, isFresh = false, note, ...asked } = props;
  const { text, unit } = asked.typed;
  const id = useId();
  const read = readSeconds(text, unit, least, minusOne);
  const error = 'error' in read ? read.error : null;
  return (
    <div className="seconds">
      <SecondsInput {...asked} isWrong={error !== null && !isFresh} describedBy={id} />
      <div id={id}>
        {error !== null && isFresh && <div className="hint">For example 90d, 36h, 15m or 45s</div>}
        {error !== null && !isFresh && (
          <div className="error" role="alert">
            {error}
          </div>
        )}
        {'value' in read && (
          <div className="hint">{read.value === 0 ? zero : spelled(read.value)}</div>
        )}
        {note}
      </div>
    </div>
  );
}
