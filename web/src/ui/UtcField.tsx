// An input for an instant in UTC: typed, or the day chosen from a calendar, which keeps the time of
// day.
import { CalendarDays } from 'lucide-react';
import { type KeyboardEvent, Suspense, useEffect, useRef, useState } from 'react';
import { dayOf } from '../pure/time/calendar';
import { fromInput, toInput } from '../pure/time/utc';
import { Button } from './Button';
import { part } from './part';
import './calendar.css';

const Calendar = part(() => import('./Calendar'));

export interface UtcFieldProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
  text: string;
  /** Default instant while the input is empty; earlier days are disabled. */
  now: number;
  disabled: boolean;
  onFocus: () => void;
  onChange: (text: string) => void;
}

export function UtcField({ text, now, disabled, onChange, ...rest }: UtcFieldProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLSpanElement>(null);
  const at = fromInput(text) ?? now;
  const close = () => {
    setOpen(false);
    button.current?.querySelector('button')?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    const outside = (event: PointerEvent) => {
      if (!(event.target instanceof Node) || box.current?.contains(event.target) !== true)
        setOpen(false);
    };
    window.addEventListener('pointerdown', outside);
    return () => window.removeEventListener('pointerdown', outside);
  }, [isOpen]);
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles Escape bubbling from children.
    <div className="utc-field" ref={box} onKeyDown={press}>
      <input
        {...rest}
        className="metrics-instant"
        autoComplete="off"
        spellCheck={false}
        size={20}
        placeholder={toInput(now)}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
      <span ref={button}>
        <Button
          look="quiet"
          aria-label="Choose a day"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          disabled={disabled}
          onClick={() => (isOpen ? close() : setOpen(true))}
        >
          <CalendarDays className="icon" />
        </Button>
      </span>
      {isOpen && (
        <div className="utc-pop" role="dialog" aria-label="Choose a day (UTC)">
          <Suspense fallback={null}>
            <Calendar
              chosen={at}
              from={now}
              onChoose={(day) => {
                onChange(toInput(Math.max(now, day + (at - dayOf(at)))));
                close();
              }}
            />
          </Suspense>
        </div>
      )}
    </div>
  );
}
