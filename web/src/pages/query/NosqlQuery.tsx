// A query of the NoSQL door: one text.
import { useDraft } from '../../state/draft';
import type { Target } from '../../state/place';
import { CodeEditor } from '../../ui/CodeEditor';
import { startNosql } from './nosqlRun';
import { QUERY_BOUND } from './problem';
import { Workbench } from './Workbench';

const FIRST = 'SELECT * FROM c';

export function NosqlQuery({ target }: { target: Target }) {
  const [draft, setDraft] = useDraft(`query:nosql/${target.database}/${target.collection}`);
  const text = draft ?? FIRST;
  return (
    <Workbench
      target={target}
      start={() => startNosql(target, text)}
      texts={{ text }}
      onTake={(texts) => setDraft(texts.text ?? FIRST)}
      errorText={text}
    >
      {(execute, marks) => (
        <div className="query-editor">
          <CodeEditor
            label="Query"
            value={text}
            onChange={setDraft}
            language="sql"
            bound={QUERY_BOUND}
            onRun={execute}
            marks={marks}
            load={async () => (await import('./completion/editors')).sqlHelp(target)}
          />
        </div>
      )}
    </Workbench>
  );
}
