// A row of the collection list.
import { Ellipsis } from 'lucide-react';
import type { ReactNode } from 'react';
import type { DefaultTtl } from '../../api/admin';
import { bytes, count } from '../../pure/figures/amount';
import { inWords } from '../../pure/time/duration';
import type { Target } from '../../state/place';
import { Button } from '../../ui/Button';
import { PlaceLink } from '../../ui/PlaceLink';
import type { Known } from './useForecasts';

/** "Off", "On (no default)", "90 days", "Off, by date". */
export function ttlWords(value: DefaultTtl, dateIndexes = 0): string {
  const dates = dateIndexes > 0 ? ', by date' : '';
  if (value === null) return `Off${dates}`;
  return (value === -1 ? 'On (no default)' : inWords(value)) + dates;
}

export interface LineProps {
  target: Target;
  known: Known | undefined;
  index: number;
  check: ReactNode;
  /** Opens the menu of actions on the whole collection. */
  onMenu: (target: Target, at: { x: number; y: number }) => void;
}

function cells(known: Known | undefined): string[] {
  if (known === undefined) return ['…', '…', '…', '…', '…'];
  if ('failure' in known) return ['—', '—', '—', '—', '—'];
  const { default: value, live, dies_within: dies, exact, date_indexes } = known.forecast;
  const about = (text: string) => (exact ? text : `about ${text}`);
  return [
    ttlWords(value, date_indexes),
    about(count(live.documents)),
    about(bytes(live.bytes)),
    about(count(dies.hour.documents)),
    about(count(dies.day.documents)),
  ];
}

export function Line({ target, known, index, check, onMenu }: LineProps) {
  const failure = known !== undefined && 'failure' in known ? known.failure : undefined;
  return (
    <div
      role="row"
      aria-rowindex={index}
      className="database-row"
      title={failure}
      onContextMenu={(event) => {
        event.preventDefault();
        onMenu(target, { x: event.clientX, y: event.clientY });
      }}
    >
      <span role="cell" className="database-name">
        {check}
        <PlaceLink to={{ page: 'collection', view: 'items', ...target }} title={target.collection}>
          {target.collection}
        </PlaceLink>
      </span>
      {cells(known).map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed.
        <span key={at} role="cell" title={text}>
          {text}
        </span>
      ))}
      <span role="cell" className="database-actions">
        <Button
          look="quiet"
          aria-label={`Actions for ${target.collection}`}
          aria-haspopup="menu"
          title="Actions"
          onClick={(event) => {
            const { left, bottom } = event.currentTarget.getBoundingClientRect();
            onMenu(target, { x: left, y: bottom });
          }}
        >
          <Ellipsis className="icon" />
        </Button>
      </span>
    </div>
  );
}
