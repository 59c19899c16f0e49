// Completes abbreviated input to a MongoDB filter object. Pure; the server validates it.
import { parseShell } from '../../pure/shell';
import { isCall, parseCall } from '../../pure/shell/call';
import { isDocument } from './typedDocument';

const HEX_ID = /^[0-9a-f]{24}$/i;
/** An unquoted id, as shown in a list. */
const WORD = /^[\w-]+$/;
/** Unquoted dotted names at the start of an entry. */
const DOTTED = /(^|[{,]\s*)([A-Za-z_$][\w$]*(?:\.[\w$]+)+)(\s*:)/g;

/** Returns whether a text is a complete filter. */
function isFilter(text: string): boolean {
  const parsed = parseShell(text);
  return !('error' in parsed) && isDocument(parsed.value);
}

/** Returns the filter of a call like `db.orders.find({ … })`; null for any other call. */
function filterOfCall(text: string): string | null {
  if (!isCall(text)) return null;
  const call = parseCall(text.replace(/;\s*$/, ''));
  if ('error' in call) return null;
  const [find, ...others] = call.steps;
  if (others.length > 0 || (find?.name !== 'find' && find?.name !== 'findOne')) return null;
  return find.args[0]?.text ?? '{}';
}

/**
 * Completes what people type and paste to a filter: a single id or value, entries without braces,
 * unquoted dotted names, a shell call. Other text is returned unchanged.
 */
export function completedMongoFilter(typed: string): string {
  const text = typed.trim();
  if (text === '' || isFilter(text)) return text;
  const ofCall = filterOfCall(text);
  if (ofCall !== null) return ofCall;
  if (HEX_ID.test(text)) return `{ _id: ObjectId("${text.toLowerCase()}") }`;
  const parsed = parseShell(text);
  // An array is never an id.
  if (!('error' in parsed)) return Array.isArray(parsed.value) ? text : `{ _id: ${text} }`;
  const quoted = text.replace(DOTTED, '$1"$2"$3');
  const candidates = [`{ ${text} }`, quoted, `{ ${quoted} }`];
  const found = candidates.find(isFilter);
  if (found !== undefined) return found;
  return WORD.test(text) ? `{ _id: ${JSON.stringify(text)} }` : text;
}
