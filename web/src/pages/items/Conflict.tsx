// Someone else has changed the item meanwhile: theirs beside mine, and three ways on.
import { Button } from '../../ui/Button';
import { CodeEditor } from '../../ui/CodeEditor';
import type { Opened, Source } from './source';
import type { Item } from './useItem';

export function Conflict({ source, theirs, item }: { source: Source; theirs: Opened; item: Item }) {
  return (
    <section className="items-conflict" aria-label="Conflict">
      <p role="alert">
        This {source.noun} was changed by someone else after you opened it. Nothing was saved. Yours
        is in the editor, theirs is here:
      </p>
      <div className="items-theirs">
        <CodeEditor
          key={theirs.text}
          label="Theirs"
          value={theirs.text}
          language={source.language}
          readOnly
        />
      </div>
      <div className="row">
        <Button look="danger" busy={item.busy} onClick={item.overwrite}>
          Overwrite with mine
        </Button>
        <Button onClick={item.takeTheirs}>Take theirs</Button>
        <Button onClick={item.goOn}>Go on editing</Button>
      </div>
    </section>
  );
}
