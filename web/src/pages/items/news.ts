// Describes changes that others made to a list. Pure.
import { count, counted } from '../../pure/figures/amount';
import type { News } from './source';

export interface Told {
  changed: ReadonlySet<string>;
  gone: ReadonlySet<string>;
  /** Written items that are not in the list. */
  others: ReadonlySet<string>;
}

export const NO_NEWS: Told = { changed: new Set(), gone: new Set(), others: new Set() };

/** Adds news; returns the same object if there are none. `known`: hidden items to ignore. */
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

/** Removes an item whose latest version is shown; returns the same object if it has no news. */
export function withoutKey(told: Told, key: string): Told {
  if (!told.changed.has(key) && !told.gone.has(key)) return told;
  const others = (keys: ReadonlySet<string>) => new Set([...keys].filter((one) => one !== key));
  return { ...told, changed: others(told.changed), gone: others(told.gone) };
}

export interface Listed {
  noun: 'item' | 'document';
  /** Whether a filter is applied. */
  isFiltered: boolean;
  /** Whether more rows may follow. */
  isOpen: boolean;
  /** Number of live documents added to the collection since the list was loaded. */
  more: number;
}

/** Explains why items may be absent from the list. */
function whyAbsent({ isFiltered, isOpen }: Listed, n: number): string {
  const [does, come] = n === 1 ? ['does', 'comes'] : ['do', 'come'];
  const [filtered, later] = [`${does} not match the filter`, `${come} further down`];
  if (isFiltered && isOpen) return `perhaps ${n === 1 ? 'it' : 'they'} ${filtered}, or ${later}`;
  return `perhaps ${n === 1 ? 'it' : 'they'} ${isFiltered ? filtered : later}`;
}

/** "added 12 documents", or how many were written that the list does not show. */
function freshWords(n: number, listed: Listed): string {
  const several = counted(n, listed.noun);
  if (!listed.isFiltered && !listed.isOpen) return `added ${several}`;
  return `written ${several} not shown in this list (${whyAbsent(listed, n)})`;
}

/** "added 12 documents, changed 3 and removed 1"; null: nothing. */
export function newsWords({ changed, gone, others }: Told, listed: Listed): string | null {
  const fresh = others.size > 0 ? others.size : listed.more;
  const said = fresh > 0 ? [freshWords(fresh, listed)] : [];
  for (const [done, n] of [
    ['changed', changed.size],
    ['removed', gone.size],
  ] as const) {
    // The noun is given only once.
    if (n > 0) said.push(`${done} ${said.length === 0 ? counted(n, listed.noun) : count(n)}`);
  }
  const last = said.pop();
  if (last === undefined) return null;
  return said.length === 0 ? last : `${said.join(', ')} and ${last}`;
}
