// The help sheet of shortcuts, generated from their table.
import { grouped } from '../../pure/keys/shortcuts';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Keys } from './Keys';
import { useLetters } from './useKeys';

export default function Sheet({ onClose }: { onClose: () => void }) {
  const [letters, setLetters] = useLetters();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="sheet-groups" tabIndex={0} role="region" aria-label="Shortcuts">
        <div className="sheet-columns">
          {grouped().map(([group, shortcuts]) => (
            <section key={group} aria-label={group}>
              <h3>{group}</h3>
              <dl className="sheet">
                {shortcuts.map(({ keys, also, what }) => (
                  <div key={keys}>
                    <dt>
                      <Keys written={keys} />
                      {also !== undefined && <Keys written={also} />}
                    </dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
      <label className="sheet-letters">
        <input
          type="checkbox"
          checked={letters}
          onChange={(event) => setLetters(event.target.checked)}
        />{' '}
        Enable single-letter shortcuts
      </label>
      <div className="row dialog-buttons">
        <Button autoFocus onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
