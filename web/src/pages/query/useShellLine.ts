// A shell call in the Filter or Pipeline input is converted to the form's fields on paste or
// execution. For another collection, the user is asked first.
import { useState } from 'react';
import { isCall } from '../../pure/shell/call';
import { toast, topicOf } from '../../state/log';
import type { Target } from '../../state/place';
import { EMPTY, LABELS, type MongoForm } from './command';
import { isPasted } from './pasted';
import { InputError } from './problem';
import type { Texts } from './tabs/address';
import { type TakenApart, takeApart } from './takeApart';
import type { MongoForms } from './useMongoForm';

/** Fields that accept a shell call. */
type Box = 'filter' | 'pipeline';

/** Shown below the input instead of converting the call. */
export type Notice = { error: InputError } | { elsewhere: TakenApart; accept: () => void };

export interface ShellLine {
  notice: Notice | null;
  /** A typed call that will be converted on execution. */
  isTyped: boolean;
  /** The input that takes the focus after a conversion; null: none. */
  landing: Box | null;
  put: MongoForms['put'];
  /** Sets a field, and checks for a pasted call. */
  set: MongoForms['set'];
  prepare: () => Texts | null;
}

const UNDO_SECONDS = 20;

const boxOf = (form: MongoForm): Box => form.mode;

function isHere({ database, collection }: TakenApart, target: Target): boolean {
  return collection === target.collection && (database ?? target.database) === target.database;
}

function faultOf(form: MongoForm, { error, at }: { error: string; at: number }): InputError {
  const box = boxOf(form);
  return new InputError(error, LABELS[box], form[box], at);
}

/** Replaces a call in the form by its converted fields; other fields stay. */
export function withTaken(form: MongoForm, taken: TakenApart): MongoForm {
  const box = boxOf(form);
  const { pipeline, ...find } = { ...form, [box]: EMPTY[box] };
  return taken.form.mode === 'filter'
    ? { ...taken.form, pipeline }
    : { ...find, mode: 'pipeline', pipeline: taken.form.pipeline };
}

/** Returns the form to execute, which may contain an unconverted (selected) call. */
export function asked(target: Target, form: MongoForm): MongoForm {
  const text = form[boxOf(form)];
  if (!isCall(text)) return form;
  const taken = takeApart(text);
  if ('error' in taken) throw faultOf(form, taken);
  if (isHere(taken, target)) return taken.form;
  const message = `This command is for ${taken.collection}, not ${target.collection}.`;
  throw new InputError(message, LABELS[boxOf(form)], text, null);
}

export function useShellLine(
  target: Target,
  form: MongoForm,
  { set, put }: Pick<MongoForms, 'set' | 'put'>,
): ShellLine {
  const [notice, setNotice] = useState<Notice | null>(null);
  const [landing, land] = useState<Box | null>(null);
  const accept = (from: MongoForm, taken: TakenApart): MongoForm => {
    const next = withTaken(from, taken);
    put(next);
    setNotice(null);
    land(next.mode === from.mode ? null : next.mode);
    const undo = { label: 'Undo', seconds: UNDO_SECONDS, onChoose: () => put(from) };
    toast({ text: taken.said, action: undo, topic: topicOf('query', target) });
    return next;
  };
  const take = (from: MongoForm): MongoForm | null => {
    const taken = takeApart(from[boxOf(from)]);
    if ('error' in taken) setNotice({ error: faultOf(from, taken) });
    else if (isHere(taken, target)) return accept(from, taken);
    else setNotice({ elsewhere: taken, accept: () => void accept(from, taken) });
    return null;
  };
  const looking = (field: keyof MongoForm) => (text: string) => {
    const before = form[field];
    set[field](text);
    // The editor reports programmatic changes too.
    if (text === before) return;
    setNotice(null);
    if (field === boxOf(form) && isPasted(before, text, isCall)) take({ ...form, [field]: text });
  };
  const fields = Object.keys(set) as (keyof MongoForm)[];
  return {
    notice,
    landing,
    put: (next) => {
      land(null);
      put(next);
    },
    isTyped: notice === null && isCall(form[boxOf(form)]),
    set: Object.fromEntries(fields.map((field) => [field, looking(field)])) as MongoForms['set'],
    prepare: () => {
      const taken = isCall(form[boxOf(form)]) ? take(form) : form;
      return taken === null ? null : { ...taken };
    },
  };
}
