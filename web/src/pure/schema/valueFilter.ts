// Filters that select the documents with a sampled value, for both APIs.
import { parseShell, printShell } from '../shell';
import type { Api } from '../values/compare';
import { partsOfPath } from '../values/path';
import { sqlPath } from '../values/sqlPath';

/** Returns the value in SQL, which is JSON; null: not expressible. */
function inSql(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null;
  }
}

/** `text` is the value as printed by the shell. Null if it was truncated or is not expressible. */
export function filterOfValue(path: string, text: string, api: Api): string | null {
  const parts = partsOfPath(path);
  if (api === 'mongo') {
    const parsed = parseShell(text);
    if ('error' in parsed) return null;
    if (parts.some((name) => name === '' || name.includes('.') || name.startsWith('$')))
      return null;
    // `null` alone also matches documents without the field.
    const value = parsed.value === null ? { $type: 'null' } : parsed.value;
    return printShell({ [parts.join('.')]: value }, 0);
  }
  const value = inSql(text);
  if (value === null) return null;
  return `WHERE c${sqlPath(parts)} = ${value}`;
}
