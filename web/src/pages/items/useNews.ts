// Polls for changes by others to a list while the page is visible.
import { useCallback, useEffect, useRef, useState } from 'react';
import { databaseNow } from '../../state/server';
import { NO_NEWS, newsWords, type Told, withNews, withoutKey } from './news';
import type { News, Row, Source } from './source';
import type { Rows } from './useRows';

const EVERY_MS = 3000;

export interface NewsState {
  /** null: no changes. */
  words: string | null;
  /** Discards known changes: the list was reloaded, or the user made them. */
  forget: () => void;
  /** The latest version of this item is shown. */
  seen: (key: string) => void;
}

export interface NewsAbout {
  source: Source | null;
  filter: string;
  rows: Rows;
  /** Keys of hidden items. */
  hidden: ReadonlyMap<string, number>;
  /** Live documents of the collection; null: not known. */
  live: number | null;
}

/** Returns rows that will not expire before the response arrives. */
const living = (rows: readonly Row[]) => {
  const now = (databaseNow() ?? 0) + EVERY_MS;
  return rows.filter(({ expiry }) => expiry.expiresAtMs === null || expiry.expiresAtMs > now);
};

export function useNews({ source, filter, rows, hidden, live }: NewsAbout): NewsState {
  const [told, tell] = useState<Told>(NO_NEWS);
  const [more, setMore] = useState(0);
  const [turn, setTurn] = useState(0);
  const isAll = filter === '' && rows.cursor === null;
  const removed = told.gone.size;
  const latest = useRef({ rows, hidden, live, isAll, removed });
  latest.current = { rows, hidden, live, isAll, removed };
  const forget = useCallback(() => {
    tell(NO_NEWS);
    setTurn((n) => n + 1);
  }, []);
  const seen = useCallback((key: string) => tell((known) => withoutKey(known, key)), []);
  const { ready } = rows;
  // Starts anew with each list, which contains all earlier writes.
  useEffect(() => {
    tell(NO_NEWS);
    setMore(0);
    if (source === null || !ready) return;
    const ended = new AbortController();
    let mark: unknown = null;
    let moreBefore = 0;
    // If the API does not report new documents, they are inferred from the number of live ones.
    // That number may be outdated, so a difference must persist over two polls.
    const countMore = () => {
      const { rows: now, live: alive, isAll: isWhole, removed: gone } = latest.current;
      const isTold = source.api === 'nosql' || !isWhole || alive === null || now.loading;
      // Removed rows are still listed but not live.
      const found = isTold ? 0 : Math.max(0, alive - (now.rows.length - gone));
      setMore(Math.min(found, moreBefore));
      moreBefore = found;
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** Removes changes that the user made or loaded while the request was pending. */
    const stillNews = (news: News, asked: readonly Row[]): News => {
      if (news.changed.length + news.gone.length + news.others.length === 0) return news;
      const before = new Map(asked.map((row) => [row.key, row]));
      const now = new Map(latest.current.rows.rows.map((row) => [row.key, row]));
      const isSame = (key: string) => now.get(key) === before.get(key);
      return {
        mark: news.mark,
        changed: news.changed.filter(isSame),
        gone: news.gone.filter((key) => now.has(key) && isSame(key)),
        others: news.others.filter((key) => !now.has(key)),
      };
    };
    const ask = async () => {
      if (document.visibilityState === 'visible' && !latest.current.rows.loading) {
        const listed = living(latest.current.rows.rows);
        const news = await source.news(mark, listed, ended.signal);
        if (ended.signal.aborted) return;
        mark = news.mark;
        tell((known) => withNews(known, stillNews(news, listed), latest.current.hidden));
        countMore();
      }
    };
    const again = () => {
      // After a network failure polling continues; a refusal is reported when rows are loaded.
      void ask()
        .catch(() => {})
        .finally(() => {
          if (!ended.signal.aborted) timer = setTimeout(again, EVERY_MS);
        });
    };
    again();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [source, filter, ready, turn]);
  const listed = { isFiltered: filter !== '', isOpen: rows.cursor !== null, more };
  const noun = source?.noun ?? 'document';
  return { words: newsWords(told, { noun, ...listed }), forget, seen };
}
