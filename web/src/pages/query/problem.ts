// Errors of a query with their positions. Pure.
import { bytes } from '../../pure/figures/amount';
import type { Mark } from '../../ui/CodeEditor';

/** A text that is not sent: invalid or too large. */
export class InputError extends Error {
  constructor(
    message: string,
    readonly field: string,
    readonly text: string,
    /** Offset in UTF-16 units; null: no position. */
    readonly at: number | null,
  ) {
    super(message);
  }
}

export interface Problem {
  sentence: string;
  /** "line 2, column 5"; null: not known. */
  where: string | null;
}

/** Returns line and column of an offset, from 1. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `line ${line}, column ${at - before.lastIndexOf('\n')}`;
}

interface Located {
  message?: unknown;
  code?: unknown;
  location?: { start?: unknown; end?: unknown };
}

/** Parses the JSON errors in a message of the NoSQL API. */
function located(message: string): Located[] {
  const at = message.indexOf('{"errors"');
  if (at < 0) return [];
  for (let end = message.lastIndexOf('}'); end > at; end = message.lastIndexOf('}', end - 1)) {
    try {
      const body = JSON.parse(message.slice(at, end + 1)) as { errors?: unknown };
      return Array.isArray(body.errors) ? (body.errors as Located[]) : [];
    } catch {
      // Text after it is not part of the JSON.
    }
  }
  return [];
}

/** Returns the ranges of the text that a server message refers to, with their errors. */
export function marksOf(message: string, text: string): Mark[] {
  return located(message).flatMap(({ message: said, location }): Mark[] => {
    const [from, to] = [location?.start, location?.end];
    if (typeof from !== 'number' || typeof to !== 'number' || to === 0 || from > text.length)
      return [];
    return [{ from, to, message: typeof said === 'string' ? said : message }];
  });
}

/** Returns the errors in a server message, with their positions in the query. */
export function problemsOf(message: string, text: string): Problem[] {
  const found = located(message).map(({ message: said, code, location }) => {
    const start = location?.start;
    const isPlace = typeof start === 'number' && location?.end !== 0 && start <= text.length;
    const sentence = typeof said === 'string' ? said : message;
    return {
      sentence: typeof code === 'string' ? `${sentence} (${code})` : sentence,
      where: isPlace ? placeIn(text, start) : null,
    };
  });
  return found.length > 0 ? found : [{ sentence: message, where: null }];
}

export const MAX_QUERY_BYTES = 512 * 1024;

/** Limit of the editors: longer texts cannot be sent. */
export const QUERY_BOUND = {
  characters: MAX_QUERY_BYTES,
  why: `Queries are limited to ${bytes(MAX_QUERY_BYTES)}`,
};

/** Throws if a text is too large. */
export function checkSize(field: string, text: string): void {
  const size = text.length > MAX_QUERY_BYTES ? text.length : new TextEncoder().encode(text).length;
  if (size <= MAX_QUERY_BYTES) return;
  const message = `The query is ${bytes(size)}; the maximum is ${bytes(MAX_QUERY_BYTES)}.`;
  throw new InputError(message, field, '', null);
}
