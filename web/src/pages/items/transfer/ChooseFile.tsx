// Input of an import file: dropped, chosen or pasted. Reads only its start.
import { type DragEvent, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { Button } from '../../../ui/Button';
import { Field } from '../../../ui/Field';
import { type Chosen, chosenFile } from './chosen';

/** A longer pasted text is accepted without being shown in the field. */
const MOST_TYPED = 100_000;

const KINDS = '.json,.jsonl,.ndjson,.csv,.tsv,application/json,text/csv';

interface ChooseFileProps {
  onChosen: (chosen: Chosen) => void;
  onClose: () => void;
}

export function ChooseFile({ onChosen, onClose }: ChooseFileProps) {
  const [typed, setTyped] = useState('');
  const [isOver, setOver] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const take = (file: Blob, name: string) => {
    chosenFile(file, name).then(onChosen, (error: unknown) => setFailure(words(error)));
  };
  const takeText = (text: string) => take(new Blob([text]), 'pasted text');
  const takeFile = (file: File | undefined) => {
    if (file !== undefined) take(file, file.name);
  };
  const drag = (over: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setOver(over);
  };
  return (
    <>
      <div
        className={isOver ? 'transfer-drop transfer-over' : 'transfer-drop'}
        role="group"
        aria-label="File to import"
        onDragOver={drag(true)}
        onDragLeave={drag(false)}
        onDrop={(event) => {
          drag(false)(event);
          takeFile(event.dataTransfer.files[0]);
        }}
      >
        <p>Drop a file here: a JSON array, JSON Lines, Extended JSON or CSV.</p>
        <input
          ref={input}
          type="file"
          accept={KINDS}
          hidden
          aria-label="File"
          onChange={(event) => takeFile(event.target.files?.[0])}
        />
        <Button look="primary" onClick={() => input.current?.click()}>
          Choose a file
        </Button>
      </div>
      <Field label="Or paste documents">
        {(props) => (
          <textarea
            {...props}
            className="mono transfer-paste"
            rows={4}
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onPaste={(event) => {
              const text = event.clipboardData.getData('text');
              if (text.length <= MOST_TYPED) return;
              event.preventDefault();
              takeText(text);
            }}
          />
        )}
      </Field>
      {failure !== null && (
        <p className="error" role="alert">
          The file cannot be read: {failure}
        </p>
      )}
      <div className="row dialog-buttons">
        <Button disabled={typed.trim() === ''} onClick={() => takeText(typed)}>
          Continue
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </>
  );
}
