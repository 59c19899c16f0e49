// A text as it stands on one line, with signs for what would not be seen: ends of lines, tabs, control
// characters, and those that take no room or turn the direction of what follows.

const HIDDEN = /\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const SIGNS: Readonly<Record<string, string>> = { '\r\n': '↵', '\n': '↵', '\t': '⇥' };
/** The joiners that emoji and some scripts are written with; between letters like these they are seen. */
const JOINERS =
  /(?<=\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d|(?<=\p{L})[\u200c\u200d](?=\p{L})/gu;

export function visible(text: string): string {
  if (text.search(HIDDEN) < 0) return text;
  const joined = new Set([...text.matchAll(JOINERS)].map(({ index }) => index));
  return text.replace(HIDDEN, (found, at: number) =>
    joined.has(at) ? found : (SIGNS[found] ?? '•'),
  );
}
