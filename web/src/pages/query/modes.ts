// Converts the fields of a find to an equivalent pipeline, and a pipeline back if it is equivalent
// to a find. Pure; keeps the texts as written.
import { isCall } from '../../pure/shell/call';
import { readPipeline } from '../../pure/shell/stages';
import { EMPTY, type MongoForm } from './command';

/** Fields and stages in the order in which a find applies them. */
const STAGES = [
  ['filter', '$match'],
  ['sort', '$sort'],
  ['skip', '$skip'],
  ['limit', '$limit'],
  ['projection', '$project'],
] as const;
type Field = (typeof STAGES)[number][0];
export type Find = Pick<MongoForm, Field>;

/** Texts without effect, by field. */
const SAYS_NOTHING: Record<Field, RegExp> = {
  filter: /^(\{\s*\})?$/,
  sort: /^(\{\s*\})?$/,
  skip: /^0*$/,
  limit: /^0*$/,
  projection: /^(\{\s*\})?$/,
};

/** Removes a trailing semicolon. */
const bare = (text: string) => text.trim().replace(/\s*;$/, '');

/** Returns the stages equivalent to a find; none if it selects everything. */
function stagesOf(form: Find): string[] {
  return STAGES.flatMap(([field, operator]) => {
    const text = bare(form[field]);
    if (SAYS_NOTHING[field].test(text)) return [];
    // A trailing line comment must not swallow the bracket.
    const space = /\/\/[^\n]*$/.test(text) ? '\n  ' : ' ';
    return [`{ ${operator}: ${text}${space}}`];
  });
}

/** Returns the pipeline equivalent to a find. */
export function pipelineOfFind(form: Find): string {
  const stages = stagesOf(form);
  return stages.length === 0 ? EMPTY.pipeline : `[\n  ${stages.join(',\n  ')}\n]`;
}

/** Returns the equivalent find; null: other stages, another order, or disabled stages. */
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

/** Returns whether two finds have identical texts. */
export function isSameFind(a: Find, b: Find): boolean {
  return JSON.stringify(stagesOf(a)) === JSON.stringify(stagesOf(b));
}

/**
 * Switches the kind of query and converts the query if possible. A pipeline that a find cannot
 * express is kept, and `kept` is set.
 */
export function inMode(
  form: MongoForm,
  mode: MongoForm['mode'],
): { form: MongoForm; kept: boolean } {
  // A shell call is converted first.
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
