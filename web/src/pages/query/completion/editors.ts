// What the editors of the query page have beside their language: completion, and for MongoDB's texts
// marks where they cannot be read. Loaded with the editor.
import type { Extension } from '@codemirror/state';
import { completeMongo, type MongoText } from '../../../pure/completion/mongo';
import { completeSql } from '../../../pure/completion/sql';
import { parseShell } from '../../../pure/shell';
import { isCall, parseCall } from '../../../pure/shell/call';
import type { Target } from '../../../state/place';
import { completing } from '../../../ui/editorCompletion';
import { editorRules } from '../../../ui/editorRules';
import { fieldsOf } from './fields';

/** Longer texts are neither completed nor checked while somebody types. */
const MOST_CHARACTERS = 100_000;

function checkShell(text: string): { message: string; at: number } | null {
  if (text.trim() === '') return null;
  const parsed = isCall(text) ? parseCall(text) : parseShell(text);
  return 'error' in parsed ? { message: parsed.error, at: parsed.at } : null;
}

export function sqlHelp(target: Target): Extension {
  return completing(async (text, at) =>
    text.length > MOST_CHARACTERS ? null : completeSql(text, at, await fieldsOf(target)),
  );
}

export function shellHelp(target: Target, kind: MongoText): Extension {
  const rules = { current: { check: checkShell, checked: MOST_CHARACTERS } };
  return [
    completing(async (text, at) =>
      text.length > MOST_CHARACTERS ? null : completeMongo(kind, text, at, await fieldsOf(target)),
    ),
    editorRules(rules),
  ];
}
