// A calendar for choosing a day in UTC. One day has the focus; arrows, Home, End and the page keys
// move it.
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { dayByKey, dayOf, monthsLater, weeksOf } from '../pure/time/calendar';
import { Button } from './Button';
import './calendar.css';

const words = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const MONTH = words({ month: 'long', year: 'numeric' });
const LONG = words({ weekday: 'long' });
const WEEKDAY = words({ weekday: 'short' });

/** Not the browsers' format: they disagree on the comma. */
const inFull = (day: number) =>
  `${LONG.format(day)} ${new Date(day).getUTCDate()} ${MONTH.format(day)}`;

export interface CalendarProps {
  /** The selected instant. */
  chosen: number;
  /** Days before this instant are disabled. */
  from: number;
  /** Receives the first instant of the day. */
  onChoose: (day: number) => void;
}

export default function Calendar({ chosen, from, onChoose }: CalendarProps) {
  const [active, setActive] = useState(dayOf(Math.max(chosen, from)));
  const [isMoved, setMoved] = useState(true);
  const grid = useRef<HTMLTableElement>(null);
  useEffect(() => {
    if (isMoved) grid.current?.querySelector<HTMLElement>(`[data-day="${active}"]`)?.focus();
  }, [active, isMoved]);
  const first = dayOf(from);
  const month = new Date(active).getUTCMonth();
  const weeks = weeksOf(active);
  const turn = (months: number) => {
    setMoved(false);
    setActive(dayOf(monthsLater(active, months)));
  };
  const press = (event: KeyboardEvent) => {
    const to = dayByKey(active, event.key, event.shiftKey);
    if (to === null) return;
    event.preventDefault();
    setMoved(true);
    setActive(dayOf(to));
  };
  return (
    <div className="calendar">
      <div className="calendar-head">
        <Button look="quiet" aria-label="Previous month" onClick={() => turn(-1)}>
          <ChevronLeft className="icon" />
        </Button>
        <strong aria-live="polite">{MONTH.format(active)}</strong>
        <Button look="quiet" aria-label="Next month" onClick={() => turn(1)}>
          <ChevronRight className="icon" />
        </Button>
      </div>
      <table ref={grid} aria-label={MONTH.format(active)} onKeyDown={press}>
        <thead>
          <tr>
            {(weeks[0] ?? []).map((day) => (
              <th key={day} scope="col">
                {WEEKDAY.format(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day}>
                  <button
                    type="button"
                    data-day={day}
                    className="calendar-day"
                    data-other={new Date(day).getUTCMonth() !== month || undefined}
                    tabIndex={day === active ? 0 : -1}
                    aria-label={inFull(day)}
                    aria-current={day === dayOf(chosen) ? 'date' : undefined}
                    aria-disabled={day < first}
                    onClick={() => day >= first && onChoose(day)}
                  >
                    {new Date(day).getUTCDate()}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
