// What a date TTL index makes expire at once, before it is saved. Where that is anything, or is not known,
// a person types the collection's name.
import { useState } from 'react';
import { count, counted } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { NameField } from '../../../ui/NameField';
import { covers, type Due, type Rule, useDue } from './useDue';

export interface Consent {
  due: Due;
  typed: string;
  type: (text: string) => void;
  /** Documents would disappear, or nobody knows whether they would. */
  isAsked: boolean;
  /** Nothing would disappear, or the name was typed. */
  may: boolean;
  /** Counts once more, as time has gone on; false: there is more to agree to, which is shown now. */
  holds: () => Promise<boolean>;
  /** It is counted once more. */
  isCounting: boolean;
}

/** For a rule that may be saved; null: there is none yet. */
export function useConsent(target: Target, rule: Rule | null): Consent {
  const [due, count] = useDue(target, rule);
  // What was typed is meant for the number beside it, and not for that of another rule.
  const about = JSON.stringify(rule);
  const [answer, setAnswer] = useState({ about, typed: '' });
  const typed = answer.about === about ? answer.typed : '';
  const type = (text: string) => setAnswer({ about, typed: text });
  const isAsked = due.kind === 'failed' || (due.kind === 'known' && due.documents > 0);
  const isHarmless = due.kind === 'known' && due.documents === 0;
  const may = isHarmless || (isAsked && typed === target.collection);
  const [isCounting, setCounting] = useState(false);
  const holds = async () => {
    setCounting(true);
    const isCovered = covers(due, await count());
    setCounting(false);
    if (!isCovered) type('');
    return isCovered;
  };
  return { due, typed, type, isAsked, may, holds, isCounting };
}

function said(due: Due): string {
  switch (due.kind) {
    case 'none':
      return '';
    case 'asking':
      return 'Working out the effect…';
    case 'failed':
      return `How many documents disappear could not be worked out: ${due.text}`;
    case 'known':
      if (due.documents === 0)
        return 'No document has expired by this: nothing disappears at once.';
      return `${counted(due.documents, 'document')} ${due.documents === 1 ? 'has' : 'have'} expired by this and will disappear at once.`;
  }
}

export function DueNow({ consent, collection }: { consent: Consent; collection: string }) {
  const { due, typed, type, isAsked } = consent;
  return (
    <>
      <p role="status" className={isAsked ? 'settings-expiring' : 'hint'}>
        {said(due)}
      </p>
      {isAsked && (
        <>
          <p>This cannot be undone: what has expired stays gone, whatever is set later.</p>
          <NameField what="collection" name={collection} typed={typed} onType={type} />
        </>
      )}
    </>
  );
}

/** What the button says that saves it. */
export function labelWith(consent: Consent, label: string): string {
  const { due } = consent;
  return due.kind === 'known' && due.documents > 0
    ? `${label}, and let ${count(due.documents)} expire`
    : label;
}
