// Phones: a menu that replaces parts of the bar above the grid, and the column list that it opens.
import { useId, useRef, useState } from 'react';
import type { MenuItem } from '../../ui/Menu';
import { MenuButton } from '../../ui/MenuButton';
import { ColumnList } from './grid/Chooser';
import type { ItemsBarProps } from './ItemsBar';
import { allItems } from './many/AllMenu';
import { READ_ONLY } from './source';
import { transfer } from './transfer/request';
import { MOST } from './useRows';

export function ItemsMore(props: ItemsBarProps) {
  const { columns, rows, matching, loaded, many, writable, quick } = props;
  const [choosing, setChoosing] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  const items: MenuItem[] = [];
  if (loaded.filtered && loaded.ready && loaded.open && matching.ask !== null)
    items.push({ label: 'Count matching', onChoose: matching.ask });
  if (rows.cursor !== null && rows.rows.length < MOST && !rows.loadingAll)
    items.push({ label: 'Load all', onChoose: rows.loadAll });
  items.push(
    { label: `Columns (${columns.drawn.length})…`, onChoose: () => setChoosing(true) },
    {
      label: 'Import…',
      reason: writable ? null : READ_ONLY,
      onChoose: () => transfer.set({ kind: 'import', file: null }),
    },
    { label: 'Export…', onChoose: () => transfer.set({ kind: 'export', rows: null }) },
    ...allItems({ many, writable, isNarrowed: quick !== 'all' }),
  );
  return (
    <div className="items-chooser" ref={frame}>
      <MenuButton label="More" items={items}>
        More
      </MenuButton>
      {choosing && (
        <ColumnList
          columns={columns}
          id={id}
          onClose={(byKey) => {
            setChoosing(false);
            if (byKey) frame.current?.querySelector('button')?.focus();
          }}
        />
      )}
    </div>
  );
}
