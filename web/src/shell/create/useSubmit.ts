// A form that is being sent: busy or not, and what was wrong, by field where a field is to blame.
import { type FormEvent, useState } from 'react';
import { words } from '../../api/http';
import { type FormError, type FormField, wrongFields } from './definition';

export interface Submit {
  busy: boolean;
  /** How often it has failed. */
  attempts: number;
  /** What no single field is to blame for: mostly the server's words. */
  failure: string | null;
  errorOf: (field: FormField) => string | null;
  submit: (event: FormEvent) => void;
  /** Something was typed: what the server refused of a field may be right now. */
  edited: () => void;
}

/** What a form comes to as it stands, or the fields that are wrong. */
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
 * `read` says what is to be sent, as often as it is asked: a field that was refused says whether it is right
 * while it is typed in. `send` ends with the form done, or throws; nothing
 * typed is lost then.
 */
export function useSubmit<T>(
  read: () => T,
  send: (value: T) => Promise<void>,
  onDone: () => void,
): Submit {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [attempts, setAttempts] = useState(0);
  // Those that were wrong when the form was sent say whether they are right now. One that was empty then,
  // and was not asked for, is not wrong before anything is typed.
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
    // What only the server could know.
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
