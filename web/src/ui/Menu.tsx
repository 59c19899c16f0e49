// A context menu. Arrow keys move within it; Escape, Tab and a press outside close it and restore
// the focus.
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import './menu.css';

export interface MenuItem {
  label: string;
  onChoose: () => void;
  /** Why the item is disabled. */
  reason?: string | null;
  danger?: boolean;
  /** The item is the current choice. */
  isCurrent?: boolean;
}

export interface MenuProps {
  label: string;
  at: { x: number; y: number };
  items: readonly MenuItem[];
  onClose: () => void;
}

/** Keeps a box inside the window. */
function inside(at: { x: number; y: number }, box: HTMLElement | null) {
  const [width, height] = [box?.offsetWidth ?? 0, box?.offsetHeight ?? 0];
  return {
    left: Math.max(4, Math.min(at.x, window.innerWidth - width - 4)),
    top: Math.max(4, Math.min(at.y, window.innerHeight - height - 4)),
  };
}

export function Menu({ label, at, items, onClose }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: at.x, top: at.y });
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useLayoutEffect(() => setPlace(inside(at, box.current)), [at]);
  // A layout effect restores the focus before the chosen action opens a dialog, which later
  // restores it in turn.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const outside = (event: PointerEvent) => {
      if (!(event.target instanceof Node) || box.current?.contains(event.target) !== true) {
        close.current();
      }
    };
    window.addEventListener('pointerdown', outside);
    return () => {
      window.removeEventListener('pointerdown', outside);
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const press = (event: KeyboardEvent) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const here = all.findIndex((item) => item.matches(':focus'));
    const to: Record<string, number> = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 };
    const step = to[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else if (step !== undefined) all.at(step % all.length)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} className="menu" role="menu" aria-label={label} style={place} onKeyDown={press}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          className={`menu-item${item.danger === true ? ' error' : ''}`}
          aria-disabled={item.reason != null}
          aria-current={item.isCurrent}
          title={item.reason ?? undefined}
          onClick={() => {
            if (item.reason != null) return;
            onClose();
            item.onChoose();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
