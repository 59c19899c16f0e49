// Actions on the selected rows.
import { counted } from '../../../pure/figures/amount';
import { Button } from '../../../ui/Button';
import type { MenuItem } from '../../../ui/Menu';
import { MenuButton } from '../../../ui/MenuButton';
import { READ_ONLY, type Row, type Source } from '../source';
import { exportRows } from '../transfer/request';
import { usePhone } from '../usePhone';
import type { ManyActions } from './useMany';

export interface SelectionBarProps {
  source: Source;
  rows: readonly Row[];
  writable: boolean;
  many: ManyActions;
  onClear: () => void;
}

export function SelectionBar({ source, rows, writable, many, onClear }: SelectionBarProps) {
  // Phones show the first action, and a menu of the others.
  const isPhone = usePhone();
  const reason = writable ? null : READ_ONLY;
  const acts: MenuItem[] = [
    { label: 'Restart countdown…', reason, onChoose: () => many.ask('touch', rows) },
    { label: 'Set ttl…', reason, onChoose: () => many.ask('ttl', rows) },
    { label: 'Change a field…', reason, onChoose: () => many.ask('field', rows) },
    { label: 'Export…', onChoose: () => exportRows(rows) },
  ];
  const clear: MenuItem = { label: 'Clear selection', onChoose: onClear };
  return (
    <div className="items-selection" role="toolbar" aria-label="Selection">
      <strong>{counted(rows.length, source.noun)} selected</strong>
      <Button
        look="danger"
        disabled={!writable}
        title={reason ?? undefined}
        onClick={() => many.ask('delete', rows)}
      >
        Delete…
      </Button>
      {isPhone ? (
        <MenuButton label="Selected rows" items={[...acts, clear]}>
          More
        </MenuButton>
      ) : (
        <>
          {acts.map((act) => (
            <Button
              key={act.label}
              disabled={act.reason != null}
              title={act.reason ?? undefined}
              onClick={act.onChoose}
            >
              {act.label}
            </Button>
          ))}
          <Button look="quiet" onClick={onClear}>
            {clear.label}
          </Button>
        </>
      )}
    </div>
  );
}
