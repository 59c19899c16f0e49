// Dialog to create a TTL index on a date or change its time. Passes the values to the caller, and
// shows why they were refused.
import { useState } from 'react';
import type { IndexRecord } from '../../../api/mongo';
import { readSeconds, type SecondsTyped } from '../../../pure/ttl/input';
import type { Target } from '../../../state/place';
import { Dialog } from '../../../ui/Dialog';
import { Field } from '../../../ui/Field';
import { SecondsField } from '../../../ui/SecondsField';
import { Building } from './BuildBar';
import type { Build } from './builds';
import { DueNow, labelWith, useConsent } from './DueNow';
import { Buttons, useSubmit } from './dialogForm';
import { fieldProblem, partialOf, secondsInWords } from './indexWords';
import { dateIndexName } from './ttlIndex';

export interface DateIndexDialogProps {
  target: Target;
  /** null: a new index. */
  index: IndexRecord | null;
  builds: ReadonlyMap<string, Build>;
  onSave: (field: string, seconds: number) => Promise<void>;
  onClose: () => void;
}

export function DateIndexDialog(props: DateIndexDialogProps) {
  const { target, index, builds, onSave, onClose } = props;
  const [field, setField] = useState('');
  const [touched, touch] = useState(false);
  const [typed, setTyped] = useState<SecondsTyped>({
    text: String(index?.expireAfterSeconds ?? ''),
    unit: 'second',
  });
  const [isFresh, setFresh] = useState(index === null);
  const read = readSeconds(typed.text, typed.unit, 0);
  const problem = index === null ? fieldProblem(field) : null;
  const isNew = 'value' in read && read.value !== index?.expireAfterSeconds;
  const about = index === null ? field : Object.keys(index.key)[0];
  const consent = useConsent(
    target,
    problem === null && isNew && about !== undefined
      ? { field: about, seconds: read.value, filter: index === null ? null : partialOf(index) }
      : null,
  );
  const { may } = consent;
  const { busy, failure, submit } = useSubmit(async () => {
    if (may && 'value' in read && (await consent.holds())) await onSave(field, read.value);
  });
  return (
    <Dialog
      title={index === null ? 'New date TTL index' : `Change retention of ${index.name}`}
      onClose={onClose}
    >
      <form onSubmit={(event) => void submit(event)}>
        {index === null ? (
          <Field
            label="Field"
            hint="A field that holds a date, or an array of dates (the earliest applies)"
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
          <p>{`Current: ${secondsInWords(index.expireAfterSeconds)}.`}</p>
        )}
        <p>Expires this long after the date in the field:</p>
        <SecondsField
          id="dateIndexSeconds"
          name="Expires after"
          typed={typed}
          shown={index?.expireAfterSeconds ?? null}
          least={0}
          zero={secondsInWords(0)}
          isFresh={isFresh}
          onType={(next) => {
            setTyped(next);
            setFresh(false);
          }}
        />
        <DueNow consent={consent} collection={target.collection} />
        {busy && !consent.isCounting && index === null && (
          <Building build={builds.get(dateIndexName(field))} />
        )}
        <Buttons
          label={labelWith(consent, index === null ? 'Create index' : 'Change')}
          danger={consent.isAsked}
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
        <p>Documents no longer expire by this field. Expired documents are not restored.</p>
        <Buttons label="Drop index" busy={busy} may danger failure={failure} onClose={onClose} />
      </form>
    </Dialog>
  );
}
