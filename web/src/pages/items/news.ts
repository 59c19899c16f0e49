// What is said of what others have done to a list. Pure.
import { count, counted } from '../../pure/figures/amount';
import type { News } from './source';

export interface Told {
  changed: ReadonlySet<string>;
  gone: ReadonlySet<string>;
  /** Written, and not in the list. */
  others: ReadonlySet<string>;
}

export const NO_NEWS: Told = { changed: new Set(), gone: new Set(), others: new Set() };

/** What is known with more; the same when there is nothing new. `known` are left out: they are hidden. */
export function withNews(told: Told, news: News, known: ReadonlyMap<string, unknown>): Told {
  const add = (to: ReadonlySet<string>, keys: readonly string[]) => {
    const fresh = keys.filter((key) => !known.has(key) && !to.has(key));
    return fresh.length === 0 ? to : new Set([...to, ...fresh]);
  };
  const [changed, gone] = [add(told.changed, news.changed), add(told.gone, news.gone)];
  const others = add(told.others, news.others);
  const isSame = changed === told.changed && gone === told.gone && others === told.others;
  return isSame ? told : { changed, gone, others };
}

/** What is known without an item whose newest is shown; the same when nothing is known of it. */
export function withoutKey(told: Told, key: string): Told {
  if (!told.changed.has(key) && !told.gone.has(key)) return told;
  const others = (keys: ReadonlySet<string>) => new Set([...keys].filter((one) => one !== key));
  return { ...told, changed: others(told.changed), gone: others(told.gone) };
}

export interface Listed {
  noun: 'item' | 'document';
  /** A filter chose what is listed. */
  isFiltered: boolean;
  /** More may follow what is listed. */
  isOpen: boolean;
  /** More live in the collection than when the list was read. */
  more: number;
}

/** Of what the list does not show, why that may be. */
function whyAbsent({ isFiltered, isOpen }: Listed, n: number): string {
  const [fit, come] = n === 1 ? ['does', 'comes'] : ['do', 'come'];
  const [filtered, later] = [`${fit} not fit the filter`, `${come} further down`];
  if (isFiltered && isOpen) return `perhaps ${n === 1 ? 'it' : 'they'} ${filtered}, or ${later}`;
  return `perhaps ${n === 1 ? 'it' : 'they'} ${isFiltered ? filtered : later}`;
}

/** "added 12 documents", or how many were written that the list does not show. */
function freshWords(n: number, listed: Listed): string {
  const several = counted(n, listed.noun);
  if (!listed.isFiltered && !listed.isOpen) return `added ${several}`;
  return `written ${several} that this list does not show (${whyAbsent(listed, n)})`;
}

/** "added 12 documents, changed 3 and removed 1"; null: nothing. What is not listed is new only in a list
 * of everything. */
export function newsWords({ changed, gone, others }: Told, listed: Listed): string | null {
  const fresh = others.size > 0 ? others.size : listed.more;
  const said = fresh > 0 ? [freshWords(fresh, listed)] : [];
  for (const [done, n] of [
    ['changed', changed.size],
    ['removed', gone.size],
  ] as const) {
    // What the number counts is named once.
    if (n > 0) said.push(`${done} ${said.length === 0 ? counted(n, listed.noun) : count(n)}`);
  }
  const last = said.pop();
  if (last === undefined) return null;
  return said.length === 0 ? last : `${said.join(', ')} and ${last}`;
}
