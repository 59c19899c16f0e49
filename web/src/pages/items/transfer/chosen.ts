// What was chosen to be imported: a file or a pasted text, the beginning of it, and what it seems to be.
import { guessCsv } from '../../../pure/importing/csv';
import { guessForm, type ImportForm, preview } from '../../../pure/importing/file';
import { finishDocument, finishItem } from '../../../pure/importing/finish';
import type { Found } from '../../../pure/importing/found';
import type { Api } from '../../../pure/values/compare';

const HEAD_BYTES = 64 * 1024;
/** Bytes of the end of a file that are looked at. */
const TAIL_BYTES = 1024;
/** Documents that are shown before anything is written. */
export const SHOWN = 5;

export interface Chosen {
  name: string;
  file: Blob;
  head: string;
  /** There is nothing behind the beginning. */
  isWhole: boolean;
  tail: string;
}

export async function chosenFile(file: Blob, name: string): Promise<Chosen> {
  const bytes = await file.slice(0, HEAD_BYTES).arrayBuffer();
  // What is no text is told by the preview; a character that is cut is left out.
  const head = new TextDecoder().decode(bytes, { stream: true });
  const tail = new TextDecoder().decode(await file.slice(-TAIL_BYTES).arrayBuffer());
  return { name, file, head, isWhole: file.size <= HEAD_BYTES, tail };
}

/** Whether a file is an array of JSON whose end is missing, as of a download that broke off. */
export function endsEarly({ head, tail }: Chosen, form: ImportForm): boolean {
  if (form.kind !== 'json' || !/^\ufeff?\s*\[/.test(head)) return false;
  return !/\]\s*$/.test(tail);
}

/** An id of the NoSQL API is always a text. A field that is empty is left out: a null where a ttl or a
 * key is wanted would be refused. */
function adapted(form: ImportForm, api: Api): ImportForm {
  if (form.kind !== 'csv') return form;
  const columns = form.options.columns.map((column) =>
    column.path === 'id' && api === 'nosql' ? { ...column, type: 'text' as const } : column,
  );
  return { kind: 'csv', options: { ...form.options, columns, empty: 'absent' } };
}

/** What a file seems to be; with `kind`, how it is read as that. */
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

/** The first documents, as values to be shown, and refusals. */
export function firstOf(chosen: Chosen, form: ImportForm, api: Api): Found<unknown>[] {
  const { head, isWhole } = chosen;
  if (api === 'mongo') return preview(form, head, isWhole, SHOWN, api, finishDocument);
  const found = preview(form, head, isWhole, SHOWN, api, finishItem);
  return found.map((one) =>
    one.kind === 'refused' ? one : { ...one, value: JSON.parse(one.value) as unknown },
  );
}
