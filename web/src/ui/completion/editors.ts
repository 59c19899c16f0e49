// Editor extensions for queries and filters: completion and, for MongoDB, syntax errors. Loaded
// with the editor.
import { type Extension, Prec } from '@codemirror/state';
import type { Completion, SampledField } from '../../pure/completion/candidates';
import { completeMongo, type MongoText } from '../../pure/completion/mongo';
import { completeSql } from '../../pure/completion/sql';
import { parseShell } from '../../pure/shell';
import { isCall, parseCall } from '../../pure/shell/call';
import type { Target } from '../../state/place';
import { completing, type Offers } from '../editorCompletion';
import { recalling } from '../editorRecall';
import { editorRules } from '../editorRules';
import { allFieldsOf, fieldsOf } from './fields';

/** Longer texts are neither completed nor checked while typing. */
const MOST_CHARACTERS = 100_000;

function checkShell(text: string): { message: string; at: number } | null {
  if (text.trim() === '') return null;
  const parsed = isCall(text) ? parseCall(text) : parseShell(text);
  return 'error' in parsed ? { message: parsed.error, at: parsed.at } : null;
}

type Complete = (text: string, at: number, fields: readonly SampledField[]) => Completion | null;

/** Does not wait for fields that are slow to load, unless there are no keywords to offer. */
function offersOf(target: Target, complete: Complete): Offers {
  return async (text, at) => {
    if (text.length > MOST_CHARACTERS) return null;
    const found = complete(text, at, await fieldsOf(target));
    if (found !== null && found.candidates.length > 0) return found;
    return complete(text, at, await allFieldsOf(target));
  };
}

export function sqlHelp(target: Target): Extension {
  return completing(offersOf(target, completeSql));
}

/** The text in front of the filter in the list's query. */
const BEFORE = 'SELECT * FROM c ';

/** Completion of a list's filter, where Enter applies it; `past`: filters applied before. */
export function filterHelp(target: Target, past: () => readonly string[]): Extension {
  const complete: Complete = (text, at, fields) => {
    if (target.door === 'mongo') return completeMongo('filter', text, at, fields);
    const found = completeSql(BEFORE + text, BEFORE.length + at, fields);
    if (found === null) return null;
    return { ...found, from: found.from - BEFORE.length, to: found.to - BEFORE.length };
  };
  // An open completion list has precedence for the arrow keys.
  return [completing(offersOf(target, complete), { isCalm: true }), Prec.high(recalling(past))];
}

export function shellHelp(target: Target, kind: MongoText): Extension {
  const rules = { current: { check: checkShell, checked: MOST_CHARACTERS } };
  return [
    completing(offersOf(target, (...place) => completeMongo(kind, ...place))),
    editorRules(rules),
  ];
}
