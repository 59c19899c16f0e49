// A form that is being sent: busy or not, and what was wrong, by field where a field is to blame.
import { type FormEvent, useState } from 'react';
import { words } from '../../api/http';
import { FormError } from './definition';

export interface Submit {
  busy: boolean;
  /** How often it has failed. */
  attempts: number;
  /** What no single field is to blame for: mostly the server's words. */
  failure: string | null;
  errorOf: (field: FormError['field']) => string | null;
  submit: (event: FormEvent) => void;
  /** Something was typed: what was wrong with a field may be right now. */
  edited: () => void;
}

/** `send` ends with the form done, or throws; nothing typed is lost then. */
export function useSubmit(send: () => Promise<void>, onDone: () => void): Submit {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [attempts, setAttempts] = useState(0);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await send();
      onDone();
    } catch (failure) {
      setError(failure);
      setAttempts((before) => before + 1);
      setBusy(false);
    }
  };
  return {
    busy,
    attempts,
    failure: error === null || error instanceof FormError ? null : words(error),
    errorOf: (field) =>
      error instanceof FormError && error.field === field ? error.message : null,
    edited: () => setError((known: unknown) => (known instanceof FormError ? null : known)),
    submit: (event) => {
      event.preventDefault();
      if (!busy) void run();
    },
  };
}
