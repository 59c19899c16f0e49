// A button that opens a menu below it.
import { ChevronDown } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button, type ButtonProps } from './Button';
import { Menu, type MenuItem } from './Menu';

export interface MenuButtonProps extends Omit<ButtonProps, 'onClick'> {
  /** Accessible name of the menu. */
  label: string;
  items: readonly MenuItem[];
}

export function MenuButton({ label, items, children, ...rest }: MenuButtonProps) {
  const box = useRef<HTMLSpanElement>(null);
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const open = () => {
    const place = box.current?.getBoundingClientRect();
    setAt({ x: place?.left ?? 0, y: (place?.bottom ?? 0) + 2 });
  };
  return (
    <span ref={box} className="menu-button">
      <Button
        {...rest}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        // A press outside closes the menu, and the click would reopen it.
        onPointerDown={(event) => at !== null && event.stopPropagation()}
        onClick={() => (at === null ? open() : setAt(null))}
      >
        {children}
        <ChevronDown className="icon" />
      </Button>
      {at !== null && <Menu label={label} at={at} items={items} onClose={() => setAt(null)} />}
    </span>
  );
}
