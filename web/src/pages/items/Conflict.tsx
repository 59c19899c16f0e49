// Shown when a save conflicts with a concurrent change: a three-way comparison by field, and the
// ways to resolve it.
import { useEffect, useMemo, useState } from 'react';
import { counted } from '../../pure/figures/amount';
import { lineOf } from '../../pure/json/tree';
import { mergeTexts } from '../../pure/merging/dialects';
import type { Choices, Difference, Side } from '../../pure/merging/merge';
import { Button } from '../../ui/Button';
import { ThreeWay, type ThreeWayRow } from '../../ui/ThreeWay';
import type { Opened, Source } from './source';
import { CHECKED_CHARACTERS } from './textSize';
import type { Item } from './useItem';

const MOST = 200;
const STILL_MS = 500;

interface Merging {
  /** The merged text to save; null: the typed text is invalid. */
  text: string | null;
  why: string | null;
  differences: readonly Difference[];
  both: readonly string[];
  /** Number of conflicts without a choice. */
  open: number;
  /** Whether it belongs to the current text of the editor. */
  isCurrent: boolean;
}

/** Returns a text debounced; without delay if it is short. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  const isLong = text.length > CHECKED_CHARACTERS;
  useEffect(() => {
    const timer = setTimeout(() => settle(text), isLong ? STILL_MS : 0);
    return () => clearTimeout(timer);
  }, [text, isLong]);
  return settled;
}

function useMerging(source: Source, item: Item, theirs: Opened, choices: Choices): Merging {
  const mine = useSettled(item.text);
  const before = item.opened?.text ?? '{}';
  const merging = useMemo(() => {
    const found = mergeTexts(source.language, [before, theirs.text, mine], choices);
    if ('error' in found) {
      const why = `Your text cannot be merged: line ${lineOf(mine, found.at)}: ${found.error}`;
      return { text: null, why, differences: [], both: [], open: 0 };
    }
    const { differences } = found;
    const both = differences
      .filter(({ changedBy }) => changedBy === 'both')
      .map(({ path }) => path);
    const open = both.filter((path) => !choices.has(path)).length;
    return { text: found.text, why: null, differences, both, open };
  }, [source, before, theirs, mine, choices]);
  return { ...merging, isCurrent: mine === item.text };
}

function rowsOf(
  differences: readonly Difference[],
  choices: Choices,
  choose: (paths: readonly string[], side: Side) => void,
): ThreeWayRow[] {
  const isAsked = ({ changedBy }: Difference) => changedBy === 'both';
  const sorted = [...differences.filter(isAsked), ...differences.filter((one) => !isAsked(one))];
  return sorted.slice(0, MOST).map((one) => {
    const { path: name, before, theirs, mine, changedBy } = one;
    const row = { name, before, theirs, mine };
    if (changedBy === 'both')
      return {
        ...row,
        taken: choices.get(name) ?? null,
        onChoose: (side) => choose([name], side),
      };
    return { ...row, taken: changedBy === 'alike' ? 'mine' : changedBy };
  });
}

function said({ differences, both, open }: Merging): string {
  if (differences.length === 0) return 'All fields are the same; only their order may differ.';
  if (both.length === 0) return 'No conflicts: all changes can be merged.';
  const fields = counted(both.length, 'field');
  return `${fields} changed on both sides: ${open === 0 ? 'all resolved' : `${open} to resolve`}. Other changes are merged automatically.`;
}

export function Conflict({ source, theirs, item }: { source: Source; theirs: Opened; item: Item }) {
  const [choices, setChoices] = useState<Choices>(new Map());
  const merging = useMerging(source, item, theirs, choices);
  const { text, why, differences, both, open } = merging;
  const choose = (paths: readonly string[], side: Side) =>
    setChoices(new Map([...choices, ...paths.map((path) => [path, side] as const)]));
  const rows = rowsOf(differences, choices, choose);
  const isReady = text !== null && open === 0 && merging.isCurrent;
  return (
    <section className="items-conflict" aria-label="Conflict">
      <p role="alert">
        This {source.noun} was changed by someone else after you opened it. Nothing was saved; your
        text is still in the editor.
      </p>
      {why !== null && <p className="error">{why}</p>}
      {rows.length > 0 && <ThreeWay caption="Differences" noun="Field" rows={rows} />}
      {differences.length > rows.length && (
        <p className="hint">{counted(differences.length - rows.length, 'more field')} differ.</p>
      )}
      {why === null && (
        <p className="hint" role="status">
          {said(merging)}
        </p>
      )}
      {both.length > 1 && (
        <div className="row">
          <Button onClick={() => choose(both, 'theirs')}>Use theirs for all</Button>
          <Button onClick={() => choose(both, 'mine')}>Use mine for all</Button>
        </div>
      )}
      <div className="row">
        <Button
          look="primary"
          busy={item.busy}
          disabled={!isReady}
          title={open > 0 ? 'Resolve each conflicting field first' : undefined}
          onClick={() => text !== null && item.saveMerged(text)}
        >
          Save merged
        </Button>
        <Button look="danger" busy={item.busy} onClick={item.overwrite}>
          Overwrite with mine
        </Button>
        <Button onClick={item.takeTheirs}>Use theirs</Button>
        <Button onClick={item.goOn}>Keep editing</Button>
      </div>
    </section>
  );
}
