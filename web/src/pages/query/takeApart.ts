// Converts a shell call to the texts of the form: a find becomes its fields, everything else a
// pipeline. Pure; keeps the texts as written.
import { Int32, Long } from 'bson';
import { attempt, type Mistake, Wrong } from '../../pure/reader';
import { printShell } from '../../pure/shell';
import { type Argument, type Call, parseCall, type Step } from '../../pure/shell/call';
import { isPlainObject } from '../../pure/values/kind';
import { EMPTY, LABELS, type MongoForm } from './command';

export interface TakenApart {
  /** null: the database of the page. */
  database: string | null;
  collection: string;
  form: MongoForm;
  /** A sentence about the conversion. */
  said: string;
}

const FIRST_STEPS = [
  'find',
  'findOne',
  'aggregate',
  'countDocuments',
  'estimatedDocumentCount',
  'count',
  'distinct',
] as const;
const FIND_STEPS = ['sort', 'limit', 'skip', 'projection', 'count', 'size'] as const;
/** Methods that change only how the shell shows results. */
const SHOWING = ['toArray', 'pretty'] as const;

/** The calls parsed so far. */
interface Asked {
  filter: string;
  projection: string;
  sort: string;
  limit: string;
  skip: string;
  /** Replaces a find. */
  stages: string[] | null;
  /** Replaces stages. */
  pipeline: string | null;
  left: boolean;
}

/** "a, b and c". */
function listed(names: readonly string[]): string {
  const before = names.slice(0, -1).join(', ');
  return `${before}${before === '' ? '' : ' and '}${names.at(-1) ?? ''}`;
}

function unknown({ name, at }: Step, after: string, known: readonly string[]): Wrong {
  return new Wrong(
    `unknown method ${JSON.stringify(name)} ${after}; supported: ${listed(known)}`,
    at,
  );
}

/** Parses a document argument; the shell treats a missing one and null as empty. */
function documentOf({ name }: Step, arg: Argument | undefined): string {
  if (arg === undefined || arg.value === null || arg.value === undefined) return '';
  if (isPlainObject(arg.value)) return arg.text;
  throw new Wrong(`${name} expects a document: { field: value }`, arg.at);
}

function wholeOf({ name, at, args }: Step): string {
  const value = args[0]?.value;
  const text = value instanceof Int32 || value instanceof Long ? value.toString() : '';
  if (args.length === 1 && /^\d+$/.test(text)) return text;
  throw new Wrong(`${name} expects one whole number from 0`, args[0]?.at ?? at);
}

const stage = (operator: string, body: string) => `{ ${operator}: ${body} }`;
const matching = (filter: string) => (/^(\{\s*\})?$/.test(filter) ? [] : [stage('$match', filter)]);

/** Returns the stages of `distinct`: array elements separately, nothing for a missing field. */
function distinct(step: Step): string[] {
  const [field, filter] = step.args;
  if (typeof field?.value !== 'string' || field.value === '')
    throw new Wrong('distinct expects a field name in quotes', field?.at ?? step.at);
  const path = printShell(`$${field.value}`);
  return [
    ...matching(documentOf(step, filter)),
    stage('$unwind', `{ path: ${path}, preserveNullAndEmptyArrays: true }`),
    stage('$match', `{ ${printShell(field.value)}: { $exists: true } }`),
    stage('$group', `{ _id: ${path} }`),
  ];
}

/** Parses the arguments of `aggregate`: an array, or stages one by one. */
function pipelineOf(step: Step, asked: Asked): void {
  const [first] = step.args;
  if (first === undefined) asked.pipeline = '[]';
  else if (Array.isArray(first.value)) {
    asked.pipeline = first.text;
    asked.left = step.args.length > 1;
  } else {
    for (const arg of step.args) documentOf(step, arg);
    asked.stages = step.args.map(({ text }) => text);
  }
}

function begin(step: Step, asked: Asked): void {
  const [filter, second] = step.args;
  switch (step.name as (typeof FIRST_STEPS)[number]) {
    case 'find':
    case 'findOne':
      if (step.name === 'findOne') asked.limit = '1';
      asked.filter = documentOf(step, filter);
      asked.projection = documentOf(step, second);
      asked.left = step.args.length > 2;
      return;
    case 'aggregate':
      pipelineOf(step, asked);
      return;
    case 'countDocuments':
    case 'count':
      asked.stages = [...matching(documentOf(step, filter)), stage('$count', '"count"')];
      asked.left = step.args.length > 1;
      return;
    case 'estimatedDocumentCount':
      asked.stages = [stage('$count', '"count"')];
      asked.left = step.args.length > 0;
      return;
    case 'distinct':
      asked.stages = distinct(step);
      asked.left = step.args.length > 2;
      return;
    default:
      throw unknown(step, 'of a collection', FIRST_STEPS);
  }
}

/** `size` respects skip and limit; `count` counts everything that the filter matches. */
function counting({ name }: Step, { filter, skip, limit }: Asked): string[] {
  const bounds = [
    ...(skip === '' || skip === '0' ? [] : [stage('$skip', skip)]),
    ...(limit === '' || limit === '0' ? [] : [stage('$limit', limit)]),
  ];
  return [...matching(filter), ...(name === 'size' ? bounds : []), stage('$count', '"count"')];
}

function goOn(step: Step, asked: Asked): void {
  if ((SHOWING as readonly string[]).includes(step.name)) return;
  if (asked.stages !== null || asked.pipeline !== null) throw unknown(step, 'here', SHOWING);
  switch (step.name as (typeof FIND_STEPS)[number]) {
    case 'sort':
      asked.sort = documentOf(step, step.args[0]);
      return;
    case 'projection':
      asked.projection = documentOf(step, step.args[0]);
      return;
    case 'limit':
      asked.limit = wholeOf(step);
      return;
    case 'skip':
      asked.skip = wholeOf(step);
      return;
    case 'count':
    case 'size':
      asked.stages = counting(step, asked);
      return;
    default:
      throw unknown(step, 'after find', [...FIND_STEPS, ...SHOWING]);
  }
}

function takenApart({ database, collection, steps }: Call): TakenApart {
  const asked: Asked = {
    ...{ filter: '', projection: '', sort: '', limit: '', skip: '' },
    ...{ stages: null, pipeline: null, left: false },
  };
  for (const [at, step] of steps.entries()) (at === 0 ? begin : goOn)(step, asked);
  const { stages, left, pipeline: whole, ...fields } = asked;
  const pipeline = whole ?? (stages === null ? null : `[\n  ${stages.join(',\n  ')}\n]`);
  const without = left ? ' Its options are ignored.' : '';
  const place = { database, collection };
  if (pipeline !== null) {
    const said = `Converted the shell command to a pipeline.${without}`;
    return { ...place, said, form: { ...EMPTY, mode: 'pipeline', pipeline } };
  }
  const names = (['projection', 'sort', 'limit', 'skip'] as const).filter(
    (name) => fields[name] !== '',
  );
  const parts = listed(['filter', ...names.map((name) => LABELS[name].toLowerCase())]);
  const said = `Converted the shell command: ${parts}.${without}`;
  return { ...place, said, form: { ...EMPTY, ...fields, filter: fields.filter || '{}' } };
}

/** Converts a shell call, or reports the unknown part. */
export function takeApart(text: string): TakenApart | Mistake {
  const call = parseCall(text);
  return 'error' in call ? call : attempt(text, () => takenApart(call));
}
