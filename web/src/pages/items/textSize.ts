// Size limits: of texts that the server accepts, and of texts that are checked while typing.
import { bytes } from '../../pure/figures/amount';
import { compactJson } from '../../pure/json/tree';
import type { Bound } from '../../ui/editorBound';
import type { Source } from './source';

/** Maximum characters in the editor; larger pastes are refused. */
const MOST_CHARACTERS = 18_000_000;
/** Larger texts are checked only on save. */
export const CHECKED_CHARACTERS = 1_000_000;

function inBytes(text: string): number {
  return new Blob([text]).size;
}

/** Returns why a text is too large to be sent; null: it is not. */
export function tooLarge(source: Source, text: string): string | null {
  const { bytes: most, words } = source.largest;
  // A UTF-16 unit takes at most three bytes in UTF-8; white space of JSON does not count.
  if (source.language !== 'json' || text.length * 3 <= most) return null;
  const size = inBytes(compactJson(text));
  if (size <= most) return null;
  return `The ${source.noun} is ${bytes(size)}. The server accepts at most ${words}, so this cannot be saved.`;
}

export function boundOf(source: Source): Bound {
  const why = `The server accepts ${source.noun}s of at most ${source.largest.words}`;
  return { characters: MOST_CHARACTERS, why };
}
