// How large a text would be for the server, and what is too large to be looked at while typing.
import { bytes } from '../../pure/figures/amount';
import { compactJson } from '../../pure/json/tree';
import type { Bound } from '../../ui/editorBound';
import type { Source } from './source';

/** Characters that the editor takes; a larger paste is refused. */
const MOST_CHARACTERS = 18_000_000;
/** Larger texts are checked when they are saved. */
export const CHECKED_CHARACTERS = 1_000_000;

function inBytes(text: string): number {
  return new Blob([text]).size;
}

/** Why a text is too large to be sent; null: it is not. */
export function tooLarge(source: Source, text: string): string | null {
  const { bytes: most, words } = source.largest;
  // No character of a text takes more than three bytes; only JSON's white space does not count.
  if (source.language !== 'json' || text.length * 3 <= most) return null;
  const size = inBytes(compactJson(text));
  if (size <= most) return null;
  return `The ${source.noun} is ${bytes(size)}. The server takes at most ${words}, so this cannot be saved.`;
}

export function boundOf(source: Source): Bound {
  const why = `The server takes ${source.noun}s of at most ${source.largest.words}`;
  return { characters: MOST_CHARACTERS, why };
}
