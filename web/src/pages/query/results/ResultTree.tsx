// Results as a tree; objects and arrays are expanded on demand.
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { counted } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { Button } from '../../../ui/Button';
import { PlaceLink } from '../../../ui/PlaceLink';
import type { Form, Results, Value } from './form';
import { Nothing } from './Nothing';

export interface ResultTreeProps {
  target: Target;
  results: Results;
  /** Number of the first result, from 1. */
  first: number;
}

const AT_ONCE = 100;
const MOST_CHARACTERS = 1000;

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Returns the summary of a collapsed object or array. */
function about(form: Form, value: Value, parts: [string, Value][]): string {
  if (form.kind(value) === 'array') return counted(parts.length, 'element');
  const names = parts.slice(0, 5).map(([name]) => name);
  const more = parts.length > names.length ? ', …' : '';
  return parts.length === 0 ? 'no fields' : cut(names.join(', '), 80) + more;
}

interface BranchProps {
  form: Form;
  name: string;
  value: Value;
  isOpen?: boolean;
  extra?: ReactNode;
}

function Branch({ form, name, value, isOpen = false, extra }: BranchProps) {
  const [open, setOpen] = useState(isOpen);
  const [most, setMost] = useState(AT_ONCE);
  const parts = form.parts(value);
  const hidden = form.hidden(value);
  if (parts === null)
    return (
      <li className="result-leaf">
        <span className="result-name">{name}</span>{' '}
        <span className={`result-${form.kind(value)}`}>
          {cut(form.line(value), MOST_CHARACTERS)}
        </span>{' '}
        {hidden !== null && <span className="hint">{hidden} </span>}
        {extra}
      </li>
    );
  const Mark = open ? ChevronDown : ChevronRight;
  return (
    <li>
      <button
        type="button"
        className="result-branch"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Mark className="icon" aria-hidden="true" />
        <span className="result-name">{name}</span>{' '}
        <span className="hint">{about(form, value, parts)}</span>
      </button>{' '}
      {extra}
      {open && (
        <ul>
          {parts.slice(0, most).map(([inner, held], at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat.
            <Branch key={at} form={form} name={inner} value={held} />
          ))}
          {parts.length > most && (
            <li>
              <Button onClick={() => setMost(most + AT_ONCE)}>
                Show more of {counted(parts.length - most, 'further part')}
              </Button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

export function ResultTree({ target, results, first }: ResultTreeProps) {
  const { form, rows, keys } = results;
  const noun = target.door === 'mongo' ? 'document' : 'item';
  if (rows.length === 0) return <Nothing target={target} />;
  return (
    <ul className="result-tree" aria-label="Results as a tree">
      {rows.map((row, at) => {
        const key = keys[at] ?? null;
        const number = first + at;
        const extra =
          key === null ? null : (
            <PlaceLink
              to={{ page: 'collection', view: 'items', ...target }}
              query={{ item: key }}
              aria-label={`Open ${noun} ${number}`}
            >
              Open
            </PlaceLink>
          );
        return (
          <Branch
            key={number}
            form={form}
            name={String(number)}
            value={row}
            isOpen={at === 0}
            extra={extra}
          />
        );
      })}
    </ul>
  );
}
