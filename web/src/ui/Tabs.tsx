// A tab list; arrow keys move between tabs. The caller renders the panel.
import { type KeyboardEvent, useRef } from 'react';
import './tabs.css';

export interface Tab<K extends string> {
  key: K;
  label: string;
  /** A marker after the label, e.g. for unsaved changes. */
  mark?: string;
  /** The marker's meaning for screen readers. */
  said?: string;
}

export interface TabsProps<K extends string> {
  label: string;
  tabs: readonly Tab<K>[];
  selected: K;
  onSelect: (key: K) => void;
  /** Id of the panel of the selected tab. */
  panel: string;
}

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

export function Tabs<K extends string>({ label, tabs, selected, onSelect, panel }: TabsProps<K>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.key === selected);
    const ends: Record<string, number> = { Home: 0, End: tabs.length - 1 };
    const step = STEPS[event.key];
    const to = step === undefined ? ends[event.key] : (at + step + tabs.length) % tabs.length;
    const next = to === undefined ? undefined : tabs[to];
    if (next === undefined || to === undefined) return;
    event.preventDefault();
    onSelect(next.key);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[to]?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.key}
          type="button"
          role="tab"
          id={`${panel}-tab-${tab.key}`}
          className="tab"
          aria-selected={tab.key === selected}
          aria-controls={panel}
          tabIndex={tab.key === selected ? 0 : -1}
          onClick={() => onSelect(tab.key)}
        >
          {tab.label}
          {tab.mark !== undefined && <span aria-hidden="true"> {tab.mark}</span>}
          {tab.said !== undefined && <span className="visually-hidden"> {tab.said}</span>}
        </button>
      ))}
    </div>
  );
}
