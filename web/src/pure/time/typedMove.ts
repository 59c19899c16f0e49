// Parses a move of the clock typed in a text field: "90d", "advance 1.5 h", "+10 min". Pure.

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const MOVE =
  /^(?:advance\s*(?:the\s+)?(?:clock\s*)?(?:by\s+)?)?\+?\s*(\d+(?:\.\d+)?)\s*(s|m|h|d|w)(?:(?<=s)ec(?:ond)?s?|(?<=m)in(?:ute)?s?|(?<=h)ours?|(?<=d)ays?|(?<=w)eeks?)?$/i;

/** Returns seconds in (0, `most`]; null if it is not a move. */
export function typedMove(text: string, most: number): number | null {
  const found = MOVE.exec(text.trim());
  const size = SECONDS[found?.[2]?.toLowerCase() ?? ''];
  if (found === null || size === undefined) return null;
  const seconds = Math.round(Number(found[1]) * size * 1000) / 1000;
  return seconds > 0 && seconds <= most ? seconds : null;
}
