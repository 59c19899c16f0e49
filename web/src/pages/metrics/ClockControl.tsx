// The database clock: its state, and moves of a manual clock. The frame shows a banner for a clock
// step that awaits confirmation.
import { mayWrite, session } from '../../api/session';
import { utc } from '../../pure/time/utc';
import { server, useNow } from '../../state/server';
import { useStore } from '../../state/store';
import { type Figure, Figures } from '../../ui/Figures';
import { type ClockState, offsetWords } from './clock';
import { ManualClock } from './ManualClock';
import './metrics.css';

function figuresOf(clock: ClockState, now: number): Figure[] {
  const manual = clock.mode === 'manual';
  const held = clock.reap_until_ms;
  return [
    {
      name: 'Clock',
      value: manual ? 'manual' : 'system',
      hint: manual
        ? 'Manual: moves only when advanced.'
        : 'Follows the system clock and never goes back.',
    },
    {
      name: 'Database time',
      value: <time dateTime={new Date(now).toISOString()}>{utc(now)}</time>,
    },
    { name: 'Offset', value: offsetWords(clock.offset_ms) },
    {
      name: 'Clock in sync',
      value: clock.running && clock.keeps_pace ? 'yes' : 'no',
    },
    ...(held === null ? [] : [{ name: 'Removal of expired', value: `held back at ${utc(held)}` }]),
  ];
}

export function ClockControl() {
  const clock = useStore(server).status?.clock;
  const allowed = mayWrite(useStore(session));
  const now = useNow();
  if (clock === undefined || now === null)
    return <p className="hint">The clock has not been read yet.</p>;
  return (
    <div className="metrics-clock">
      <Figures figures={figuresOf(clock, now)} label="Clock" />
      {clock.mode === 'manual' && <ManualClock now={now} allowed={allowed} />}
    </div>
  );
}
