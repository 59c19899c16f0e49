// A three-way comparison of conflicting edits, field by field: base, theirs and mine, optionally
// with a choice for each field that both changed. Saves nothing itself.
import { type ReactNode, useId } from 'react';
import { excerpts, type Side } from '../pure/merging/merge';
import './threeWay.css';

export interface ThreeWayRow {
  name: string;
  /** null: the field is absent. */
  before: string | null;
  theirs: string | null;
  mine: string | null;
  /** The chosen side; null: not chosen yet. */
  taken?: Side | null;
  /** Called with the chosen side; if set, both are offered. */
  onChoose?: (side: Side) => void;
}

export interface ThreeWayProps {
  caption: string;
  /** Name of a row: "Field". */
  noun: string;
  rows: readonly ThreeWayRow[];
}

const HEADS = { before: 'Original', theirs: 'Theirs', mine: 'Mine' } as const;

function Text({ text }: { text: string | null }) {
  if (text === null) return <span className="hint">missing</span>;
  return <span className="mono three-text">{text}</span>;
}

function Offer({
  row,
  side,
  group,
  children,
}: {
  row: ThreeWayRow;
  side: Side;
  group: string;
  children: ReactNode;
}) {
  return (
    <label className="three-offer">
      <input
        type="radio"
        name={group}
        checked={row.taken === side}
        onChange={() => row.onChoose?.(side)}
      />
      <span>
        <span className="visually-hidden">
          {HEADS[side]}, {row.name}:{' '}
        </span>
        {children}
      </span>
    </label>
  );
}

function Row({ row }: { row: ThreeWayRow }) {
  const group = useId();
  const [before, theirs, mine] = excerpts([row.before, row.theirs, row.mine]);
  const texts = { theirs: theirs ?? null, mine: mine ?? null };
  return (
    <tr className={row.onChoose !== undefined && row.taken === null ? 'three-open' : undefined}>
      <th scope="row" className="mono">
        {row.name}
      </th>
      <td data-label={HEADS.before}>
        <Text text={before ?? null} />
      </td>
      {(['theirs', 'mine'] as const).map((side) => (
        <td
          key={side}
          data-label={HEADS[side]}
          className={row.taken === side ? 'three-taken' : undefined}
        >
          {row.onChoose === undefined ? (
            <>
              <Text text={texts[side]} />
              {row.taken === side && <span className="visually-hidden"> will be kept</span>}
            </>
          ) : (
            <Offer row={row} side={side} group={group}>
              <Text text={texts[side]} />
            </Offer>
          )}
        </td>
      ))}
    </tr>
  );
}

export function ThreeWay({ caption, noun, rows }: ThreeWayProps) {
  return (
    <div className="three" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{noun}</th>
            {Object.values(HEADS).map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.name} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
