// A modal dialog: the native element, which traps the focus and closes on Escape. A red button
// destroys data, so it never has the initial focus: Enter would press it. Buttons are right-aligned
// at the foot (`dialog-buttons`): the main action first, the closing one last.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Moves the initial focus from a red button to the last non-red one beside it (Cancel). */
function leaveDanger(): void {
  const red = document.activeElement?.closest('.danger');
  const others = red?.parentElement?.querySelectorAll<HTMLElement>('.button:not(.danger)');
  if (others !== undefined) [...others].at(-1)?.focus();
}

/** Selector of text inputs. */
const TYPED =
  ':is(input, textarea):not([type=radio], [type=checkbox], [type=file], [hidden], :disabled)';

/** Focuses the first text input and selects its content, so that typing replaces it. */
function toFirstField(dialog: HTMLDialogElement | null): void {
  const field = dialog?.querySelector<HTMLInputElement | HTMLTextAreaElement>(TYPED);
  field?.focus();
  field?.select();
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect closes the dialog before the element is removed, so that the browser restores
  // the focus.
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
        // Browsers let a second Escape close any dialog; reopen one that must stay.
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
