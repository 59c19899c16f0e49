// A modal dialog: the browser's own, which keeps the focus inside and closes on Escape. A red button
// destroys for good, so it never has the focus from the beginning: Enter would press it. At the foot the
// buttons stand on the right (`dialog-buttons`): what is to be done first, what closes the dialog last.
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

/** What is typed into, and not chosen. */
const TYPED =
  ':is(input, textarea):not([type=radio], [type=checkbox], [type=file], [hidden], :disabled)';

/** The keyboard begins in the first field that is to be filled; what stands there may be typed over. */
function toFirstField(dialog: HTMLDialogElement | null): void {
  const field = dialog?.querySelector<HTMLInputElement | HTMLTextAreaElement>(TYPED);
  field?.focus();
  field?.select();
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the element is taken out, so that the browser gives the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    toFirstField(dialog);
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
