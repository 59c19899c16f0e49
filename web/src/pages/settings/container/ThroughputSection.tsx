// Throughput of a container, or of the database whose throughput it shares.
import type { OfferRecord } from '../../../api/nosql';
import { count } from '../../../pure/figures/amount';
import { NumberField } from '../../../ui/NumberField';
import { BOUNDS, MOST_UNITS, readThroughput, type ThroughputDraft } from './throughput';

export interface ThroughputSectionProps {
  offer: OfferRecord | null;
  shared: boolean;
  /** Why the offer could not be loaded. */
  failure: string | null;
  database: string;
  draft: ThroughputDraft | null;
  changed: boolean;
  disabled: boolean;
  onDraft: (draft: ThroughputDraft) => void;
}

const MODES = [
  { mode: 'manual', label: 'Manual' },
  { mode: 'autoscale', label: 'Autoscale' },
] as const;

const ENFORCED = 'It limits requests only if the server was started with --enforce-throughput.';

export function ThroughputSection(props: ThroughputSectionProps) {
  const { offer, shared, database, draft, changed, disabled, onDraft } = props;
  if (props.failure !== null) {
    return (
      <p className="error" role="alert">
        {`The throughput could not be read: ${props.failure}`}
      </p>
    );
  }
  if (offer === null || draft === null) {
    return (
      <>
        <p>Neither this container nor its database has provisioned throughput.</p>
        <p className="hint">{ENFORCED}</p>
      </>
    );
  }
  const { least, step } = BOUNDS[draft.mode];
  const read = readThroughput(draft);
  const manual = draft.mode === 'manual';
  return (
    <>
      {shared && (
        <p>
          {`This container shares the throughput of the database ${database}. ` +
            'A change applies to all containers that share it.'}
        </p>
      )}
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
      <p className="hint">{ENFORCED}</p>
    </>
  );
}
