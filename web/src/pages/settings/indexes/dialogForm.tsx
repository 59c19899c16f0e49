// Common parts of the index dialogs: a single submission, its error, and the buttons.
import { type FormEvent, useState } from 'react';
import { words } from '../../../api/http';
import { Button } from '../../../ui/Button';

export function useSubmit(action: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFailure(null);
    try {
      await action();
    } catch (error) {
      setFailure(words(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, submit };
}

export interface ButtonsProps {
  label: string;
  busy: boolean;
  may: boolean;
  danger?: boolean;
  failure: string | null;
  onClose: () => void;
}

export function Buttons(props: ButtonsProps) {
  return (
    <>
      {props.failure !== null && (
        <p className="error" role="alert">
          {props.failure}
        </p>
      )}
      <div className="row dialog-buttons">
        <Button
          look={props.danger === true ? 'danger' : 'primary'}
          type="submit"
          busy={props.busy}
          disabled={!props.may}
        >
          {props.label}
        </Button>
        <Button onClick={props.onClose}>Cancel</Button>
      </div>
    </>
  );
}
