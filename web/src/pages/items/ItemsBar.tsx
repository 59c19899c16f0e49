// The bar above the grid: actions on the list, and the number of rows.
import type { ReactNode } from 'react';
import { count } from '../../pure/figures/amount';
import { Button } from '../../ui/Button';
import { Chooser } from './grid/Chooser';
import type { Columns } from './grid/useColumns';
import { ItemsMore } from './ItemsMore';
import { boundWords, type Loaded, loadedWords } from './loaded';
import { AllMenu } from './many/AllMenu';
import type { ManyActions } from './many/useMany';
import { QUICK, type Quick } from './quick';
import { READ_ONLY } from './source';
import type { Matching } from './useMatching';
import { usePhone } from './usePhone';
import { MOST, type Rows } from './useRows';

export interface ItemsBarProps {
  writable: boolean;
  rows: Rows;
  loaded: Loaded;
  matching: Matching;
  quick: Quick;
  /** Number of rows after the quick filter. */
  visible: number;
  transfer: ReactNode;
  onNew: () => void;
  onRefresh: () => void;
  onQuick: (quick: Quick) => void;
  columns: Columns;
  many: ManyActions;
  /** Deleted documents that can be restored. */
  bin: ReactNode;
}

export function ItemsBar(props: ItemsBarProps) {
  const { writable, rows, loaded, matching, quick, visible, transfer, onNew, onRefresh, onQuick } =
    props;
  const bound = boundWords(loaded, MOST);
  const isPhone = usePhone();
  return (
    <div className="items-bar">
      <Button
        look="primary"
        disabled={!writable}
        title={writable ? undefined : READ_ONLY}
        onClick={onNew}
      >
        New {loaded.noun}
      </Button>
      <Button onClick={onRefresh} busy={rows.loading && !rows.ready}>
        Refresh
      </Button>
      {isPhone && <ItemsMore {...props} />}
      {transfer}
      <label className="items-quick" title="Filters the loaded rows">
        Show{' '}
        <select
          value={quick}
          onChange={(event) =>
            onQuick(QUICK.find(([key]) => key === event.target.value)?.[0] ?? 'all')
          }
        >
          {QUICK.map(([key, label]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {!isPhone && <Chooser columns={props.columns} />}
      {!isPhone && <AllMenu many={props.many} writable={writable} isNarrowed={quick !== 'all'} />}
      <span className="items-counts">
        {quick !== 'all' && <span className="hint">{count(visible)} shown</span>}
        <span className="items-count">
          {/* Phones have space for only one of them. */}
          {(!isPhone || quick === 'all') && loadedWords(loaded)}
          {rows.loading && ' · loading…'}
        </span>
        {!isPhone && loaded.filtered && loaded.ready && loaded.open && matching.ask !== null && (
          <Button onClick={matching.ask} busy={matching.busy}>
            Count
          </Button>
        )}
        {rows.cursor !== null && rows.rows.length < MOST && (!isPhone || rows.loadingAll) && (
          <Button
            onClick={rows.loadingAll ? rows.stop : rows.loadAll}
            busy={rows.loading && !rows.loadingAll}
          >
            {rows.loadingAll ? 'Stop' : 'Load all'}
          </Button>
        )}
        {props.bin}
        {bound !== null && <span className="hint">{bound}</span>}
      </span>
    </div>
  );
}
