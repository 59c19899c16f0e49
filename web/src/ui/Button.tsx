// A button. `busy` prevents a second press and shows progress. A focused button that becomes
// disabled keeps the focus until it is left: browsers would move it to the body.
import { type ButtonHTMLAttributes, type ReactNode, useState } from 'react';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  busy?: boolean;
  children: ReactNode;
}

export function Button({ look = 'plain', busy = false, disabled, children, ...rest }: ButtonProps) {
  const [focused, setFocused] = useState(false);
  const off = disabled === true || busy;
  return (
    <button
      type="button"
      {...rest}
      className={`button ${look} ${rest.className ?? ''}`.trim()}
      disabled={off && !focused}
      aria-disabled={(off && focused) || undefined}
      aria-busy={busy || undefined}
      onFocus={(event) => {
        setFocused(true);
        rest.onFocus?.(event);
      }}
      onBlur={(event) => {
        setFocused(false);
        rest.onBlur?.(event);
      }}
      onClick={(event) => {
        if (off) event.preventDefault();
        else rest.onClick?.(event);
      }}
    >
      {children}
    </button>
  );
}
