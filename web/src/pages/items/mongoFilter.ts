// What is typed as a filter of the MongoDB API, as the object that a find takes. Pure; the server judges what comes
// of it.
import { parseShell } from '../../pure/shell';
import { isCall, parseCall } from '../../pure/shell/call';
import { isDocument } from './typedDocument';

const HEX_ID = /^[0-9a-f]{24}$/i;
/** A word that is not a value: an id as it stands in a list. */
const WORD = /^[\w-]+$/;
/** Names with dots that begin an entry, which need quotes. */
const DOTTED = /(^|[{,]\s*)([A-Za-z_$][\w$]*(?:\.[\w$]+)+)(\s*:)/g;

/** Whether a text is a filter as it is. */
function isFilter(text: string): boolean {
  const parsed = parseShell(text);
  return !('error' in parsed) && isDocument(parsed.value);
}

/** The filter of a line like `db.orders.find({ … })`; null for any other line. */
function filterOfCall(text: string): string | null {
  if (!isCall(text)) return null;
  const call = parseCall(text.replace(/;\s*$/, ''));
  if ('error' in call) return null;
  const [find, ...others] = call.steps;
  if (others.length > 0 || (find?.name !== 'find' && find?.name !== 'findOne')) return null;
  return find.args[0]?.text ?? '{}';
}

/** Returns the filter that is meant by what people type and paste: an id alone, a value alone, entries without
 * braces, names with dots without quotes, a line of the shell. Anything else is returned as it is. */
export function completedMongoFilter(typed: string): string {
  const text = typed.trim();
  if (text === '' || isFilter(text)) return text;
  const ofCall = filterOfCall(text);
  if (ofCall !== null) return ofCall;
  if (HEX_ID.test(text)) return `{ _id: ObjectId("${text.toLowerCase()}") }`;
  const parsed = parseShell(text);
  // An array is no id.
  if (!('error' in parsed)) return Array.isArray(parsed.value) ? text : `{ _id: ${text} }`;
  const quoted = text.replace(DOTTED, '$1"$2"$3');
  const candidates = [`{ ${text} }`, quoted, `{ ${quoted} }`];
  const found = candidates.find(isFilter);
  if (found !== undefined) return found;
  return WORD.test(text) ? `{ _id: ${JSON.stringify(text)} }` : text;
}
