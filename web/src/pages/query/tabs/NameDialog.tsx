// Asks for the name of a tab or saved query.
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import { Field } from '../../../ui/Field';
import { LONGEST_NAME } from './tabList';

export interface NameDialogProps {
  title: string;
  initial: string;
  action: string;
  /** Message shown in advance for a name that is taken. */
  taken?: { names: readonly string[]; what: string };
  onName: (name: string) => void;
  onClose: () => void;
}

export function NameDialog({ title, initial, action, taken, onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(initial);
  const short = name.trim();
  const isTaken = taken?.names.includes(short) === true;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (short === '') return;
    onName(short);
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Name" {...(isTaken ? { hint: taken?.what } : {})}>
          {(field) => (
            <input
              {...field}
              autoComplete="off"
              maxLength={LONGEST_NAME}
              value={name}
              onFocus={(event) => event.target.select()}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <div className="row dialog-buttons">
          <Button look="primary" type="submit" disabled={short === ''}>
            {action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
