// Formats a text for one line with visible signs for line ends, tabs, control characters, and
// zero-width or direction-changing characters.

const HIDDEN = /\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const SIGNS: Readonly<Record<string, string>> = { '\r\n': '↵', '\n': '↵', '\t': '⇥' };
/** Joiners in emoji and some scripts; between such letters they are kept. */
const JOINERS =
  /(?<=\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d|(?<=\p{L})[\u200c\u200d](?=\p{L})/gu;

export function visible(text: string): string {
  if (text.search(HIDDEN) < 0) return text;
  const joined = new Set([...text.matchAll(JOINERS)].map(({ index }) => index));
  return text.replace(HIDDEN, (found, at: number) =>
    joined.has(at) ? found : (SIGNS[found] ?? '•'),
  );
}
