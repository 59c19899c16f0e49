// Confirms a default that expires documents immediately: shows their number, and the user types the
// collection's name. If the number changes before that, asks again.
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import {
  type DefaultTtl,
  type Forecast,
  forecast,
  type Preview,
  preview,
} from '../../../api/admin';
import { words } from '../../../api/http';
import { defaultInWords } from '../../../pure/ttl/input';
import type { Target } from '../../../state/place';
import { server } from '../../../state/server';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import { NameField } from '../../../ui/NameField';
import { expiresNow, mustAskAgain, type Nouns } from './impact';

interface Asking {
  value: DefaultTtl;
  preview: Preview;
  now: Forecast;
  /** Number of confirmations asked; repeated if the number has changed. */
  round: number;
}

export interface ExpiryGate {
  /** Returns whether to save. Throws if the effect cannot be determined. */
  pass: (value: DefaultTtl) => Promise<boolean>;
  /** Whether the dialog is open. */
  asks: boolean;
  dialog: ReactNode;
}

async function look(target: Target, value: DefaultTtl, round: number): Promise<Asking> {
  const [found, now] = await Promise.all([preview(target, value), forecast(target)]);
  return { value, preview: found, now, round };
}

function ConfirmExpirations(props: {
  asking: Asking;
  target: Target;
  nouns: Nouns;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const { asking, target, nouns } = props;
  const [typed, type] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const right = typed === target.collection;
  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    if (!right || busy) return;
    setBusy(true);
    setFailure(null);
    try {
      await props.onConfirm();
    } catch (error) {
      setFailure(`The effect could not be calculated: ${words(error)}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={`${nouns.many[0]?.toUpperCase()}${nouns.many.slice(1)} will expire`}
      onClose={props.onClose}
    >
      <form onSubmit={(event) => void confirm(event)}>
        <div role="alert">
          {asking.round > 1 && (
            <p>
              <strong>The count has changed. Nothing has been saved yet.</strong>
            </p>
          )}
          <p className="settings-expiring">
            {expiresNow(asking.preview, asking.value, asking.now.live, nouns)}
          </p>
        </div>
        <p>{`New time to live: ${defaultInWords(asking.value)}.`}</p>
        <p>This cannot be undone: a later change does not restore expired {nouns.many}.</p>
        <NameField
          what={nouns.place}
          name={target.collection}
          typed={typed}
          error={failure}
          onType={type}
        />
        <div className="row dialog-buttons">
          <Button look="danger" type="submit" busy={busy} disabled={!right}>
            {`Save and expire ${nouns.many}`}
          </Button>
          <Button onClick={props.onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

export function useExpiryGate(target: Target, nouns: Nouns): ExpiryGate {
  const [asking, ask] = useState<Asking | null>(null);
  const answer = useRef<(goes: boolean) => void>(() => {});
  const finish = (goes: boolean) => {
    ask(null);
    answer.current(goes);
  };
  const pass = async (value: DefaultTtl): Promise<boolean> => {
    const seen = await look(target, value, 1);
    if (seen.preview.dies_now.documents === 0) return true;
    ask(seen);
    return new Promise((resolve) => {
      answer.current = resolve;
    });
  };
  const confirm = async (agreed: Asking) => {
    const seen = await look(target, agreed.value, agreed.round + 1);
    const runs = server.get().status?.clock.mode !== 'manual';
    if (mustAskAgain(agreed.preview, seen.preview, runs)) ask(seen);
    else finish(true);
  };
  const dialog = asking !== null && (
    <ConfirmExpirations
      asking={asking}
      target={target}
      nouns={nouns}
      onConfirm={() => confirm(asking)}
      onClose={() => finish(false)}
    />
  );
  return { pass, asks: asking !== null, dialog };
}
