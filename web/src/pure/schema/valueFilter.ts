// The filter that finds the documents with a value of a sample, for both APIs.
import { parseShell, printShell } from '../shell';
import type { Api } from '../values/compare';
import { partsOfPath } from '../values/path';
import { sqlPath } from '../values/sqlPath';

/** The value as SQL writes it, as JSON does; null: SQL has none like it. */
function inSql(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null;
  }
}

/** `text` is the value as the shell prints it. Null: it was too long to be kept, or no filter has it. */
export function filterOfValue(path: string, text: string, api: Api): string | null {
  const parts = partsOfPath(path);
  if (api === 'mongo') {
    const parsed = parseShell(text);
    if ('error' in parsed) return null;
    if (parts.some((name) => name === '' || name.includes('.') || name.startsWith('$')))
      return null;
    // `null` alone would find those without the field, too.
    const value = parsed.value === null ? { $type: 'null' } : parsed.value;
    return printShell({ [parts.join('.')]: value }, 0);
  }
  const value = inSql(text);
  if (value === null) return null;
  return `WHERE c${sqlPath(parts)} = ${value}`;
}
