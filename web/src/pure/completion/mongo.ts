// Completes filters, updates and pipelines in MongoDB shell syntax: operators by position, and
// fields. Parses unfinished text leniently; the server reports errors.
import {
  type Candidate,
  type Completion,
  candidate,
  endOfWord,
  fieldDetail,
  ranked,
  type SampledField,
  valuesOf,
} from './candidates';
import { type Level, type Place, placeOf } from './mongoPlace';
import * as words from './mongoWords';

export type MongoText = 'filter' | 'projection' | 'sort' | 'update' | 'pipeline';

const operators = (names: readonly string[]): Candidate[] =>
  names.map((name) => {
    const { insert, cursor } = words.operatorText(name);
    return candidate('operator', name, '', insert, cursor);
  });

const OF = {
  filters: operators(words.FILTERS),
  updates: operators(words.UPDATES),
  modifiers: operators(words.MODIFIERS),
  projections: operators(words.PROJECTIONS),
  accumulators: operators(words.ACCUMULATORS),
  expressions: operators(words.EXPRESSIONS),
  stages: operators(words.STAGES).map((one): Candidate => ({ ...one, kind: 'stage' })),
};

/** Operators at the root of a filter; the others follow a field. */
const LOGIC = new Set([
  '$and',
  '$or',
  '$nor',
  '$expr',
  '$comment',
  '$alwaysTrue',
  '$alwaysFalse',
  '$jsonSchema',
]);
const ROOT_FILTERS = OF.filters.filter(({ label }) => LOGIC.has(label));
const FIELD_FILTERS = OF.filters.filter(({ label }) => !LOGIC.has(label) || label === '$comment');

const PLAIN = /^[A-Za-z_]\w*$/;
const dotted = (field: SampledField) => field.parts.join('.');

function fieldKeys(fields: readonly SampledField[], after: string): Candidate[] {
  return [...fields]
    .sort((a, b) => b.share - a.share)
    .map((field) => {
      const path = dotted(field);
      const insert = `${PLAIN.test(path) ? path : JSON.stringify(path)}: ${after}`;
      return candidate('field', path, fieldDetail(field), insert);
    });
}

function fieldValues(fields: readonly SampledField[]): Candidate[] {
  return [...fields]
    .sort((a, b) => b.share - a.share)
    .map((field) => candidate('field', `$${dotted(field)}`, fieldDetail(field)));
}

/** Returns the keys that are valid in the filter that starts at a level. */
function filterKeys(levels: readonly Level[], fields: readonly SampledField[]): Candidate[] {
  const keys = levels.map(({ key }) => key).filter((key) => key !== null);
  if (keys.includes('$expr')) return OF.expressions;
  if (keys.includes('$jsonSchema')) return [];
  const last = keys.at(-1);
  if (last === undefined || last === '$elemMatch' || LOGIC.has(last)) {
    const both = last === '$elemMatch' ? [...FIELD_FILTERS, ...ROOT_FILTERS] : ROOT_FILTERS;
    return [...fieldKeys(fields, ''), ...both];
  }
  return FIELD_FILTERS;
}

function updateKeys(levels: readonly Level[], fields: readonly SampledField[]): Candidate[] {
  const [, operator, ...deeper] = levels;
  if (operator === undefined) return OF.updates;
  if (deeper.length === 0) return fieldKeys(fields, '');
  if (operator.key === '$pull') return FIELD_FILTERS;
  return ['$push', '$addToSet'].includes(operator.key ?? '') ? OF.modifiers : [];
}

/** Stages whose keys are field names. */
const NAMES = new Set(['$project', '$sort', '$addFields', '$set']);

function stageKeys(levels: readonly Level[], fields: readonly SampledField[]): Candidate[] {
  const [, , stage, ...deeper] = levels;
  if (stage === undefined) return OF.stages;
  if (stage.key === '$match') return filterKeys(levels.slice(3), fields);
  if (deeper.length === 0 && NAMES.has(stage.key ?? '')) {
    return fieldKeys(fields, stage.key === '$sort' ? '1' : stage.key === '$project' ? '1' : '');
  }
  if (stage.key === '$facet' && levels.length > 3) return stageKeys(levels.slice(3), fields);
  const isAccumulated = stage.key === '$group' && deeper.length === 1 && deeper[0]?.key !== '_id';
  if (isAccumulated) return OF.accumulators;
  return deeper.length > 0 ? OF.expressions : [];
}

function keysAt(
  kind: MongoText,
  levels: readonly Level[],
  fields: readonly SampledField[],
): Candidate[] {
  switch (kind) {
    case 'filter':
      return filterKeys(levels, fields);
    case 'sort':
      return fieldKeys(fields, '1');
    case 'projection':
      return levels.length > 1 ? [...OF.projections, ...OF.expressions] : fieldKeys(fields, '1');
    case 'update':
      return levels[0]?.isArray === true ? stageKeys(levels, fields) : updateKeys(levels, fields);
    case 'pipeline':
      return stageKeys(levels, fields);
  }
}

/** Operators whose operands are values of the field. */
const COMPARING = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$not']);

/** Returns the field that the value is compared with; undefined: none known. */
function comparedField(
  kind: MongoText,
  { key, levels }: Place,
  fields: readonly SampledField[],
): SampledField | undefined {
  const all = [...levels.map((level) => level.key), key].filter((name) => name !== null);
  const begin = kind === 'pipeline' ? all.lastIndexOf('$match') + 1 : 0;
  if (kind !== 'filter' && begin === 0) return undefined;
  const keys = all.slice(begin);
  const isOther = (name: string) =>
    name.startsWith('$') &&
    !COMPARING.has(name) &&
    (name === '$expr' || name === '$jsonSchema' || !LOGIC.has(name));
  if (keys.some((name) => isOther(name) || name === '$comment')) return undefined;
  const path = keys.filter((name) => !name.startsWith('$')).join('.');
  return fields.find((field) => dotted(field) === path);
}

/** Returns the candidates at a position; null: none. */
export function completeMongo(
  kind: MongoText,
  text: string,
  at: number,
  fields: readonly SampledField[],
): Completion | null {
  const place = placeOf(text, at);
  if (place === null) return null;
  const { from, typed, levels } = place;
  const quote = place.isQuoted ? text.charAt(from - 1) : '';
  const to = endOfWord(text, at, typed, quote);
  if (place.is === 'value') {
    const isField = place.isQuoted && typed.startsWith('$') && !typed.startsWith('$$');
    // Expressions name a field in quotes, with a dollar sign.
    if (isField) return { from, to, candidates: ranked(fieldValues(fields), typed) };
    const values = valuesOf(comparedField(kind, place, fields), quote, text.slice(to));
    return values.length === 0 ? null : { from, to, candidates: ranked(values, typed) };
  }
  const candidates = ranked(keysAt(kind, levels, fields), typed);
  const hasColon = /^\s*:/.test(text.slice(to));
  if (!place.isQuoted && !hasColon) return { from, to, candidates };
  // Existing text is not duplicated: the quote, or the colon with its value.
  const bare = candidates.map((one) => {
    const { label } = one;
    const isName = place.isQuoted || PLAIN.test(label) || label.startsWith('$');
    const insert = isName ? label : JSON.stringify(label);
    return { ...one, insert, cursor: insert.length };
  });
  return { from, to, candidates: bare };
}
