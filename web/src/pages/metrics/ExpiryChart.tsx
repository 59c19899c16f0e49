// A bar chart of the expirations in each step of a forecast. The bars are one tab stop; arrow keys
// move between them. A table below has the same numbers. Loads nothing itself.
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import type { Series } from '../../api/admin';
import { bytes, count, counted } from '../../pure/figures/amount';
import { scale, short } from '../../pure/figures/axis';
import { anyDies, stepEnds, stepName, stepSpan, type Unit } from './steps';
import { useWidth } from './useWidth';
import './chart.css';

export interface ExpiryChartProps {
  title: string;
  /** null: not loaded yet. */
  series: Series | null;
  unit: Unit;
  /** "document" or "item". */
  noun?: string;
}

const HEIGHT = 190;
const EDGE = { top: 10, right: 12, bottom: 26, left: 44 };

export function ExpiryChart({ title, series, unit, noun = 'document' }: ExpiryChartProps) {
  const id = useId();
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption id={id} className="chart-title">
        {title}
        {series?.exact === false && <span className="hint"> (about)</span>}
      </figcaption>
      {series === null ? (
        <p className="hint">Not available yet.</p>
      ) : (
        <>
          <Bars series={series} unit={unit} noun={noun} title={title} />
          {!anyDies(series) && (
            <p className="hint chart-none">
              Nothing expires in this time: {series.steps.length} {unit.one}s.
            </p>
          )}
          <StepTable series={series} title={title} noun={noun} />
        </>
      )}
    </figure>
  );
}

interface Drawn {
  series: Series;
  unit: Unit;
  noun: string;
  title: string;
}

function Bars({ series, unit, noun, title }: Drawn) {
  const { element, width } = useWidth();
  const [shown, show] = useState<number | null>(null);
  const [stop, setStop] = useState(0);
  const { steps } = series;
  const { top, step } = scale(Math.max(...steps.map((one) => one.documents), 0));
  const slot = (width - EDGE.left - EDGE.right) / steps.length;
  const y = (value: number) =>
    EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - value / Math.max(top, 1));
  const move = (event: KeyboardEvent) => {
    const ends: Record<string, number> = { Home: 0, End: steps.length - 1 };
    const by: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === 'Escape') show(null);
    const to = ends[event.key] ?? stop + (by[event.key] ?? Number.NaN);
    if (!(to >= 0 && to < steps.length)) return;
    event.preventDefault();
    element.current?.querySelectorAll<SVGElement>('.chart-slot')[to]?.focus();
  };
  return (
    <div className="chart-box" ref={element} role="group" aria-label={title} onKeyDown={move}>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the surrounding group has the title. */}
      <svg width={width} height={HEIGHT} onPointerLeave={() => show(null)}>
        <Lines top={top} step={step} y={y} right={width - EDGE.right} />
        {steps.map((one, at) => (
          // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: arrow keys move here.
          <g
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its index.
            key={at}
            className="chart-slot"
            role="img"
            aria-label={`${stepName(series, at, unit)}: ${counted(one.documents, noun)}, ${bytes(one.bytes)}`}
            tabIndex={at === Math.min(stop, steps.length - 1) ? 0 : -1}
            onPointerEnter={() => show(at)}
            onFocus={() => {
              setStop(at);
              show(at);
            }}
            onBlur={() => show(null)}
          >
            <rect
              className="chart-hit"
              x={EDGE.left + at * slot}
              y={EDGE.top}
              width={slot}
              height={HEIGHT - EDGE.top - EDGE.bottom}
            />
            <Bar left={EDGE.left + at * slot} slot={slot} from={y(0)} to={y(one.documents)} />
          </g>
        ))}
        <StepLabels count={steps.length} unit={unit} slot={slot} />
      </svg>
      {shown !== null && steps[shown] !== undefined && (
        <Tip left={EDGE.left + (shown + 0.5) * slot} width={width}>
          <strong>{counted(steps[shown].documents, noun)}</strong>, {bytes(steps[shown].bytes)}
          <br />
          {stepSpan(series, shown)}
        </Tip>
      )}
    </div>
  );
}

/** A nonzero value is at least two pixels high. */
function Bar({ left, slot, from, to }: { left: number; slot: number; from: number; to: number }) {
  if (to >= from) return null;
  const height = Math.max(2, from - to);
  const gap = Math.min(3, slot / 5);
  return (
    <rect
      className="chart-bar"
      x={left + gap}
      y={from - height}
      width={slot - 2 * gap}
      height={height}
    />
  );
}

function Lines({
  top,
  step,
  y,
  right,
}: {
  top: number;
  step: number;
  y: (n: number) => number;
  right: number;
}) {
  const values = Array.from({ length: Math.round(top / step) + 1 }, (_, at) => at * step);
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: lines and labels are not focusable.
    <g aria-hidden="true">
      {values.map((value) => (
        <g key={value}>
          <line className="chart-line" x1={EDGE.left} x2={right} y1={y(value)} y2={y(value)} />
          <text className="chart-label" x={EDGE.left - 6} y={y(value) + 4} textAnchor="end">
            {short(value)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Labels "now" and about every sixth step. */
function StepLabels({ count: steps, unit, slot }: { count: number; unit: Unit; slot: number }) {
  const every =
    Math.ceil(steps / 5 / (unit.one === 'hour' ? 6 : 5)) * (unit.one === 'hour' ? 6 : 5);
  const marks = Array.from({ length: Math.floor(steps / every) + 1 }, (_, at) => at * every);
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: labels are not focusable.
    <g aria-hidden="true">
      {marks.map((at) => (
        <text
          key={at}
          className="chart-label"
          x={EDGE.left + at * slot}
          y={HEIGHT - 8}
          textAnchor={at === 0 ? 'start' : at === steps ? 'end' : 'middle'}
        >
          {at === 0 ? 'now' : `+${at} ${unit.one.charAt(0)}`}
        </text>
      ))}
    </g>
  );
}

/** A tooltip beside its bar, inside the chart. The bar's accessible name has the same text. */
function Tip({ left, width, children }: { left: number; width: number; children: ReactNode }) {
  const side = left > width / 2 ? { right: width - left + 8 } : { left: left + 8 };
  return (
    <div className="chart-tip" style={side} aria-hidden="true">
      {children}
    </div>
  );
}

function StepTable({ series, title, noun }: Omit<Drawn, 'unit'>) {
  return (
    <details className="chart-table">
      <summary>As a table</summary>
      <table>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">After</th>
            <th scope="col">Up to</th>
            <th scope="col">{noun === 'item' ? 'Items' : 'Documents'}</th>
            <th scope="col">Bytes</th>
          </tr>
        </thead>
        <tbody>
          {series.steps.map((step, at) => {
            const { from, to } = stepEnds(series, at);
            return (
              <tr key={from}>
                <td>{from}</td>
                <td>{to}</td>
                <td className="chart-number">{count(step.documents)}</td>
                <td className="chart-number">{count(step.bytes)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
