// The chosen import file or pasted text, its start, and its guessed format.
import { guessCsv } from '../../../pure/importing/csv';
import { guessForm, type ImportForm, preview } from '../../../pure/importing/file';
import { finishDocument, finishItem } from '../../../pure/importing/finish';
import type { Found } from '../../../pure/importing/found';
import type { Api } from '../../../pure/values/compare';

const HEAD_BYTES = 64 * 1024;
/** Bytes read from the end of a file. */
const TAIL_BYTES = 1024;
export const SHOWN = 5;

export interface Chosen {
  name: string;
  file: Blob;
  head: string;
  /** Whether the start is the whole file. */
  isWhole: boolean;
  tail: string;
}

export async function chosenFile(file: Blob, name: string): Promise<Chosen> {
  const bytes = await file.slice(0, HEAD_BYTES).arrayBuffer();
  // The preview reports invalid text; a truncated character at the end is dropped.
  const head = new TextDecoder().decode(bytes, { stream: true });
  const tail = new TextDecoder().decode(await file.slice(-TAIL_BYTES).arrayBuffer());
  return { name, file, head, isWhole: file.size <= HEAD_BYTES, tail };
}

/** Returns whether a JSON array lacks its end, as after an interrupted download. */
export function endsEarly({ head, tail }: Chosen, form: ImportForm): boolean {
  if (form.kind !== 'json' || !/^\ufeff?\s*\[/.test(head)) return false;
  return !/\]\s*$/.test(tail);
}

/**
 * Adapts guessed CSV options: ids of the NoSQL API are strings. Empty fields are omitted, since
 * null would be refused as a ttl or key.
 */
function adapted(form: ImportForm, api: Api): ImportForm {
  if (form.kind !== 'csv') return form;
  const columns = form.options.columns.map((column) =>
    column.path === 'id' && api === 'nosql' ? { ...column, type: 'text' as const } : column,
  );
  return { kind: 'csv', options: { ...form.options, columns, empty: 'absent' } };
}

/** Guesses the format of a file; with `kind`, guesses only the options of that format. */
export function formOf(
  { name, head }: Chosen,
  api: Api,
  kind?: ImportForm['kind'],
  delimiter?: string,
): ImportForm {
  if (kind === undefined) return adapted(guessForm(name, head, api), api);
  if (kind !== 'csv') return { kind };
  return adapted({ kind, options: guessCsv(head, api, delimiter) }, api);
}

/** Returns the first documents and errors as display values. */
export function firstOf(chosen: Chosen, form: ImportForm, api: Api): Found<unknown>[] {
  const { head, isWhole } = chosen;
  if (api === 'mongo') return preview(form, head, isWhole, SHOWN, api, finishDocument);
  const found = preview(form, head, isWhole, SHOWN, api, finishItem);
  return found.map((one) =>
    one.kind === 'refused' ? one : { ...one, value: JSON.parse(one.value) as unknown },
  );
}
