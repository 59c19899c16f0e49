// Making a date TTL index, or giving one another time. Runs nothing: it hands the values over, and
// shows why they were refused.
import { useState } from 'react';
import type { IndexRecord } from '../../../api/mongo';
import type { UnitName } from '../../../pure/time/duration';
import { readSeconds } from '../../../pure/ttl/input';
import { Dialog } from '../../../ui/Dialog';
import { Field } from '../../../ui/Field';
import { SecondsField } from '../ttl/SecondsField';
import { Building } from './BuildBar';
import type { Build } from './builds';
import { Buttons, useSubmit } from './dialogForm';
import { fieldProblem, secondsInWords } from './indexWords';
import { dateIndexName } from './ttlIndex';

export interface DateIndexDialogProps {
  /** null: a new one. */
  index: IndexRecord | null;
  /** Indexes that are being built. */
  builds: ReadonlyMap<string, Build>;
  onSave: (field: string, seconds: number) => Promise<void>;
  onClose: () => void;
}

export function DateIndexDialog({ index, builds, onSave, onClose }: DateIndexDialogProps) {
  const [field, setField] = useState('');
  const [touched, touch] = useState(false);
  const [text, setText] = useState(String(index?.expireAfterSeconds ?? ''));
  const [unit, setUnit] = useState<UnitName>('second');
  const read = readSeconds(text, unit, 0);
  const problem = index === null ? fieldProblem(field) : null;
  const may = problem === null && 'value' in read && read.value !== index?.expireAfterSeconds;
  const { busy, failure, submit } = useSubmit(async () => {
    if (may && 'value' in read) await onSave(field, read.value);
  });
  return (
    <Dialog
      title={index === null ? 'New date TTL index' : `Change the time of ${index.name}`}
      onClose={onClose}
    >
      <form onSubmit={(event) => void submit(event)}>
        {index === null ? (
          <Field
            label="Field"
            hint="A field that holds a date, or an array of dates (the earliest counts)"
            error={touched ? problem : null}
          >
            {(props) => (
              <input
                {...props}
                type="text"
                autoComplete="off"
                spellCheck={false}
                value={field}
                onChange={(event) => {
                  setField(event.target.value);
                  touch(true);
                }}
              />
            )}
          </Field>
        ) : (
          <p>{`Until now: ${secondsInWords(index.expireAfterSeconds)}.`}</p>
        )}
        <p>Expires this long after the date in the field:</p>
        <SecondsField
          id="dateIndexSeconds"
          name="Expires after"
          text={text}
          unit={unit}
          least={0}
          zero={secondsInWords(0)}
          onText={setText}
          onUnit={setUnit}
        />
        <p>
          Documents whose date is further back than that disappear as soon as this is saved. What
          has expired stays gone.
        </p>
        {busy && index === null && <Building build={builds.get(dateIndexName(field))} />}
        <Buttons
          label={index === null ? 'Create index' : 'Change'}
          busy={busy}
          may={may}
          failure={failure}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

export interface DropIndexDialogProps {
  index: IndexRecord;
  onDrop: () => Promise<void>;
  onClose: () => void;
}

export function DropIndexDialog({ index, onDrop, onClose }: DropIndexDialogProps) {
  const { busy, failure, submit } = useSubmit(onDrop);
  return (
    <Dialog title={`Drop the index ${index.name}?`} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>Documents no longer expire by this field. What has expired stays gone.</p>
        <Buttons label="Drop index" busy={busy} may danger failure={failure} onClose={onClose} />
      </form>
    </Dialog>
  );
}
