// The fields of a throughput: manual or autoscale, and the request units.
import { count } from '../../../pure/figures/amount';
import { NumberField } from '../../../ui/NumberField';
import { BOUNDS, MOST_UNITS, readThroughput, type ThroughputDraft } from './throughput';

export interface ThroughputFieldsProps {
  draft: ThroughputDraft;
  changed: boolean;
  disabled: boolean;
  onDraft: (draft: ThroughputDraft) => void;
}

const MODES = [
  { mode: 'manual', label: 'Manual' },
  { mode: 'autoscale', label: 'Autoscale' },
] as const;

export const ENFORCED =
  'It limits requests only if the server was started with --enforce-throughput.';

export function ThroughputFields({ draft, changed, disabled, onDraft }: ThroughputFieldsProps) {
  const { least, step } = BOUNDS[draft.mode];
  const read = readThroughput(draft);
  const manual = draft.mode === 'manual';
  return (
    <fieldset
      className={changed ? 'settings-group settings-changed' : 'settings-group'}
      disabled={disabled}
    >
      <legend>Throughput{changed && <span className="settings-mark"> (changed)</span>}</legend>
      {MODES.map(({ mode, label }) => (
        <label key={mode} className="settings-option">
          <input
            type="radio"
            name="throughput-mode"
            checked={draft.mode === mode}
            onChange={() => onDraft({ ...draft, mode })}
          />
          <span>{label}</span>
        </label>
      ))}
      <NumberField
        label={
          manual ? 'Request units per second (RU/s)' : 'Maximum request units per second (RU/s)'
        }
        hint={`${count(least)} to ${count(MOST_UNITS)}, in steps of ${count(step)}`}
        error={'error' in read ? read.error : null}
        value={draft.text}
        onChange={(text) => onDraft({ ...draft, text })}
      />
    </fieldset>
  );
}
