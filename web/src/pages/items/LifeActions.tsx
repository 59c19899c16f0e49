// Changes of an item's expiry: Extend, Restart countdown and Never, each with its effect or the
// reason why it is unavailable.
import { useId, useState } from 'react';
import { inWords } from '../../pure/time/duration';
import { readSeconds, type SecondsTyped } from '../../pure/ttl/input';
import { type Expiry, extended, MAX_TTL, whyNotTtl } from '../../pure/ttl/reasons';
import { Button } from '../../ui/Button';
import { SecondsInput } from '../../ui/SecondsField';
import { instant } from './expires';
import { READ_ONLY, type Source } from './source';

export interface LifeActionsProps {
  source: Source;
  expiry: Expiry;
  now: number;
  /** Why all changes are disabled; null: enabled. */
  blocked: string | null;
  busy: boolean;
  onTtl: (seconds: number) => void;
  onTouch: () => void;
}

const byIndex = ({ by }: Expiry) => by !== null && by !== 'ttl' && by !== 'default';

/** Returns why the deadline cannot be moved; null: it can. */
function whyNot(source: Source, expiry: Expiry): string | null {
  if (byIndex(expiry))
    return `Index ${expiry.by} counts from a date in the ${source.noun}: change the date instead.`;
  if (expiry.expiresAtMs !== null) return null;
  if (source.defaultTtl === null) return 'TTL is off: there is no countdown.';
  return `The ${source.noun} does not expire: there is no countdown.`;
}

function whyNoNever(source: Source, expiry: Expiry): string | null {
  if (expiry.reason === 'never (ttl = -1)') return 'ttl is already -1.';
  if (byIndex(expiry)) return whyNot(source, expiry);
  return whyNotTtl(source.defaultTtl, source.perDocument);
}

interface ActionProps {
  /** Id of the description. */
  id?: string;
  label: string;
  does: string;
  whyNot: string | null;
  busy: boolean;
  onPress: () => void;
}

function Action({ id: given, label, does, whyNot: reason, busy, onPress }: ActionProps) {
  const own = useId();
  const id = given ?? own;
  return (
    <div className="items-action">
      <Button disabled={reason !== null} busy={busy} aria-describedby={id} onClick={onPress}>
        {label}
      </Button>
      <span className="hint" id={id}>
        {reason ?? does}
      </span>
    </div>
  );
}

/** Returns why all of them are unavailable regardless of input; null: one is available. */
export function whyNone(source: Source, expiry: Expiry, writable: boolean): string | null {
  if (!writable) return READ_ONLY;
  return whyNoNever(source, expiry) === null ? null : whyNot(source, expiry);
}

/** Shown instead of the actions: the reason. */
export function NoLifeActions({ why }: { why: string }) {
  return (
    <p className="items-life-off">
      <strong>Time left</strong> <span className="hint">{why}</span>
    </p>
  );
}

export function LifeActions({
  source,
  expiry,
  now,
  blocked,
  busy,
  onTtl,
  onTouch,
}: LifeActionsProps) {
  const [typed, setTyped] = useState<SecondsTyped>({ text: '1', unit: 'hour' });
  const extending = useId();
  const read = readSeconds(typed.text, typed.unit, 0);
  const by = 'value' in read ? read.value : 0;
  const ttl = expiry.expiresAtMs === null ? 0 : extended(expiry.expiresAtMs, by, now);
  let noExtend =
    blocked ?? whyNot(source, expiry) ?? whyNotTtl(source.defaultTtl, source.perDocument);
  if (noExtend === null && 'error' in read) noExtend = read.error;
  if (noExtend === null && by < 1) noExtend = 'The time to add must be greater than 0.';
  if (noExtend === null && ttl > MAX_TTL)
    noExtend = `ttl would be ${ttl}; the maximum is ${MAX_TTL}.`;
  const ends =
    expiry.expiresAtMs === null
      ? ''
      : instant(Math.ceil(expiry.expiresAtMs / 1000) * 1000 + by * 1000);
  return (
    <fieldset className="items-life">
      <legend>Time left</legend>
      <div className="items-extend">
        <SecondsInput
          label="Extend by"
          name="Extend by"
          size={6}
          typed={typed}
          isWrong={by < 1}
          describedBy={extending}
          onType={setTyped}
        />
        <Action
          id={extending}
          label="Extend"
          does={`Sets ttl to ${ttl} (${inWords(ttl)} from now): expires at ${ends}.`}
          whyNot={noExtend}
          busy={busy}
          onPress={() => onTtl(ttl)}
        />
      </div>
      <Action
        label="Restart countdown"
        does="Restarts the countdown; the content does not change."
        whyNot={blocked ?? whyNot(source, expiry)}
        busy={busy}
        onPress={onTouch}
      />
      <Action
        label="Never"
        does="Sets ttl to -1: it will never expire."
        whyNot={blocked ?? whyNoNever(source, expiry)}
        busy={busy}
        onPress={() => onTtl(-1)}
      />
    </fieldset>
  );
}
