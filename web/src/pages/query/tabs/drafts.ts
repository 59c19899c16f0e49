// Names and contents of the drafts of a query tab.
import { readDraft, writeDraft } from '../../../state/draft';
import type { Target } from '../../../state/place';
import { FIRST, type Texts } from './address';

/** Returns the common prefix of a tab's draft names. */
export function draftBase({ door, database, collection }: Target, id: string): string {
  return `query:${door}/${database}/${collection}${id === '' ? '' : `#${id}`}`;
}

/** Returns the draft name of a field; the NoSQL form has only one. */
export function draftName(target: Target, id: string, field: string): string {
  const base = draftBase(target, id);
  return target.door === 'nosql' ? base : `${base}:${field}`;
}

export function readTexts(target: Target, id: string): Texts {
  const first = Object.entries(FIRST[target.door]);
  return Object.fromEntries(
    first.map(([field, text]) => [field, readDraft(draftName(target, id, field)) ?? text]),
  );
}

export function writeTexts(target: Target, id: string, texts: Texts): void {
  for (const [field, first] of Object.entries(FIRST[target.door]))
    writeDraft(draftName(target, id, field), texts[field] ?? first);
}

export function dropTexts(target: Target, id: string): void {
  for (const field of Object.keys(FIRST[target.door]))
    writeDraft(draftName(target, id, field), null);
}
