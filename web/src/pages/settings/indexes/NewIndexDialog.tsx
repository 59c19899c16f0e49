// Dialog to create an index: fields with order, and options. Passes the specification to the
// caller, and shows why it was refused.
import { useState } from 'react';
import type { Document } from '../../../api/mongo';
import type { Target } from '../../../state/place';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import { Field } from '../../../ui/Field';
import { SecondsField } from '../../../ui/SecondsField';
import { Building } from './BuildBar';
import type { Build } from './builds';
import { DueNow, labelWith, useConsent } from './DueNow';
import { Buttons, useSubmit } from './dialogForm';
import {
  type IndexDraft,
  type IndexField,
  movedUp,
  NEW_INDEX,
  nameOf,
  readIndex,
  ruleOf,
} from './newIndex';

export interface NewIndexDialogProps {
  target: Target;
  builds: ReadonlyMap<string, Build>;
  onSave: (index: Document) => Promise<void>;
  onClose: () => void;
}

const TRAITS: readonly ['unique' | 'sparse' | 'hidden', string][] = [
  ['unique', 'Unique: no two documents have the same values'],
  ['sparse', 'Sparse: documents without the field are left out'],
  ['hidden', 'Hidden: queries do not use it until it is shown'],
];

interface FieldsProps {
  fields: readonly IndexField[];
  error: string | null;
  onFields: (fields: readonly IndexField[]) => void;
}

function Fields({ fields, error, onFields }: FieldsProps) {
  const put = (at: number, change: Partial<IndexField>) =>
    onFields(fields.map((field, place) => (place === at ? { ...field, ...change } : field)));
  return (
    <fieldset className="settings-group">
      <legend>Fields, in order</legend>
      {fields.map(({ path, order }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a field is identified by its position.
        <div key={at} className="row settings-line">
          <input
            className="mono"
            type="text"
            aria-label={`Field ${at + 1}`}
            aria-invalid={error !== null}
            autoComplete="off"
            spellCheck={false}
            value={path}
            onChange={(event) => put(at, { path: event.target.value })}
          />
          <select
            aria-label={`Order of field ${at + 1}`}
            value={order}
            onChange={(event) => put(at, { order: event.target.value === '1' ? 1 : -1 })}
          >
            <option value={1}>ascending</option>
            <option value={-1}>descending</option>
          </select>
          <Button
            aria-label={`Move field ${at + 1} up`}
            disabled={at === 0}
            onClick={() => onFields(movedUp(fields, at))}
          >
            Up
          </Button>
          <Button
            aria-label={`Remove field ${at + 1}`}
            disabled={fields.length === 1}
            onClick={() => onFields(fields.filter((_, place) => place !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onFields([...fields, { path: '', order: 1 }])}>Add a field</Button>
      {error !== null && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

export function NewIndexDialog(props: NewIndexDialogProps) {
  const { target, builds, onSave, onClose } = props;
  const [draft, setDraft] = useState<IndexDraft>(NEW_INDEX);
  const [touched, setTouched] = useState(false);
  const put = (change: Partial<IndexDraft>) => {
    setTouched(true);
    setDraft((known) => ({ ...known, ...change }));
  };
  const read = readIndex(draft);
  const problems = 'problems' in read ? read.problems : {};
  const consent = useConsent(target, 'index' in read ? ruleOf(read.index) : null);
  const may = 'index' in read && (!draft.expires || consent.may);
  const { busy, failure, submit } = useSubmit(async () => {
    if (!('index' in read) || !may) return;
    if (!draft.expires || (await consent.holds())) await onSave(read.index);
  });
  return (
    <Dialog title="New index" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <Fields
          fields={draft.fields}
          error={touched ? (problems.fields ?? null) : null}
          onFields={(fields) => put({ fields })}
        />
        <Field label="Name" hint="Generated from the fields if empty">
          {(props) => (
            <input
              {...props}
              type="text"
              autoComplete="off"
              spellCheck={false}
              placeholder={nameOf(draft.fields)}
              value={draft.name}
              onChange={(event) => put({ name: event.target.value })}
            />
          )}
        </Field>
        {TRAITS.map(([trait, said]) => (
          <label key={trait} className="settings-check">
            <input
              type="checkbox"
              checked={draft[trait]}
              onChange={(event) => put({ [trait]: event.target.checked })}
            />{' '}
            {said}
          </label>
        ))}
        <Field
          label="Partial filter"
          hint="Only matching documents are indexed, for example { status: &quot;open&quot; }"
          error={problems.filter ?? null}
        >
          {(props) => (
            <input
              {...props}
              className="mono"
              type="text"
              autoComplete="off"
              spellCheck={false}
              value={draft.filter}
              onChange={(event) => put({ filter: event.target.value })}
            />
          )}
        </Field>
        <label className="settings-check">
          <input
            type="checkbox"
            checked={draft.expires}
            onChange={(event) => put({ expires: event.target.checked })}
          />{' '}
          Documents expire after the date in the field
        </label>
        {draft.expires && (
          <>
            <SecondsField
              id="indexSeconds"
              name="Expires after"
              typed={draft.seconds}
              least={0}
              zero="0 s = at the date itself"
              isFresh={draft.seconds.text === ''}
              onType={(seconds) => put({ seconds })}
            />
            {draft.fields.length > 1 && <p className="error">{problems.expires}</p>}
            <DueNow consent={consent} collection={target.collection} />
          </>
        )}
        {busy && !consent.isCounting && 'index' in read && (
          <Building build={builds.get(String(read.index.name))} />
        )}
        <Buttons
          label={labelWith(consent, 'Create index')}
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
