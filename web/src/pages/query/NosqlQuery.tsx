// The form of a NoSQL API query: one text.
import { useDraft } from '../../state/draft';
import type { Target } from '../../state/place';
import { CodeEditor } from '../../ui/CodeEditor';
import { startNosql } from './nosqlRun';
import { QUERY_BOUND } from './problem';
import { FIRST, type Texts } from './tabs/address';
import { draftName } from './tabs/drafts';
import { type Bench, Workbench } from './Workbench';

const textOf = (texts: Texts) => texts.text ?? FIRST.nosql.text ?? '';

/** Returns the initial cursor position: at the end, or within empty braces. */
export function startIn(text: string) {
  const at = text === '{}' ? 1 : text.length;
  return { from: at, to: at };
}

export interface QueryFormProps {
  target: Target;
  id: string;
  bench: Bench;
}

export function NosqlQuery({ target, id, bench }: QueryFormProps) {
  const [draft, setDraft] = useDraft(draftName(target, id, 'text'));
  const text = textOf(draft === null ? {} : { text: draft });
  return (
    <Workbench
      target={target}
      bench={bench}
      texts={{ text }}
      partial={(part) => ({ text: part.text })}
      start={(texts) => startNosql(target, textOf(texts))}
      onTake={(texts) => setDraft(textOf(texts))}
      errorText={textOf}
    >
      {({ execute, executePart, onSelect, marks }) => (
        <div className="query-editor">
          <CodeEditor
            label="Query"
            value={text}
            onChange={setDraft}
            start={bench.isNew ? startIn(text) : null}
            language="sql"
            bound={QUERY_BOUND}
            onRun={execute}
            onRunPart={executePart}
            onSelect={onSelect}
            marks={marks}
            load={async () => (await import('../../ui/completion/editors')).sqlHelp(target)}
          />
        </div>
      )}
    </Workbench>
  );
}
