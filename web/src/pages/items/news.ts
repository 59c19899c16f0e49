// What is said of what others have done to a list. Pure.
import { count } from '../../pure/figures/amount';
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
  /** Of the whole collection. */
  isAll: boolean;
  /** More live in the collection than when the list was read. */
  more: number;
}

/** "12 new, 3 changed"; null: nothing. What is not listed is new only in a list of everything. */
export function newsWords({ changed, gone, others }: Told, { isAll, more }: Listed): string | null {
  const fresh = others.size > 0 ? others.size : more;
  const said = [
    fresh > 0
      ? isAll
        ? `${count(fresh)} new`
        : `${count(fresh)} written that are not listed`
      : '',
    changed.size > 0 ? `${count(changed.size)} changed` : '',
    gone.size > 0 ? `${count(gone.size)} gone` : '',
  ].filter((part) => part !== '');
  return said.length === 0 ? null : said.join(', ');
}
