// Counts the documents that a TTL index would expire immediately. If there are any, or the count is
// unknown, the user must type the collection's name.
import { useState } from 'react';
import { counted } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { NameField } from '../../../ui/NameField';
import { covers, type Due, type Rule, useDue } from './useDue';

export interface Consent {
  due: Due;
  typed: string;
  type: (text: string) => void;
  /** Whether documents would expire, or the count is unknown. */
  isAsked: boolean;
  /** Whether no confirmation is needed, or it was given. */
  may: boolean;
  /** Counts again, since time has passed; returns false if the confirmation does not cover it. */
  holds: () => Promise<boolean>;
  /** Whether the repeated count is pending. */
  isCounting: boolean;
}

/** State of the confirmation for a rule; null: not valid yet. */
export function useConsent(target: Target, rule: Rule | null): Consent {
  const [due, count] = useDue(target, rule);
  // A confirmation is void for another rule.
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
      return 'Calculating the effect…';
    case 'failed':
      return `The number of documents that expire could not be calculated: ${due.text}`;
    case 'known':
      if (due.documents === 0)
        return 'No document is past this deadline: nothing expires immediately.';
      return `${counted(due.documents, 'document')} ${due.documents === 1 ? 'is' : 'are'} past this deadline and will expire immediately.`;
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
          <p>This cannot be undone: a later change does not restore expired documents.</p>
          <NameField what="collection" name={collection} typed={typed} onType={type} />
        </>
      )}
    </>
  );
}

/** Returns the label of the save button. */
export function labelWith(consent: Consent, label: string): string {
  const { due } = consent;
  return due.kind === 'known' && due.documents > 0
    ? `${label} and expire ${counted(due.documents, 'document')}`
    : label;
}
