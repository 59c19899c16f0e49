// A line chart with a cursor that all charts of a page share: moved by the pointer and by arrow
// keys. Dragging selects a time range. A table below has the same numbers. Loads nothing itself.
import { type KeyboardEvent, type PointerEvent, useId, useRef, useState } from 'react';
import { bytes, count } from '../../../pure/figures/amount';
import { scale, short } from '../../../pure/figures/axis';
import { latency } from '../../../pure/figures/latency';
import { utc } from '../../../pure/time/utc';
import { useWidth } from '../useWidth';
import { type ChartOf, instants, nearest, path, type Range } from './lines';
import './history.css';

const HEIGHT = 130;
const EDGE = { top: 8, right: 12, bottom: 22, left: 52 };
/** A shorter drag, in pixels, is a click. */
const LEAST_DRAG = 8;

export interface LineChartProps {
  chart: ChartOf;
  /** The time range of the x axis. */
  range: Range;
  /** Instant of the cursor; null: none. */
  cursor: number | null;
  onCursor: (at: number | null) => void;
  onChoose: (range: Range) => void;
}

/** Formats a value of a chart. */
function written(unit: ChartOf['unit'], value: number): string {
  switch (unit) {
    case 'bytes':
      return bytes(value);
    case 'time':
      return latency(value);
    case 'count':
      return count(value);
    case 'rate':
      return value >= 100 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
  }
}

/** Formats a value for the axis, with fewer digits. */
function marked(unit: ChartOf['unit'], value: number): string {
  if (value === 0) return '0';
  if (unit === 'rate' && value < 10) return written(unit, value);
  return unit === 'rate' || unit === 'count' ? short(value) : written(unit, value);
}

/** Returns the factor that converts a unit so that grid lines fall on integers. */
function parts(unit: ChartOf['unit'], most: number): number {
  if (unit === 'bytes') return 1024 ** -Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024));
  return { time: 1e6, rate: 100, count: 1 }[unit];
}

/** Returns round grid values up to the maximum. */
function marks(unit: ChartOf['unit'], most: number): number[] {
  const factor = parts(unit, most);
  const { top, step } = scale(most * factor, 3);
  return Array.from({ length: Math.round(top / step) + 1 }, (_, at) => (at * step) / factor);
}

const clockTime = (at: number) => utc(at).slice(11, 16);

export function LineChart({ chart, range, cursor, onCursor, onChoose }: LineChartProps) {
  const id = useId();
  const { element, width } = useWidth();
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const focused = useRef(false);
  const all = chart.lines.flatMap(({ points }) => points.map(({ value }) => value ?? 0));
  const lines = marks(chart.unit, Math.max(0, ...all));
  const top = lines.at(-1) ?? 1;
  const inner = width - EDGE.left - EDGE.right;
  const span = Math.max(1, range.to - range.from);
  const x = (at: number) => EDGE.left + (inner * (at - range.from)) / span;
  const y = (value: number) =>
    EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - value / Math.max(top, Number.MIN_VALUE));
  const known = instants(chart);
  const place = cursor === null ? -1 : nearest(known, cursor);
  const at = known[place];
  const instantAt = (event: PointerEvent) => {
    const left = event.clientX - (element.current?.getBoundingClientRect().left ?? 0);
    return range.from + (span * (left - EDGE.left)) / Math.max(1, inner);
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return onCursor(null);
    const ends: Record<string, number> = { Home: 0, End: known.length - 1 };
    const by: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const start = place < 0 ? known.length - 1 : place;
    const to = known[ends[event.key] ?? start + (by[event.key] ?? Number.NaN)];
    if (to === undefined) return;
    event.preventDefault();
    onCursor(to);
  };
  const release = () => {
    if (drag !== null && Math.abs(x(drag.to) - x(drag.from)) >= LEAST_DRAG) {
      onChoose({ from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) });
    }
    setDrag(null);
  };
  const told = (when: number | undefined) =>
    chart.lines
      .map(({ name, points }) => {
        const value = points.find((point) => point.at === when)?.value;
        return `${name} ${value == null ? '–' : written(chart.unit, value)}`;
      })
      .join(', ');
  return (
    <figure className="history-chart" aria-labelledby={id}>
      <figcaption>
        <span id={id} className="chart-title">
          {chart.title}
        </span>
        <Legend chart={chart} at={at ?? known.at(-1)} />
      </figcaption>
      <div
        className="chart-box"
        ref={element}
        role="slider"
        tabIndex={0}
        aria-label={chart.title}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, known.length - 1)}
        aria-valuenow={place < 0 ? Math.max(0, known.length - 1) : place}
        aria-valuetext={
          known.length === 0
            ? 'no data yet'
            : `${utc(at ?? known.at(-1) ?? 0)}: ${told(at ?? known.at(-1))}`
        }
        onKeyDown={move}
        onFocus={() => {
          focused.current = true;
        }}
        onBlur={() => {
          focused.current = false;
          onCursor(null);
        }}
      >
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the surrounding element has the title. */}
        <svg
          width={width}
          height={HEIGHT}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag({ from: instantAt(event), to: instantAt(event) });
          }}
          onPointerMove={(event) => {
            const to = instantAt(event);
            onCursor(to);
            setDrag((held) => (held === null ? null : { ...held, to }));
          }}
          onPointerUp={release}
          onPointerCancel={() => setDrag(null)}
          onPointerLeave={() => {
            if (!focused.current) onCursor(null);
          }}
        >
          {lines.map((value) => (
            <g key={value}>
              <line
                className="chart-line"
                x1={EDGE.left}
                x2={width - EDGE.right}
                y1={y(value)}
                y2={y(value)}
              />
              <text className="chart-label" x={EDGE.left - 6} y={y(value) + 4} textAnchor="end">
                {marked(chart.unit, value)}
              </text>
            </g>
          ))}
          <text className="chart-label" x={EDGE.left} y={HEIGHT - 6}>
            {clockTime(range.from)}
          </text>
          <text className="chart-label" x={width - EDGE.right} y={HEIGHT - 6} textAnchor="end">
            {clockTime(range.to)} UTC
          </text>
          {chart.lines.map(({ name, points }, number) => (
            <path key={name} className={`history-line line-${number}`} d={path(points, x, y)} />
          ))}
          {at !== undefined && (
            <line
              className="history-cursor"
              x1={x(at)}
              x2={x(at)}
              y1={EDGE.top}
              y2={HEIGHT - EDGE.bottom}
            />
          )}
          {drag !== null && (
            <rect
              className="history-drag"
              x={Math.min(x(drag.from), x(drag.to))}
              y={EDGE.top}
              width={Math.abs(x(drag.to) - x(drag.from))}
              height={HEIGHT - EDGE.top - EDGE.bottom}
            />
          )}
        </svg>
      </div>
    </figure>
  );
}

/** The legend, with the values at an instant. */
function Legend({ chart, at }: { chart: ChartOf; at: number | undefined }) {
  return (
    <span className="history-legend" aria-hidden="true">
      {at !== undefined && <span className="hint">{utc(at).slice(0, 16)}</span>}
      {chart.lines.map(({ name, points }, number) => {
        const value = points.find((point) => point.at === at)?.value;
        return (
          <span key={name} className={`history-name line-${number}`}>
            {name} <b>{value == null ? '–' : written(chart.unit, value)}</b>
          </span>
        );
      })}
    </span>
  );
}
