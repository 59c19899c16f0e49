// A modal dialog: the browser's own, which keeps the focus inside and closes on Escape. A red button
// destroys for good, so it never has the focus from the beginning: Enter would press it.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** From a red button that a dialog begins with to the last other one beside it: Cancel. */
function leaveDanger(): void {
  const red = document.activeElement?.closest('.danger');
  const others = red?.parentElement?.querySelectorAll<HTMLElement>('.button:not(.danger)');
  if (others !== undefined) [...others].at(-1)?.focus();
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the element is taken out, so that the browser gives the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    leaveDanger();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // Browsers let a second Escape close any dialog; one that has to stay comes back.
        onClose();
        setTimeout(() => {
          const dialog = element.current;
          if (dialog?.isConnected === true && !dialog.open) dialog.showModal();
        });
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
