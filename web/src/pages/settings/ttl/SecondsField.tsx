// A number of seconds: typed as text, so that nothing is changed in silence, in a unit of choice,
// with its value in words or the reason why it has none.
import { useId } from 'react';
import { spelled, UNITS, type UnitName } from '../../../pure/time/duration';
import { readSeconds } from '../../../pure/ttl/input';

export interface SecondsFieldProps {
  id: string;
  dataTest?: string;
  /** "Time to live": the name for screen readers becomes "Time to live in seconds". */
  name: string;
  text: string;
  unit: UnitName;
  least?: 0 | 1;
  changed?: boolean;
  disabled?: boolean;
  /** Nobody has typed anything yet, so that nothing is wrong. */
  isFresh?: boolean;
  /** What 0 means. */
  zero?: string;
  onText: (text: string) => void;
  onUnit: (unit: UnitName) => void;
}

export function SecondsField(props: SecondsFieldProps) {
  const { text, unit, least = 1, changed = false, disabled = false, isFresh = false } = props;
  const note = useId();
  const read = readSeconds(text, unit, least);
  const wrong = 'error' in read;
  return (
    <div className="settings-seconds">
      <div className="row">
        <input
          id={props.id}
          data-test={props.dataTest}
          className={changed ? 'settings-changed' : undefined}
          type="text"
          inputMode="numeric"
          autoComplete="off"
          spellCheck={false}
          required
          size={14}
          aria-label={`${props.name} in ${unit}s`}
          aria-invalid={wrong && !isFresh}
          aria-describedby={note}
          disabled={disabled}
          value={text}
          onChange={(event) => props.onText(event.target.value)}
        />
        <span aria-hidden="true">{unit}(s)</span>
        <label className="row">
          <span className="hint">Unit</span>
          <select
            disabled={disabled}
            value={unit}
            onChange={(event) => {
              const found = UNITS.find(({ name }) => name === event.target.value);
              if (found !== undefined) props.onUnit(found.name);
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
      <div id={note}>
        {wrong && isFresh && <div className="hint">{read.error}</div>}
        {wrong && !isFresh && (
          <div className="error" role="alert">
            {read.error}
          </div>
        )}
        {!wrong && (
          <div className="hint">{read.value === 0 ? props.zero : spelled(read.value)}</div>
        )}
        {changed && <div className="settings-mark">(changed)</div>}
      </div>
    </div>
  );
}
