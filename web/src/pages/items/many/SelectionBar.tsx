// What can be done with the rows that are selected.
import { counted } from '../../../pure/figures/amount';
import { Button } from '../../../ui/Button';
import { READ_ONLY, type Row, type Source } from '../source';
import { exportRows } from '../transfer/request';
import type { ManyActions } from './useMany';

export interface SelectionBarProps {
  source: Source;
  rows: readonly Row[];
  writable: boolean;
  many: ManyActions;
  onClear: () => void;
}

export function SelectionBar({ source, rows, writable, many, onClear }: SelectionBarProps) {
  const why = writable ? undefined : READ_ONLY;
  const off = { disabled: !writable, title: why };
  return (
    <div className="items-selection" role="toolbar" aria-label="Selection">
      <strong>{counted(rows.length, source.noun)} selected</strong>
      <Button look="danger" {...off} onClick={() => many.ask('delete', rows)}>
        Delete…
      </Button>
      <Button {...off} onClick={() => many.ask('touch', rows)}>
        Restart countdown…
      </Button>
      <Button {...off} onClick={() => many.ask('ttl', rows)}>
        Set ttl…
      </Button>
      <Button {...off} onClick={() => many.ask('field', rows)}>
        Change a field…
      </Button>
      <Button onClick={() => exportRows(rows)}>Export…</Button>
      <Button look="quiet" onClick={onClear}>
        Clear selection
      </Button>
    </div>
  );
}
