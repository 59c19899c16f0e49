// Imports a file into a collection: choose, preview, write.
import { useEffect, useState } from 'react';
import { count, counted } from '../../../pure/figures/amount';
import { toast, warn } from '../../../state/log';
import type { Target } from '../../../state/place';
import { useLeaveGuard } from '../../../state/router';
import { Dialog } from '../../../ui/Dialog';
import { ChooseFile } from './ChooseFile';
import { type Chosen, chosenFile } from './chosen';
import { ImportPreview } from './ImportPreview';
import { ImportProgress } from './ImportProgress';
import { useImport, writtenOf } from './useImport';

export interface ImportDialogProps {
  target: Target;
  noun: 'item' | 'document';
  /** A file dropped on the list. */
  file: File | null;
  onWritten: () => void;
  onClose: () => void;
}

export default function ImportDialog(props: ImportDialogProps) {
  const { target, noun, file, onWritten, onClose } = props;
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const work = useImport(target);
  const { running, ended, state } = work;
  useLeaveGuard(running);
  useEffect(() => {
    if (file !== null) void chosenFile(file, file.name).then(setChosen);
  }, [file]);
  const written = state.made + state.replaced;
  // biome-ignore lint/correctness/useExhaustiveDependencies: reported once, at the end.
  useEffect(() => {
    if (ended === null) return;
    if (ended.kind === 'done' && state.refused === 0)
      toast({ text: `Imported ${counted(written, noun)}` });
    else if (ended.kind === 'done')
      warn(
        `Imported ${count(written)} of ${counted(writtenOf(state), noun)}; ${count(state.refused)} refused`,
      );
    if (written > 0) onWritten();
  }, [ended]);
  const isBegun = running || ended !== null;
  return (
    <Dialog
      title={`Import into ${target.database} › ${target.collection}`}
      // A running import is cancelled only by its button.
      onClose={() => !running && onClose()}
    >
      {chosen === null ? (
        <ChooseFile onChosen={setChosen} onClose={onClose} />
      ) : isBegun ? (
        <ImportProgress work={work} size={chosen.file.size} noun={noun} onClose={onClose} />
      ) : (
        <ImportPreview
          chosen={chosen}
          api={target.door}
          noun={noun}
          onBegin={(form, onExisting) => work.begin(chosen, form, onExisting)}
          onBack={() => setChosen(null)}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}
