// A dialog with a form: fields, errors, and two buttons.
import { type ReactNode, useEffect, useRef } from 'react';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import type { Submit } from './useSubmit';

export interface FormDialogProps {
  title: string;
  action: string;
  danger?: boolean;
  /** The form cannot be submitted yet. */
  blocked?: boolean;
  cancel?: string;
  form: Submit;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { title, action, danger = false, blocked = false, form, onClose, children } = props;
  const { cancel = 'Cancel' } = props;
  const element = useRef<HTMLFormElement>(null);
  const { attempts } = form;
  useEffect(() => {
    if (attempts > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [attempts]);
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={element} onSubmit={form.submit} onChange={form.edited} noValidate>
        {children}
        {form.failure !== null && <Banner look="bad">{form.failure}</Banner>}
        <div className="row dialog-buttons">
          <Button
            type="submit"
            look={danger ? 'danger' : 'primary'}
            busy={form.busy}
            disabled={blocked}
          >
            {action}
          </Button>
          <Button onClick={onClose}>{cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
