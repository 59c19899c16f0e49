// From the fields of a find to the pipeline that asks the same, and back where a pipeline is just that.
// Pure; texts stay as they were written.
import { isCall } from '../../pure/shell/call';
import { readPipeline } from '../../pure/shell/stages';
import { EMPTY, type MongoForm } from './command';

/** In this order the stages of a pipeline do what a find does. */
const STAGES = [
  ['filter', '$match'],
  ['sort', '$sort'],
  ['skip', '$skip'],
  ['limit', '$limit'],
  ['projection', '$project'],
] as const;
type Field = (typeof STAGES)[number][0];
export type Find = Pick<MongoForm, Field>;

/** What says nothing in each field. */
const SAYS_NOTHING: Record<Field, RegExp> = {
  filter: /^(\{\s*\})?$/,
  sort: /^(\{\s*\})?$/,
  skip: /^0*$/,
  limit: /^0*$/,
  projection: /^(\{\s*\})?$/,
};

/** Without what ends a statement. */
const bare = (text: string) => text.trim().replace(/\s*;$/, '');

/** The stages that ask what a find asks; none: it asks for everything. */
function stagesOf(form: Find): string[] {
  return STAGES.flatMap(([field, operator]) => {
    const text = bare(form[field]);
    if (SAYS_NOTHING[field].test(text)) return [];
    // A comment to the end of the line would take the bracket with it.
    const space = /\/\/[^\n]*$/.test(text) ? '\n  ' : ' ';
    return [`{ ${operator}: ${text}${space}}`];
  });
}

/** The pipeline that asks what a find asks. */
export function pipelineOfFind(form: Find): string {
  const stages = stagesOf(form);
  return stages.length === 0 ? EMPTY.pipeline : `[\n  ${stages.join(',\n  ')}\n]`;
}

/** The find that asks what a pipeline asks; null: it has other stages, another order, or parts left out. */
export function findOfPipeline(text: string): Find | null {
  if (text.trim() === '') return { ...EMPTY };
  const read = readPipeline(text);
  if ('error' in read) return null;
  const { filter, sort, skip, limit, projection } = EMPTY;
  const find: Find = { filter, sort, skip, limit, projection };
  let last = -1;
  for (const { operator, body, isOff } of read.stages) {
    const at = STAGES.findIndex(([, name]) => name === operator);
    const field = STAGES[at]?.[0];
    if (isOff || field === undefined || at <= last) return null;
    if ((field === 'skip' || field === 'limit') && !/^\d+$/.test(body)) return null;
    if (field === 'limit' && Number(body) === 0) return null;
    find[field] = body;
    last = at;
  }
  return find;
}

/** Whether two finds ask the same in the same words. */
export function isSameFind(a: Find, b: Find): boolean {
  return JSON.stringify(stagesOf(a)) === JSON.stringify(stagesOf(b));
}

/** The form with the other kind of query, and with what was asked in it as far as it can be said there.
 * A pipeline of other stages is kept, and `kept` says so. */
export function inMode(
  form: MongoForm,
  mode: MongoForm['mode'],
): { form: MongoForm; kept: boolean } {
  // A line of the shell is taken apart first.
  if (isCall(form.filter) || isCall(form.pipeline)) return { form: { ...form, mode }, kept: false };
  const there = findOfPipeline(form.pipeline);
  const isUntouched = form.pipeline.trim() === EMPTY.pipeline;
  const isSame = there !== null && isSameFind(form, there);
  if (isSame) return { form: { ...form, mode }, kept: false };
  if (mode === 'filter') {
    const found = there === null || isUntouched ? {} : there;
    return { form: { ...form, ...found, mode }, kept: false };
  }
  if (stagesOf(form).length === 0 && !isUntouched) return { form: { ...form, mode }, kept: false };
  if (there === null) return { form: { ...form, mode }, kept: true };
  return { form: { ...form, pipeline: pipelineOfFind(form), mode }, kept: false };
}
