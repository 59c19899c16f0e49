// Form submission: progress, and errors by field or for the whole form.
import { type FormEvent, useState } from 'react';
import { words } from '../../api/http';
import { type FormError, type FormField, wrongFields } from './definition';

export interface Submit {
  busy: boolean;
  /** Number of failed attempts. */
  attempts: number;
  /** Error that belongs to no single field, mostly a message of the server. */
  failure: string | null;
  errorOf: (field: FormField) => string | null;
  submit: (event: FormEvent) => void;
  /** Called on input: clears the server's errors of fields. */
  edited: () => void;
}

/** The value of a form, or its invalid fields. */
type Read<T> = { value: T } | { wrong: readonly FormError[] };

function readNow<T>(read: () => T): Read<T> {
  try {
    return { value: read() };
  } catch (error) {
    const wrong = wrongFields(error);
    if (wrong === null) throw error;
    return { wrong };
  }
}

/**
 * `read` validates the form; it is called on every render, so that errors disappear while the user
 * types. `send` performs the request or throws; the input is kept then.
 */
export function useSubmit<T>(
  read: () => T,
  send: (value: T) => Promise<void>,
  onDone: () => void,
): Submit {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [attempts, setAttempts] = useState(0);
  // Fields whose errors are shown: those invalid at the last submission. Untouched empty fields
  // show no error.
  const [told, setTold] = useState<ReadonlySet<FormField>>(new Set());
  const known = readNow(read);
  const run = async () => {
    setError(null);
    if ('wrong' in known) {
      setAttempts((before) => before + 1);
      setTold(new Set(known.wrong.map(({ field }) => field)));
      return;
    }
    setBusy(true);
    try {
      await send(known.value);
      onDone();
    } catch (failure) {
      setError(failure);
      setAttempts((before) => before + 1);
      setBusy(false);
    }
  };
  const refused = wrongFields(error);
  const wrong = [
    ...('wrong' in known ? known.wrong.filter(({ field }) => told.has(field)) : []),
    // Errors that only the server can find.
    ...(refused ?? []),
  ];
  return {
    busy,
    attempts,
    failure: error === null || refused !== null ? null : words(error),
    errorOf: (field) => wrong.find((one) => one.field === field)?.message ?? null,
    edited: () => setError((found: unknown) => (wrongFields(found) === null ? found : null)),
    submit: (event) => {
      event.preventDefault();
      if (!busy) void run();
    },
  };
}
