// Shown instead of the editor for very large items: the start of the text, and actions.
import { bytes } from '../../pure/figures/amount';
import { Button } from '../../ui/Button';
import type { Source } from './source';
import { download } from './transfer/sink';

/** Length above which the editor is opened only on request. */
export const LARGE_TEXT = 2_000_000;
const BEGINNING = 20_000;

interface LargeTextProps {
  source: Source;
  name: string;
  text: string;
  onEdit: () => void;
}

export function LargeText({ source, name, text, onEdit }: LargeTextProps) {
  const extension = source.language === 'json' ? 'json' : 'js';
  const file = `${name.replace(/[^\w-]+/g, '_').slice(0, 60)}.${extension}`;
  return (
    <div className="items-large">
      <p className="hint">
        This {source.noun} has {bytes(text.length)} of text. The first {bytes(BEGINNING)} are shown.
      </p>
      <div className="row">
        <Button onClick={() => download([text], file, 'application/octet-stream')}>Download</Button>
        <Button onClick={onEdit} title="The editor is slow with text of this size">
          Edit anyway
        </Button>
      </div>
      <pre className="mono items-large-text">{text.slice(0, BEGINNING)}</pre>
    </div>
  );
}
