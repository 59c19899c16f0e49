// Placeholder of an editor whose code has not loaded.
import { Banner } from './Banner';
import { Button } from './Button';

export interface AbsentEditorProps {
  label: string;
  /** Error of the load; null: waits for the server. */
  failure: string | null;
  onAgain: () => void;
}

export function AbsentEditor({ label, failure, onAgain }: AbsentEditorProps) {
  if (failure === null)
    return <p className="hint">The editor “{label}” loads when the server responds.</p>;
  return (
    <Banner look="bad">
      <span>
        The editor “{label}” could not be loaded: {failure}
      </span>
      <Button onClick={onAgain}>Try again</Button>
      <Button onClick={() => location.reload()}>Reload the portal</Button>
    </Banner>
  );
}
