// Login with the account key: as a page, and as a dialog over a page whose session ended.
import { type FormEvent, useId, useState } from 'react';
import { ApiError, words } from '../api/http';
import { loadSession, signIn } from '../api/session';
import { askAgain } from '../state/server';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Field } from '../ui/Field';
import { leave } from './entry';
import './login.css';

const SAID: Record<string, string> = {
  WrongKey: 'Invalid account key.',
  TooManyAttempts: 'Too many wrong keys. Wait a minute, then try again.',
  KeyIsKnown:
    'This server is reachable from other machines and uses the public emulator key. ' +
    'Start it with --key-file and your own key.',
};

function said(error: unknown): string {
  return (error instanceof ApiError ? SAID[error.code] : undefined) ?? words(error);
}

function LoginForm() {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === '') return setError('Enter a key.');
    setBusy(true);
    setError(null);
    try {
      // Loads a new CSRF token: that of the ended session is invalid.
      const known = await loadSession();
      if (known.right === null) await signIn(key.trim());
      askAgain();
    } catch (failure) {
      setError(said(failure));
      setBusy(false);
    }
  };
  return (
    <form className="login-form" onSubmit={(event) => void submit(event)}>
      <Field
        label="Account key"
        error={error}
        hint={
          <>
            The primary or secondary key in the key file of the server (<code>--key-file</code>).
            Read-only keys can view but not change data.
          </>
        }
      >
        {(props) => (
          <input
            {...props}
            type="password"
            name="password"
            autoComplete="current-password"
            // biome-ignore lint/a11y/noAutofocus: the only field of the page.
            autoFocus
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary" busy={busy}>
        Sign in
      </Button>
    </form>
  );
}

export default function Login() {
  const id = useId();
  return (
    <main className="login" aria-labelledby={id}>
      <h1 id={id}>EbbDB</h1>
      <LoginForm />
    </main>
  );
}

/** A login dialog over the page, which keeps its state. */
export function LoginAgain() {
  return (
    <Dialog title="Sign in again" onClose={() => {}}>
      <p>The session has ended. Open pages and unsaved text are kept.</p>
      <LoginForm />
      <p>
        <Button look="quiet" onClick={leave}>
          Leave without signing in
        </Button>
      </p>
    </Dialog>
  );
}
